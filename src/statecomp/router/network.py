"""Trained routers as plain arrays: how they score, and how they become named tensors and back.

Reading is strict: no tensor missing, none extra, no shape guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.router.pairs import Features, Floats
from statecomp.router.trees import Trees

ROWS_AT_ONCE = 8192
Tensors = Mapping[str, NDArray[Any]]
TREE_TENSORS = {
    "feature": np.int32,
    "left": np.int32,
    "right": np.int32,
    "threshold": np.float64,
    "value": np.float64,
    "missing_left": np.bool_,
    "roots": np.int32,
    "shape": np.int32,
    "start": np.float64,
}
ONE_A_NODE = ("feature", "left", "right", "threshold", "value", "missing_left")


class Router(Protocol):
    """g: features to logits.  Linear, MLP, trees, and what these agree on."""

    @property
    def kind(self) -> str: ...

    @property
    def width(self) -> int:
        """How many features it reads."""
        ...

    def logits(self, x: Features) -> Floats:
        """(pairs, width) -> (pairs,)."""
        ...


@dataclass(frozen=True)
class Layer:
    """y = x @ weight.T + bias."""

    weight: NDArray[np.float32]  # (out, in)
    bias: NDArray[np.float32]  # (out,)


@dataclass(frozen=True)
class Network:
    """Standardised features through one or two layers, with a ReLU between two."""

    mean: NDArray[np.float32]  # (width,)
    scale: NDArray[np.float32]  # (width,)
    layers: tuple[Layer, ...]

    @property
    def kind(self) -> str:
        return "linear" if len(self.layers) == 1 else "mlp"

    @property
    def width(self) -> int:
        return len(self.mean)

    def logits(self, x: Features) -> Floats:
        if not len(x):
            return np.zeros(0)
        starts = range(0, len(x), ROWS_AT_ONCE)
        # Overflow gives an infinite logit, which is an answer; NaN is caught by whoever scores.
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._logits(x[start : start + ROWS_AT_ONCE]) for start in starts]
        return np.concatenate(parts)  # (pairs,)

    def _logits(self, x: Features) -> Floats:
        value = (x - self.mean) / self.scale  # (pairs, width)
        for layer in self.layers[:-1]:
            value = np.maximum(value @ layer.weight.T + layer.bias, 0.0)  # (pairs, hidden)
        last = self.layers[-1]
        return (value @ last.weight.T + last.bias)[:, 0].astype(np.float64)  # (pairs,)


def side_by_side(parts: Sequence[Network]) -> Network:
    """One network that answers with the mean of several which scale alike and have two layers."""
    first, last = zip(*(part.layers for part in parts), strict=True)
    share = np.float32(1 / len(parts))
    return Network(
        mean=parts[0].mean,
        scale=parts[0].scale,
        layers=(
            Layer(
                weight=np.concatenate([layer.weight for layer in first]),
                bias=np.concatenate([layer.bias for layer in first]),
            ),
            Layer(
                weight=np.concatenate([share * layer.weight for layer in last], axis=1),
                bias=np.sum([share * layer.bias for layer in last], axis=0),
            ),
        ),
    )


@dataclass(frozen=True)
class Agreement:
    """The least logit of several routers: READY only as surely as each of them says."""

    members: tuple[Router, ...]

    @property
    def kind(self) -> str:
        return "agreement"

    @property
    def width(self) -> int:
        return self.members[0].width

    def logits(self, x: Features) -> Floats:
        logits = np.stack([member.logits(x) for member in self.members])  # (members, pairs)
        least: Floats = logits.min(axis=0)  # (pairs,)
        return least


def kinds_of(router: Router) -> dict[str, Any]:
    """What spec.json says of the router."""
    if isinstance(router, Agreement):
        return {"kind": router.kind, "members": [kinds_of(member) for member in router.members]}
    return {"kind": router.kind}


def tensors_of(router: Router) -> dict[str, NDArray[Any]]:
    """Members of an agreement stand under their number."""
    if isinstance(router, Agreement):
        return {
            f"{number}.{name}": tensor
            for number, member in enumerate(router.members)
            for name, tensor in tensors_of(member).items()
        }
    if isinstance(router, Trees):
        return {name: getattr(router, name) for name in TREE_TENSORS}
    if isinstance(router, Network):
        tensors = {"mean": router.mean, "scale": router.scale}
        for number, layer in enumerate(router.layers):
            tensors |= {f"weight{number}": layer.weight, f"bias{number}": layer.bias}
        return tensors
    raise TypeError(f"there is no file format for {type(router).__name__}")


def restored(kinds: Mapping[str, Any], tensors: Tensors) -> Router:
    """The router of these tensors."""
    kind = kinds["kind"]
    if kind == "agreement":
        return _agreement(kinds["members"], tensors)
    if kind not in ("linear", "mlp", "trees"):
        raise BadInput(f"is {kind!r}, which this version does not know", field="kind")
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise BadInput(f"the weights {name!r} are not finite")
    return _trees(tensors) if kind == "trees" else _network(tensors, 1 if kind == "linear" else 2)


def _agreement(members: Any, tensors: Tensors) -> Agreement:
    parts: list[dict[str, NDArray[Any]]] = [{} for _ in members]
    for name, tensor in tensors.items():
        number, _, rest = name.partition(".")
        if not number.isdecimal() or int(number) >= len(parts):
            raise BadInput(f"the weights hold an unknown tensor {name!r}")
        parts[int(number)][rest] = tensor
    if not parts:
        raise BadInput("the agreement has no members")
    routers = [restored(kinds, part) for kinds, part in zip(members, parts, strict=True)]
    if len({router.width for router in routers}) > 1:
        raise BadInput("the members of the agreement read different numbers of features")
    return Agreement(tuple(routers))


def _network(tensors: Tensors, layers: int) -> Network:
    numbers = range(layers)
    names = ["mean", "scale", *(f"{name}{n}" for n in numbers for name in ("weight", "bias"))]
    _typed(tensors, dict.fromkeys(names, np.float32))
    wide = tensors["mean"].size
    _shaped(tensors, "mean", wide)
    _shaped(tensors, "scale", wide)
    for number in numbers:
        out = 1 if number == layers - 1 else tensors[f"bias{number}"].size
        _shaped(tensors, f"bias{number}", out)
        _shaped(tensors, f"weight{number}", out, wide)
        wide = out
    stack = tuple(Layer(tensors[f"weight{n}"], tensors[f"bias{n}"]) for n in numbers)
    return Network(tensors["mean"], tensors["scale"], stack)


def _trees(tensors: Tensors) -> Trees:
    _typed(tensors, TREE_TENSORS)
    nodes = tensors["feature"].size
    for name in ONE_A_NODE:
        _shaped(tensors, name, nodes)
    _shaped(tensors, "roots", tensors["roots"].size)
    _shaped(tensors, "shape", 2)
    _shaped(tensors, "start", 1)
    width, steps = map(int, tensors["shape"])
    limits = {"feature": width, "left": nodes, "right": nodes, "roots": nodes}
    inside = all(((tensors[n] >= 0) & (tensors[n] < end)).all() for n, end in limits.items())
    if not inside or not 0 <= steps <= nodes:
        raise BadInput("the weights point outside of the trees")
    return Trees(**{name: tensors[name] for name in TREE_TENSORS})


def _typed(tensors: Tensors, types: Mapping[str, type[np.generic]]) -> None:
    if missing := set(types).difference(tensors):
        raise BadInput(f"the weights lack the tensor {min(missing)!r}")
    if extra := set(tensors).difference(types):
        raise BadInput(f"the weights hold an unknown tensor {min(extra)!r}")
    for name, kind in types.items():
        if tensors[name].dtype != kind:
            raise BadInput(f"the weights {name!r} are of a wrong type ({tensors[name].dtype})")


def _shaped(tensors: Tensors, name: str, *shape: int) -> None:
    if tensors[name].shape != shape:
        found = " x ".join(map(str, tensors[name].shape)) or "a single number"
        raise BadInput(f"the weights {name!r} have a wrong shape ({found})")
