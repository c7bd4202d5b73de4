"""A trained router on disk: weights.safetensors, and spec.json that says what they are for.

Loading and scoring need numpy and safetensors alone.  Whatever does not fit is refused in one
sentence: a router that reads other features than it learned from would answer, and be wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from statecomp.errors import BadInput
from statecomp.router.calibrate import Calibration, as_json, from_json
from statecomp.router.hidden.spec import Encoder, Spec
from statecomp.router.hidden.spec import as_json as as_spec
from statecomp.router.hidden.spec import from_json as spec_of
from statecomp.router.network import Router
from statecomp.router.pairs import Features, Floats, check_finite
from statecomp.router.tensors import kinds_of, restored, tensors_of

FORMAT = 2
EVIDENCE = Spec()
EVIDENCE_ALONE = 1
"""The format in which every router read evidence and nothing else."""
WEIGHTS, SPEC = "weights.safetensors", "spec.json"


@dataclass(frozen=True)
class Bundle:
    """A router with all that is needed to use it, and to know where it comes from."""

    router: Router
    features: tuple[str, ...]
    threshold: float
    calibration: Calibration
    labels: str
    created_from: str
    reads: Spec = EVIDENCE

    def __post_init__(self) -> None:
        if len(self.features) != self.router.width:
            problem = f"reads {self.router.width} features, and {len(self.features)} are named"
            raise BadInput(problem, field="router")
        if not 0.0 < self.threshold <= 1.0:
            raise BadInput(f"must lie in (0, 1], not {self.threshold}", field="threshold")

    def scores(self, x: Features) -> Floats:
        """p_ik for each row: calibrated, in (0, 1)."""
        if x.ndim != 2 or x.shape[1] != len(self.features):
            problem = f"the features are {x.shape}, and the router reads {len(self.features)} a row"
            raise BadInput(problem)
        check_finite(x, "the history", self.features)
        scores = self.calibration.apply(self.router.logits(x.astype(np.float32)))  # (pairs,)
        if not np.isfinite(scores).all():
            raise BadInput("the router answers with no number")
        return scores

    def must_read(self, features: Sequence[str], encoder: Encoder | None = None) -> None:
        """Refuses a reader that produces anything but what this router learned from."""
        if encoder != self.reads.encoder:
            mine = self.reads.encoder or "no encoder"
            problem = f"was trained on {mine}, and {encoder or 'no encoder'} is running"
            raise BadInput(problem, field="the router")
        if tuple(features) == self.features:
            return
        if len(features) != len(self.features):
            change = f"{len(self.features)} features, and this version makes {len(features)}"
        else:
            pairs = zip(self.features, features, strict=True)
            place, (mine, theirs) = next((n, p) for n, p in enumerate(pairs, 1) if p[0] != p[1])
            change = f"{mine!r} as feature {place}, and this version makes {theirs!r} there"
        raise BadInput(f"was trained with {change}; train it again", field="the router")


def save(folder: Path, bundle: Bundle) -> None:
    """Writes both files; the specification last, so that half a bundle has none."""
    weights = save_tensors(dict(sorted(tensors_of(bundle.router).items())))
    spec = {
        "format": FORMAT,
        "router": kinds_of(bundle.router),
        "reads": as_spec(bundle.reads),
        "labels": bundle.labels,
        "created_from": bundle.created_from,
        "threshold": bundle.threshold,
        "calibration": as_json(bundle.calibration),
        "weights_sha256": sha256(weights).hexdigest(),
        # Columns of vectors follow from what it reads; evidence may change with a version.
        "features": list(bundle.features[len(bundle.reads.columns()) :]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SPEC).unlink(missing_ok=True)
    (folder / WEIGHTS).write_bytes(weights)
    (folder / SPEC).write_text(json.dumps(spec, indent=1, ensure_ascii=False) + "\n", "utf-8")


def load(folder: Path) -> Bundle:
    """The bundle in this folder, or BadInput that says which file is wrong and how."""
    spec = _read_spec(folder / SPEC)
    file = str(folder / SPEC)
    try:
        router = restored(spec["router"], _read_weights(folder / WEIGHTS, spec["weights_sha256"]))
        reads = EVIDENCE if spec["format"] == EVIDENCE_ALONE else spec_of(spec["reads"])
        return Bundle(
            router=router,
            features=(*reads.columns(), *map(str, spec["features"])),
            threshold=float(spec["threshold"]),
            calibration=from_json(spec["calibration"]),
            labels=str(spec["labels"]),
            created_from=str(spec["created_from"]),
            reads=reads,
        )
    except KeyError as error:
        raise BadInput("is missing", file=file, field=str(error.args[0])) from error
    except (TypeError, ValueError) as error:
        raise BadInput("is not the specification of a router", file=file) from error
    except BadInput as error:
        raise error.at(file=file) from error


def _read_spec(path: Path) -> Mapping[str, Any]:
    try:
        spec = json.loads(path.read_text("utf-8"))
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); is this the folder of a router?"
        raise BadInput(problem, file=str(path)) from error
    except ValueError as error:
        raise BadInput("is cut off, or was never JSON", file=str(path)) from error
    if not isinstance(spec, dict):
        raise BadInput("is not the specification of a router", file=str(path))
    if spec.get("format") not in (EVIDENCE_ALONE, FORMAT):
        problem = f"is {spec.get('format')!r}, and this version reads {FORMAT}"
        raise BadInput(problem, file=str(path), field="format")
    return spec


def _read_weights(path: Path, digest: str) -> dict[str, NDArray[Any]]:
    try:
        data = path.read_bytes()
        tensors = load_tensors(data)
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", file=str(path)) from error
    except (SafetensorError, ValueError, KeyError) as error:
        raise BadInput(f"is cut off, or holds no weights ({error})", file=str(path)) from error
    if sha256(data).hexdigest() != digest:
        raise BadInput("does not hold the weights that its spec.json describes", file=str(path))
    return tensors
