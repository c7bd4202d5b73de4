"""Who asks, and in which run: tenants by credential, sessions by content and known headers."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.identity import digest
from statecomp.history.interaction import Interaction, Pinned
from statecomp.ledger.audit import UNCUT

try:
    import fcntl
except ImportError:  # Windows; who starts twice at once there for the first time is rare
    fcntl = None  # type: ignore[assignment]

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
RUNS = (b"x-claude-code-session-id", b"session-id", b"session_id", b"x-opencode-session")
SUB_AGENT = b"x-claude-code-agent-id"
MEMBERS = (SUB_AGENT, b"thread-id")
INSTRUCTING = ("system", "developer")
OPENING = 300
LONGEST_TASK = 200_000
AGENTS_FILE = "# AGENTS.md instructions"
# What Claude Code, Codex, Cline, Cursor and others put into a user message beside the user's words.
_HARNESS = re.compile(
    r"<(system-reminder|environment_context|environment_details|user_instructions|INSTRUCTIONS"
    r"|permissions instructions|collaboration_mode|skills_instructions|additional_data|user_info"
    r"|project_layout|rules|attached_files|open_files|context|command-message"
    r"|local-command-caveat|local-command-stdout|local-command-stderr|bash-stdout|bash-stderr"
    r"|task-notification|user-prompt-submit-hook|ide_opened_file|ide_selection)\b[^>]{0,200}>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_MARK = re.compile(
    r"</?(?:task|user_query|user_request|feedback|command-name|command-args|bash-input)>"
)
LONGEST_MODEL = 200
SALT_BYTES = 32
TENANT_LETTERS = 32


def tenant_of(headers: Mapping[bytes, bytes], salt: bytes) -> str:
    """A name for whoever holds this credential; the credential cannot be had from it."""
    state = blake2b(key=salt[:64], digest_size=16)
    # Those that came in the address are named by a question mark (see `keys_in`).
    in_address = sorted(name for name in headers if name.startswith(b"?"))
    for name in (*CREDENTIALS, *in_address):
        if name in headers:
            state.update(name + b"\0" + headers[name] + b"\0")
    return state.hexdigest()


def has_credential(headers: Mapping[bytes, bytes]) -> bool:
    return any(name in CREDENTIALS or name.startswith(b"?") for name in headers)


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


@dataclass(frozen=True, slots=True)
class Kin:
    """What tells a sub-agent from the agent that started it.

    `family` is the same for all agents of one run of a client, empty where the client names no
    run; `member` stands for what the client calls this one; `told` says that the client itself
    calls it a sub-agent.  A request without `tools` is nobody's agent: clients ask for titles that
    way.
    """

    family: str = ""
    member: str = ""
    told: bool = False
    tools: bool = False


def kin_of(tenant: str, headers: Mapping[bytes, bytes], body: Mapping[str, Any]) -> Kin:
    run = next((headers[name].decode("latin-1") for name in RUNS if name in headers), "")
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    # Claude Code writes its session into the user's id; elsewhere that is a user, and no run.
    if not run and isinstance(user, str) and "session" in user:
        run = user
    named = [headers[name].decode("latin-1") for name in MEMBERS if name in headers]
    member = digest(tenant, "member", *named)[:16] if named else ""
    family = digest(tenant, "family", run)[:16] if run else ""
    return Kin(family, member, SUB_AGENT in headers, bool(body.get("tools")))


def opening_of(raw: History) -> str:
    """A name for how the system prompt begins: who an agent is told to be.

    Only the beginning, and without what changes with each request.
    """
    texts = (s.text for s in raw.segments if isinstance(s, Pinned) and s.role in INSTRUCTING)
    lines = (line for text in texts for line in text[: 8 * OPENING].splitlines())
    told = "\n".join(line for line in lines if not line.startswith("x-anthropic-"))
    return digest(told[:OPENING]) if told else ""


def title_of(raw: History) -> str:
    """The first words of a person, in one line; what harnesses put around them is left out."""
    said = [s.text for s in raw.segments if isinstance(s, Pinned) and s.role == "user"]
    for text in said:
        if words := _in_one_line(_by_a_person(text)):
            return words
    return next((words for text in said if (words := _in_one_line(text))), "")


def _by_a_person(text: str) -> str:
    """The text without harness blocks and without the marks around what a person wrote."""
    text = text[:LONGEST_TASK]
    if text.startswith(AGENTS_FILE):
        return ""
    return _MARK.sub(" ", _HARNESS.sub(" ", text))


def _in_one_line(text: str) -> str:
    return " ".join(text[:LONGEST_TASK].split())[:UNCUT]


def client_of(headers: Mapping[bytes, bytes]) -> str:
    """The first word of the user agent: product and version."""
    agent = headers.get(b"user-agent", b"").decode("latin-1")
    return agent.split(" ", 1)[0][:60]


def model_of(body: Mapping[str, Any]) -> str:
    """The name of the model that is asked, as far as it is a name: it is stored and looked up."""
    given = body.get("model")
    return given[:LONGEST_MODEL] if isinstance(given, str) else ""


def kept_salt(folder: Path) -> bytes:
    """The salt of this data folder, made at its first use; readable by its owner only."""
    path = folder / "salt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists() or not path.stat().st_size:
            _make_salt(path)
        salt = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read or made: {error.strerror}", file=str(path)) from error
    if len(salt) != SALT_BYTES:
        raise BadInput(
            "is damaged: put it back from a backup.  Without it no commit in the ledger is found"
            " again, and deleting it gives all of them up",
            file=str(path),
        )
    return salt


def _make_salt(path: Path) -> None:
    """Whole or not at all, and by one of all who start together: no reader sees half of it.

    An empty file is what a start that was cut off left behind; nobody ever used it.
    """
    with _alone(path.with_name("salt.lock")):
        if path.exists() and path.stat().st_size:
            return
        temporary = path.with_name(f"salt.{secrets.token_hex(8)}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SALT_BYTES))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time, and none for longer than it lives."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def salt_of(store: str, folder: Path) -> bytes:
    """Who shares a database shares the tenants in it, so the salt follows from its address."""
    return derived_salt(store) if store.startswith("postgres") else kept_salt(folder)


def view_token(tenant: str, salt: bytes) -> str:
    """What opens the pages to this tenant, for its own sessions; no other can make it."""
    mac = blake2b(tenant.encode(), key=salt[:64], digest_size=16, person=b"statecomp view")
    return tenant + mac.hexdigest()


def viewer_of(token: str, salt: bytes) -> str:
    """The tenant a view token was made for; empty where it was made for none."""
    tenant = token[:TENANT_LETTERS]
    fits = token.isascii() and hmac.compare_digest(token, view_token(tenant, salt))
    return tenant if fits else ""


def viewer_named(token: str, salt: bytes) -> str:
    """As `viewer_of`, for what a person gave: nothing is everybody, and what is wrong is said."""
    tenant = viewer_of(token, salt) if token else ""
    if token and not tenant:
        raise BadInput("is no view token of this store; ask its proxy for one", field="view token")
    return tenant


def derived_salt(shared: str) -> bytes:
    """The same salt for all who know one secret, such as the address of a shared database."""
    return blake2b(shared.encode(), person=b"statecomp salt", digest_size=SALT_BYTES).digest()
