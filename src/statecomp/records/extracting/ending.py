"""How a step ended: by its exit status or its flag, by its words only where neither is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from statecomp.history.interaction import Interaction
from statecomp.history.kinds import NO_ERROR, kind_of
from statecomp.history.text import argument_text
from statecomp.records.extracting.code import is_code
from statecomp.records.extracting.decode import Json, decoded
from statecomp.records.extracting.pieces import cut_off, one_line, shortened
from statecomp.records.extracting.reading.faults import ProgramFault, fault_in, pointed_at
from statecomp.records.extracting.reading.noise import orders, telling, unprompted
from statecomp.records.extracting.reading.programs import program_of
from statecomp.records.extracting.units import answers_of, of_step, parts_of
from statecomp.records.extracting.unwrap import Payload

CAUSE_CHARS = 240

_NONE = rf"\w[\w.]{{0,80}}{NO_ERROR}"
"""The name of an error, and that there is none."""
_TOPIC = r"\s(?:analys[ei]s|handling|rates?|codes?|reports?|logs?|counts?|summary|bars?)\b"
"""What a heading about errors goes on with."""
_BEGINS = re.compile(
    rf"\s*❌|\W*(?!{_NONE})(?:(?:error|fatal|exception|traceback|failed|failure)\b"
    rf"(?!\s*[=(]|{_TOPIC})|"
    r"[\w.]{0,80}(?:Error|Exception): |usage: |invalid \w+ |permission denied|"
    r"tool \S{1,80} not found|unknown (?:command|tool|option)|"
    r"your proposed edit has introduced new syntax error|\[Errno)",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(
    r": syntax error\b|: unexpected EOF while looking for|: command not found\s*\Z|"
    r": No such file or directory\s*\Z|: Permission denied\s*\Z"
)
_DATA = re.compile(
    rf"""\s*\{{.{{0,200}}?(?:["'](?!{_NONE})errors?["']\s*:|"""
    r"""["'](?:object|status|type)["']\s*:\s*["']error["']|["']success["']\s*:\s*(?:false|False))""",
    re.DOTALL,
)
_RAISED = re.compile(r"[\w.]{0,80}(?:Error|Exception|Interrupt|Exit)\b")
_TRACE = re.compile(r"^Traceback \(most recent call last\)", re.MULTILINE)
_VERDICT = re.compile(
    r"\s*(?:(?:OK|FAILED|PASSED|PASS|FAIL)(?: \([^)]{1,80}\))?[.!]?\s*\Z|"
    r"=+ .{0,120}\b\d+ (?:passed|failed|errors?|skipped)\b.{0,120}=+\s*\Z|"
    r"\d+ (?:passed|failed|passing|failing)\b.{0,80}\Z|Tests?(?: run)?:\s+\d.{0,120}\Z|"
    r"test result: (?:ok|FAILED).{0,120}\Z|BUILD (?:SUCCESS|FAILURE)\w*\s*\Z|"
    r"Ran \d+ tests? in .{1,20}\Z|All \d* ?(?:tests|checks) passed.{0,40}\Z)"
)
ERROR = re.compile(
    r"\AE: |\bno installation candidate|"
    r"\b(?:\w*(?:Error|Exception)\b|error\b|fail(?:ed|ure|s)?\b|not found|No such file|denied|"
    r"invalid|cannot|could ?n[o']t|unable to|unsupported|refused|fatal)",
    re.IGNORECASE,
)


_TELLING = re.compile(
    r"\b(?:access denied|timed out|connection refused|session already open|"
    r"is nil\b|failed to execute|terminating|command not found|no such file|segmentation fault|"
    r"received signal|core dumped|permission denied|unable to|could not|cannot\b|no matches found|"
    r"not permitted|not allowed|violation|aborted|syntax error|invalid syntax|unterminated)|"
    r"(?:http\S{0,8}|status|code|error)\W{1,3}(?:code )?(?:40[0134]|50[0234])\b|"
    r"\b(?:40[0134]|50[0234]) (?:bad|unauth|forbid|not found|internal|service|gateway)|"
    rf"\A(?!\W*{_NONE})(?:\W*(?:fatal|error)\b(?!{_TOPIC})|make(?:\[\d+\])?: \*\*\*|"
    r"[\w.]{0,80}(?:Error|Exception)\b)",
    re.IGNORECASE,
)
BRIEF = 12
"""Lines of an output that an error at its beginning is the news of."""
SHORT = 30
"""Lines of an output that may be an error as a whole."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended; `cause` where it failed, `verdict` where a test or a build gave one.

    `well` means that its status or its flag says so; `said` are its words where it has neither and
    they are those of an error; `printed` is what a program had printed that failed, if it is short,
    and `shortly` its cause without the line it failed at.
    """

    failed: bool = False
    well: bool = False
    cause: str = ""
    verdict: str = ""
    said: str = ""
    printed: str = ""

    shortly: str = ""

    def told(self, room: int = CAUSE_CHARS) -> str:
        """That it failed, and where and why."""
        cause = (
            self.cause if len(self.cause) <= room else shortened(self.shortly or self.cause, room)
        )
        beside = f"; it printed: {self.printed}" if self.printed else ""
        at = "" if cause.startswith("at line ") else ":"
        return f"failed{at} {cause}{beside}" if cause else "failed"


_COMPARES = re.compile(r"(?:\A|[;&|\n]|: )\s*(?:diff|cmp|[ef]?grep|rg)\s[^;&|\n]*\s*\Z")
_TROUBLE = re.compile(r"^(?:diff|cmp|[ef]?grep|rg): ", re.MULTILINE)


@of_step
def endings_of(member: Interaction) -> Sequence[Ending]:
    """The ending of each answer of a step."""
    payloads = parts_of(member).payloads
    if len(payloads) == 1 and _answers_by_status(member, payloads[0]):
        return [_ending(replace(payloads[0], ended=None), member)]
    asked = answers_of(member)[-len(payloads) :] if len(member.calls) > 1 else ()
    sent = [replace(member, calls=member.calls[place : place + 1]) for place in asked]
    return list(map(_ending, payloads, sent or repeat(member)))


def _answers_by_status(member: Interaction, payload: Payload) -> bool:
    """Whether its status says that files differ, or that nothing was found: no failure."""
    commands = [argument_text(call.arguments).rstrip() for call in member.calls]
    asks = len(commands) == 1 and _COMPARES.search(commands[0]) is not None
    return asks and payload.ended is False and not _TROUBLE.search(payload.text)


@of_step
def ending_of(member: Interaction) -> Ending:
    """How a step ended: it failed where one of its calls did."""
    each = endings_of(member)
    verdict = next((one.verdict for one in reversed(each) if one.verdict), "")
    if bad := [one for one in each if one.failed]:
        return replace(bad[-1], cause=bad[-1].cause or verdict, verdict=verdict)
    said = next((one.said for one in reversed(each) if one.said), "")
    return Ending(well=any(one.well for one in each), verdict=verdict, said=said)


LATE = "timed out"


def _ending(payload: Payload, asked: Interaction) -> Ending:
    verdict = _verdict(payload)
    if payload.late:
        return Ending(verdict=LATE, said=LATE)
    fault = fault_in(payload.text, program_of(asked))
    if payload.ended is None:
        bad = _failed(payload) or bool(fault and fault.ended)
        bad = bad and not _shows(asked, payload.text)
    else:
        bad = not payload.ended
    if bad:
        fault = fault or ProgramFault(_cause(payload) or verdict)
        return Ending(
            failed=True,
            cause=fault.why,
            verdict=verdict,
            printed=fault.printed,
            shortly=fault.shortly,
        )
    if payload.ended:
        lost = _lost(payload.text)
        return Ending(well=not lost, verdict=verdict, said=lost)
    return Ending(verdict=verdict, said="" if verdict else _said(payload.text))


_ACTION = re.compile(r"\W*action error\b", re.IGNORECASE)


def _lost(text: str) -> str:
    """The error that an answer tells of though its status says that it went well."""
    # A pipe ends well whatever its first command says.
    told = [line for line in text.split("\n")[:3] if _ANYWHERE.search(line)]
    if text.count("\n") < SHORT:
        # A delivery that went well may bring an error: its own words are shown, not "ok".
        told += filter(_LOST.match, _ends(text))
    return cut_off(one_line(told[0]), CAUSE_CHARS) if told else ""


_LOST = re.compile(
    rf"\s*(?!{_NONE})(?:error\b(?!\s*[=(])|[\w.]{{0,80}}(?:Error|Exception): )", re.IGNORECASE
)


def _said(text: str) -> str:
    """The words of a short output that tell of an error: what was raised, and the last of them."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if lines and _ACTION.match(lines[0]):
        return cut_off(one_line(lines[0]), CAUSE_CHARS)  # of a page, which stands below it
    if not lines or is_code(lines):
        return ""
    # In a longer one the words mean little, but for its last.
    news = telling(lines if len(lines) <= SHORT else lines[-1:])
    told = [
        one_line(line)
        # An error ends an output or begins it; between them somebody else's may be quoted.
        # What goes on for long after it went on.
        for line in dict.fromkeys((*(news[:2] if len(news) <= BRIEF else ()), *news[-2:]))
        if _TELLING.search(line[:400])
        and not line.lower().startswith("warning")
        and not orders(line[:400])
    ]
    raised = [line for line in told if _RAISED.match(line)]
    return cut_off("; ".join(dict.fromkeys((*raised[-1:], *told[-1:]))), CAUSE_CHARS)


_READERS = r"(?:cat|tac|head|tail|less|more|nl|sed|[ef]?grep|rg|strings|sort|uniq|wc|cut|awk)"
_PART = r"""\s(?:"[^"]*"|'[^']*'|>&|[^;&|\n"'])*"""
_SHOWING = re.compile(
    rf"(?:cd [^\s;&|]+\s*(?:&&|;)\s*)?{_READERS}{_PART}(?:\|\s*{_READERS}{_PART})*\Z"
)
"""A command that does no more than show what stands in a file."""
_COMPLAINS = re.compile(rf"\s*(?:\S{{0,80}}sh|{_READERS}): ")


def _shows(asked: Interaction, text: str) -> bool:
    """Whether the errors in an answer are those that a file tells of, which was only read.

    A line or two may be the tool's own; it begins with what it says itself.
    """
    breaks = text.strip().count("\n")
    if program := program_of(asked).strip():
        shows = breaks > 1 and not _COMPLAINS.match(text)
        return shows and _SHOWING.match(program) is not None
    return breaks > 3 and not _begins_ill(text) and kind_of(asked) == "read"


def _failed(payload: Payload) -> bool:
    text = payload.text
    if not text:
        return bool(_DATA.match(str(payload.body)[:400]))
    if payload.page:
        return False  # its title may be about errors
    return reads_failed(text)


def reads_failed(text: str) -> bool:
    """Whether the words of an answer are those of an error: at its beginning, or all of it."""
    if _begins_ill(text):
        return True
    if text.lstrip()[:1] == "{":
        return False
    if _TRACE.search(text) and _RAISED.match(_ends(text)[1]):
        return True
    short = text.count("\n") < 4 and len(text) < 600
    return short and any(_ANYWHERE.search(line) for line in text.split("\n"))


def _begins_ill(text: str) -> bool:
    data = text.lstrip()[:1] == "{"
    return bool(_DATA.match(text) if data else _BEGINS.match(_ends(text)[0]))


def _ends(text: str) -> tuple[str, str]:
    """The first and the last line that say something."""
    bare = text.strip()
    return bare.partition("\n")[0], bare.rpartition("\n")[2]


def _cause(payload: Payload) -> str:
    body = decoded(payload.text) if payload.text.lstrip()[:1] == "{" else None
    body = payload.body if body is None else body
    text = body if isinstance(body, str) else _told_by(body)
    lines = [line for line in map(str.strip, text.strip().split("\n")) if line]
    raised = [line for line in lines if _RAISED.match(line)]
    named = [line for line in lines if _NAMED.search(line[:400])]
    told = [line for line in lines if ERROR.search(line[:400])]
    found = raised[-1:] or named[:1] or told[:1] or _closing(text)
    if found and found[-1].endswith(":") and found[-1] in lines:
        # What was wrong stands below.
        below = lines[lines.index(found[-1]) + 1 :][:1]
        found = [*found[:-1], " ".join((found[-1], *below))]
    pointed = [f"at `{line}`" for line in pointed_at(text.split("\n"), found[-1])] if found else ()
    cause = "; ".join(one_line(line).lstrip("-* ").rstrip(";") for line in (*found, *pointed))
    return cut_off(unprompted(cause) or cause, CAUSE_CHARS)


def _closing(text: str) -> list[str]:
    """How the last words of an output begin and end: without the word error they tell of it."""
    last = text.strip().replace("\r", "").rpartition("\n\n")[2]
    lines = [line for line in map(str.strip, last.split("\n")) if line]
    return list(dict.fromkeys((*lines[:1], *lines[-1:])))


_NAMED = re.compile(r"\b\w+(?:Error|Exception): \S")
"""What was wrong, where a tool wraps it in words of its own."""


def _told_by(body: Json) -> str:
    """What an error that is data says in words, and none that tell its reader what to do."""
    messages = list(dict.fromkeys(_messages(body, 4)))
    told = [text for text in messages if not orders(text)]
    return "; ".join(told) or max(messages, key=len, default=str(body))


def _messages(body: Json, depth: int) -> Iterator[str]:
    if isinstance(body, list) and depth:
        for value in body:
            yield from _messages(value, depth - 1)
    elif isinstance(body, dict) and depth:
        for key, value in body.items():
            if key in ("message", "error", "detail", "reason") and isinstance(value, str):
                yield value
            yield from _messages(value, depth - 1)


def _verdict(payload: Payload) -> str:
    lines: Sequence[str] = payload.text.rstrip().split("\n")[-40:]
    found = [one_line(line) for line in lines if len(line) < 260 and _VERDICT.match(line)]
    return "; ".join(dict.fromkeys(found[-2:]))
