"""Clients as their makers publish them, in a folder of their own under the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = "STATECOMP_CLIENTS"
"""Set it to keep the clients elsewhere."""
PATIENCE_S = 900


@dataclass(frozen=True, slots=True)
class Package:
    """What is installed, at which version, and the program that is then there.

    `further` are pinned beside it.
    """

    name: str
    version: str
    program: str
    further: tuple[str, ...] = ()
    python: bool = False


def _python(requirement: str, *further: str) -> Package:
    name, _, version = requirement.partition("==")
    return Package(name, version, "python", further, python=True)


PACKAGES = {
    "claude": Package("@anthropic-ai/claude-code", "2.1.326", "claude"),
    "codex": Package("@openai/codex", "0.169.0", "codex"),
    "vercel": Package("ai", "6.0.326", "", ("@ai-sdk/openai@3.0.139", "zod@4.6.7")),
    "claude-agent-sdk": _python("claude-agent-sdk==0.2.182"),
    "langchain": _python("langchain==1.4.7", "langchain-core==1.6.13", "langchain-openai==1.6.7"),
    "pydantic-ai": _python("pydantic-ai-slim[openai]==2.66.0"),
    "openai-agents": _python("openai-agents==0.24.0"),
    "smolagents": _python("smolagents[openai]==1.26.0"),
    "mini-swe-agent": _python("mini-swe-agent==2.4.6", "litellm==1.106.2", "mcp==2.3.0"),
}


class NotInstalled(Exception):
    """A client is not there and cannot be fetched; the text says why."""


def cache() -> Path:
    if given := os.environ.get(FOLDER):
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "statecomp" / "clients"


def program_of(client: str, version: str = "") -> Path:
    """The client's program; it is installed where it is not there yet.  Raises NotInstalled."""
    package = PACKAGES[client]
    version = version or package.version
    place = cache() / f"{client}-{version}"
    inside = Path("bin") if package.python else Path("node_modules") / ".bin"
    program = place / inside / package.program
    if not (place / ".complete").exists():
        _install(package, version, place)
        (place / ".complete").touch()
    return program


def _install(package: Package, version: str, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    if package.python:
        _run([sys.executable, "-m", "venv", str(place)])
        wanted = [f"{package.name}=={version}", *package.further]
        _run([str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted])
        return
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled(f"{package.name} {version} is not in {cache()}, and there is no npm")
    quiet = ["--no-fund", "--no-audit", "--no-save", "--loglevel=error"]
    wanted = [f"{package.name}@{version}", *package.further]
    _run([npm, "install", *quiet, "--prefix", str(place), *wanted])


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{command[0]} failed ({type(error).__name__})") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotInstalled(f"{Path(command[0]).name} install failed: {' '.join(last)}")
