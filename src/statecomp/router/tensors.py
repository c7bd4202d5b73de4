"""Routers as named tensors and back.

Reading is strict: no tensor missing, none extra, no shape guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.router.hidden.recurrent import CANDIDATE, Recurrent
from statecomp.router.network import Agreement, Layer, Network, Router
from statecomp.router.trees import Trees

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
    if isinstance(router, Network | Recurrent):
        named = {str(number): layer for number, layer in enumerate(router.layers)}
        if isinstance(router, Recurrent):
            named |= {"_gates": router.gates, "_memory": router.memory}
        weights = {f"weight{name}": layer.weight for name, layer in named.items()}
        biases = {f"bias{name}": layer.bias for name, layer in named.items()}
        return {"mean": router.mean, "scale": router.scale, **weights, **biases}
    raise TypeError(f"there is no file format for {type(router).__name__}")


def restored(kinds: Mapping[str, Any], tensors: Tensors) -> Router:
    """The router of these tensors."""
    kind = kinds["kind"]
    if kind == "agreement":
        return _agreement(kinds["members"], tensors)
    if kind not in ("linear", "mlp", "trees", "gru"):
        raise BadInput(f"is {kind!r}, which this version does not know", field="kind")
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise BadInput(f"the weights {name!r} are not finite")
    if kind == "gru":
        return _recurrent(tensors)
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
    names = [f"{name}{n}" for n in range(layers) for name in ("weight", "bias")]
    _typed(tensors, dict.fromkeys(["mean", "scale", *names], np.float32))
    return Network(*_scaling(tensors), _layers(tensors, layers, tensors["mean"].size))


def _recurrent(tensors: Tensors) -> Recurrent:
    layers = 2 if "weight1" in tensors else 1
    places = ("_gates", "_memory", *range(layers))
    names = [f"{name}{place}" for place in places for name in ("weight", "bias")]
    _typed(tensors, dict.fromkeys(["mean", "scale", *names], np.float32))
    mean, scale = _scaling(tensors)
    memory = tensors["bias_memory"].size // 3
    dims = tensors["weight_gates"].size // max(1, 3 * memory)
    for name, wide in (("_gates", dims), ("_memory", memory)):
        _shaped(tensors, f"bias{name}", 3 * memory)
        _shaped(tensors, f"weight{name}", 3 * memory, wide)
    if CANDIDATE + dims > mean.size:
        raise BadInput("the weights hold candidates wider than the features")
    return Recurrent(
        mean,
        scale,
        Layer(tensors["weight_gates"], tensors["bias_gates"]),
        Layer(tensors["weight_memory"], tensors["bias_memory"]),
        _layers(tensors, layers, mean.size - CANDIDATE + memory),
    )


def _scaling(tensors: Tensors) -> tuple[NDArray[Any], NDArray[Any]]:
    for name in ("mean", "scale"):
        _shaped(tensors, name, tensors["mean"].size)
    return tensors["mean"], tensors["scale"]


def _layers(tensors: Tensors, count: int, wide: int) -> tuple[Layer, ...]:
    """The last of them has one output."""
    for number in range(count):
        out = 1 if number == count - 1 else tensors[f"bias{number}"].size
        _shaped(tensors, f"bias{number}", out)
        _shaped(tensors, f"weight{number}", out, wide)
        wide = out
    return tuple(Layer(tensors[f"weight{n}"], tensors[f"bias{n}"]) for n in range(count))


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
