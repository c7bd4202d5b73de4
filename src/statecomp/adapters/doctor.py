"""What is connected and what is not: clients, frameworks, the proxy, and their last requests."""

from __future__ import annotations

import http.client
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from statecomp.adapters.catalogue import FRAMEWORKS, Framework, NotSupported, needs, proved_versions
from statecomp.ledger.audit import Session
from statecomp.ledger.ledger import Ledger

LATEST = 200
PATIENCE_S = 2.0
CLAUDE, CODEX, AGENT_SDK = "Claude Code", "Codex", "Claude Agent SDK"
VERCEL = "Vercel AI SDK"
PROGRAMS = {CLAUDE: "claude", CODEX: "codex"}
AGENTS = {
    CLAUDE: ("claude-cli",),
    CODEX: ("codex_exec", "codex_cli_rs", "codex"),
    AGENT_SDK: ("claude-cli",),
    VERCEL: ("ai-sdk", "ai"),
}
"""How a client calls itself in its requests."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One client or framework; `wrong` says that something must be done about it.

    `products` are the names it has in the ledger.
    """

    name: str
    how: str
    products: tuple[str, ...] = ()
    wrong: bool = False


def is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def proxy_mode(url: str) -> str:
    """The mode of the proxy at this address; empty where none answers."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/healthz")
        return str(json.loads(connection.getresponse().read()).get("mode", ""))
    except (OSError, ValueError, http.client.HTTPException, AttributeError):
        return ""
    finally:
        connection.close()


def clients(environ: Mapping[str, str], home: Path, url: str, here: Path) -> Iterator[Finding]:
    """The clients that are installed, and where their settings send them from this folder."""
    claude = _claude_address(environ, home, here)
    for name, (address, file) in ((CLAUDE, claude), (CODEX, _codex_address(environ, home))):
        if shutil.which(PROGRAMS[name], path=environ.get("PATH")) is not None or address:
            yield _client(name, address, file, url)
    if found := _vercel(here):
        yield Finding(
            f"{VERCEL} {found}", f"not known from here; {_advice(VERCEL, url)}", AGENTS[VERCEL]
        )
    if find_spec("claude_agent_sdk") is not None:
        # It runs Claude Code, with what that is set to and what the program says beside it.
        yield _client(AGENT_SDK, *claude, url)


def _client(name: str, address: str, file: str, url: str) -> Finding:
    products = AGENTS[name]
    if not address:
        return Finding(name, f"not connected: {_advice(name, url)}", products)
    if not is_address(address):
        return Finding(
            name, f"the address in {file} is none: {_advice(name, url)}", products, wrong=True
        )
    if urlsplit(address).netloc != urlsplit(url).netloc:
        how = f"goes to {_shown(address)} by {file}, which is not this proxy"
        return Finding(name, how, products)
    if name != CODEX and address.rstrip("/").endswith("/v1"):
        return Finding(
            name, f"{file} must not end with /v1: it adds that itself", products, wrong=True
        )
    if name == CODEX and not address.rstrip("/").endswith("/v1"):
        return Finding(name, f"base_url in {file} must end with /v1", products, wrong=True)
    if not proxy_mode(url):
        how = f"connected by {file}, but no proxy answers: start `statecomp serve`"
        return Finding(name, how, products, wrong=True)
    return Finding(name, f"connected by {file}", products)


def _advice(name: str, url: str) -> str:
    if name == CLAUDE:
        return f"ANTHROPIC_BASE_URL={url}, under `env` in ~/.claude/settings.json"
    if name == AGENT_SDK:
        return f'ClaudeAgentOptions(env={{"ANTHROPIC_BASE_URL": "{url}"}})'
    if name == VERCEL:
        stateless = "providerOptions {openai: {store: false}}"
        return f'createOpenAI({{baseURL: "{url}/v1"}}) with {stateless}'
    return f'a model provider with base_url = "{url}/v1" in ~/.codex/config.toml'


def _shown(address: str) -> str:
    """Without what may be secret in it."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"


def _vercel(here: Path) -> str:
    """Its version in this project; where it is sent stands in the program."""
    try:
        package = (here / "node_modules" / "ai" / "package.json").read_text("utf-8")
        return str(json.loads(package)["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _claude_address(environ: Mapping[str, str], home: Path, here: Path) -> tuple[str, str]:
    """The nearest settings win, as in Claude Code: those of the project, then the user's."""
    own = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    files = {
        ".claude/settings.local.json": here / ".claude" / "settings.local.json",
        ".claude/settings.json": here / ".claude" / "settings.json",
        "~/.claude/settings.json": own / "settings.json",
    }
    for shown, file in files.items():
        try:
            found = json.loads(file.read_text("utf-8")).get("env", {}).get("ANTHROPIC_BASE_URL")
        except (OSError, ValueError, AttributeError):
            continue
        if found:
            return str(found), shown
    return environ.get("ANTHROPIC_BASE_URL", ""), "ANTHROPIC_BASE_URL"


def _codex_address(environ: Mapping[str, str], home: Path) -> tuple[str, str]:
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    try:
        settings: dict[str, Any] = tomllib.loads((folder / "config.toml").read_text("utf-8"))
        chosen = settings.get("openai_base_url")
        if named := settings.get("model_provider"):
            chosen = settings["model_providers"][named]["base_url"]
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
    return (str(chosen), "~/.codex/config.toml") if chosen else ("", "")


def frameworks() -> Iterator[Finding]:
    """The frameworks beside us, each with the line that connects it."""
    for framework in FRAMEWORKS.values():
        if here := framework.installed:
            yield _framework(framework, here)


def _framework(framework: Framework, here: str) -> Finding:
    name = f"{framework.title} {here}"
    try:
        needs(framework.name)
    except NotSupported as error:
        return Finding(name, str(error), (framework.package,), wrong=True)
    versions = proved_versions(framework.name)
    known = f"{framework.package} {here}" in versions
    how = f"statecomp.adapters.{framework.name}: {framework.line}"
    if not known:
        how += f" (proved with {', '.join(versions[:1]) or 'no version yet'})"
    return Finding(name, how, (framework.package,))


def last_session(ledger: Ledger, products: Sequence[str]) -> Session | None:
    """The latest session of a client, whatever its version."""
    for session in ledger.sessions(LATEST):
        if session.client.partition("/")[0] in products:
            return session
    return None


def describe_session(session: Session, now_s: float) -> str:
    """Whether its requests were touched, and if not why."""
    totals, seen = session.totals, session.totals.observed
    last = f"last request {_ago(now_s - session.last_s)}, {totals.requests} in its session"
    if totals.saved_tokens:
        share = totals.saved_tokens / totals.raw_tokens
        return f"{last}, {share:.0%} of the tokens saved, {totals.commits} commits"
    if seen.saved_tokens:
        share = seen.saved_tokens / seen.raw_tokens
        return f"{last}, nothing saved: mode observe changes nothing ({share:.0%} it would have)"
    return f"{last}, nothing saved: {session.note or 'the session was too short'}"


def _ago(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
