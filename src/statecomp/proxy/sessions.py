"""Who asks, and in which run: tenants by credential, sessions by content and known headers."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned
from statecomp.wire.assemble import digest

CREDENTIALS = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key")
EXPLICIT = b"x-statecomp-session"
# Sub-agents share some of these, so none stands alone: content tells them apart.
KNOWN_HEADERS = (
    b"x-claude-code-session-id",
    b"x-claude-code-agent-id",
    b"session-id",
    b"session_id",
    b"thread-id",
    b"x-opencode-session",
)
TITLE = 120
SALT_BYTES = 32


def tenant_of(headers: Mapping[bytes, bytes], salt: bytes) -> str:
    """A name for whoever holds this credential; the credential cannot be had from it."""
    state = blake2b(key=salt[:64], digest_size=16)
    for name in CREDENTIALS:
        if name in headers:
            state.update(name + b"\0" + headers[name] + b"\0")
    return state.hexdigest()


def session_of(
    tenant: str, headers: Mapping[bytes, bytes], body: Mapping[str, Any], raw: History
) -> str:
    """The run a request belongs to: named by the client, or by its task with what clients add.

    Only for the account: commits are found by content, whatever a session is called.
    """
    if explicit := headers.get(EXPLICIT):
        return digest(tenant, "named", explicit.decode("latin-1"))[:16]
    given = [headers[name].decode("latin-1") for name in KNOWN_HEADERS if name in headers]
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    for value in (body.get("prompt_cache_key"), user):
        given.append(value if isinstance(value, str) else "")
    return digest(tenant, *given, task_id(raw))[:16]


def task_id(raw: History) -> str:
    """The content of all that was said before the agent first acted.

    Retries, forks and later requests of a run share it; a sub-agent with a task of its own does
    not.  System messages are no part of it: clients write the date into them.
    """
    found = ""
    for segment in raw.segments:
        if isinstance(segment, Interaction):
            break
        if isinstance(segment, Pinned) and segment.role not in ("system", "developer"):
            found = segment.id
    return found


def title_of(raw: History) -> str:
    """The start of the task, in one line."""
    for segment in raw.segments:
        if isinstance(segment, Pinned) and segment.role == "user" and segment.text.strip():
            return " ".join(segment.text[: 4 * TITLE].split())[:TITLE]
    return ""


def client_of(headers: Mapping[bytes, bytes]) -> str:
    """The first word of the user agent: product and version."""
    agent = headers.get(b"user-agent", b"").decode("latin-1")
    return agent.split(" ", 1)[0][:60]


def kept_salt(folder: Path) -> bytes:
    """The salt of this data folder, made at its first use; readable by its owner only."""
    path = folder / "salt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            salt = path.read_bytes()
        else:
            salt = secrets.token_bytes(SALT_BYTES)
            with os.fdopen(handle, "wb") as file:
                file.write(salt)
    except OSError as error:
        raise BadInput(f"cannot be read or made: {error.strerror}", file=str(path)) from error
    if len(salt) != SALT_BYTES:
        raise BadInput("is damaged; delete it, and tenants start anew", file=str(path))
    return salt


def derived_salt(shared: str) -> bytes:
    """The same salt for all who know one secret, such as the address of a shared database."""
    return blake2b(shared.encode(), person=b"statecomp salt", digest_size=SALT_BYTES).digest()
