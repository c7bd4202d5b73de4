"""What kind of step an interaction is: it edits, runs, searches or reads, and works or fails."""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecomp.history.given import argument_object
from statecomp.history.guarded import Guarded
from statecomp.history.interaction import Call, Interaction

KINDS = ("edit", "run", "search", "read")
_WORDS = {
    word: kind
    for kind, words in {
        "search": "search find grep rg ack glob query lookup discover select",
        "edit": "edit write create createfile update replace insert append delete remove patch "
        "post put push merge add send move rename apply format fork upload alter drop "
        "cp mv rm mkdir touch tee chmod",
        "run": "run bash shell terminal exec execute python node make pytest sh debug",
        "read": "read get view open list fetch show describe retrieve snapshot screenshot "
        "navigate goto scroll browse visit disassemble decompile info details "
        "cat ls head tail less nl tree file stat strings sed pwd",
    }.items()
    for word in words.split()
}
_COMMANDS = ("action_name", "command", "cmd", "keystrokes", "sql", "query")
_PASSING = frozenset({"cd", "export", "source", "set"})
_WRITES = re.compile(
    r"\A(?:sed\b.*\s-i|(?:cat|echo|printf)\b[^|]*(?<![\d&>-])>{1,2}\s*[\w./~$\"'])"
)
NO_ERROR = r"""["']?\s*:\s*(?i:null|none|false|""|''|\[\s*\]|\{\s*\}|0)\s*(?:[,;}\])\n]|\Z)"""
"""What stands behind the name of an error where there is none."""
_FAILED = Guarded(
    rf"^\W*(?:traceback|error|fatal|exception|failed)\b(?!{NO_ERROR})|"
    rf"^[\w.]*(?:Error|Exception)(?=:)(?!{NO_ERROR})|"
    r"command not found|no such file or directory|permission denied|"
    r"(?:return_?code|exit[_ ](?:code|status))\W{1,4}[1-9]|"
    rf"[\"'](?:is_?)?error(?=[\"']:)(?!{NO_ERROR})",
    needs="traceback|error|fatal|exception|failed|command not found|no such file|permission denied|"
    "returncode|return_code|exit",
    flags=re.MULTILINE,
)
_ENDS = 600
"""Where tools say that they failed: the first and last characters of an observation."""


def kind_of(interaction: Interaction) -> str:
    """One of KINDS, or `other`: a guess from tool names and commands, good enough for a table.

    Of several calls the strongest counts; an action without calls is its last fenced block.
    """
    kinds = {_kind_of_call(call) for call in interaction.calls} or {_kind_of_text(interaction.said)}
    return next((kind for kind in KINDS if kind in kinds), "other")


def failed(interaction: Interaction) -> bool:
    """Whether an observation is an error, by its flag or by how it starts or ends."""
    return any(
        seen.is_error
        or _FAILED.search(seen.text[:_ENDS])
        or (len(seen.text) > _ENDS and _FAILED.search(seen.text[-_ENDS:]))
        for seen in interaction.observations
    )


def _kind_of_call(call: Call) -> str:
    named = _kind_of_name(call.name)
    if named in ("search", "read"):
        return named
    given = argument_object(call.arguments)
    command = next((str(given[key]) for key in _COMMANDS if key in given), "")
    found = _kind_of_command(command)
    return named if found == "other" else found


def _kind_of_text(said: str) -> str:
    parts = said.rsplit("```", 2)
    block = re.sub(r"\A[a-z]*\n", "", parts[1]).strip() if len(parts) == 3 else ""
    if not block or block.startswith("{"):
        return "other"
    found = _kind_of_command(block)
    return "run" if found == "other" and not block.startswith("submit") else found


def _kind_of_command(command: str) -> str:
    """By the first program that does more than move about; comments aside."""
    for part in _parts(command):
        words = part.split()
        if words[0] not in _PASSING and not part.startswith(("#", "--")):
            return "edit" if _WRITES.match(part) else _kind_of_name(words[0].rsplit("/", 1)[-1])
    return "other"


def _parts(command: str) -> Iterator[str]:
    for part in re.split(r"&&|\|\||[;\n|]", command):
        if bare := re.sub(r"\A\s*(?:(?:sudo|time|env)\s+)*", "", part).rstrip():
            yield bare


def _kind_of_name(name: str) -> str:
    """By the words of a name; to run a query is a search."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    kinds = {_WORDS.get(word.lower()) for word in words}
    return next((kind for kind in ("search", "edit", "read", "run") if kind in kinds), "other")
