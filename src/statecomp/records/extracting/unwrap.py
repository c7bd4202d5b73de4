"""What a tool answered, without what the client that ran it put around the answer.

Chunk ids, line numbers, timings, envelopes, colours and markup are taken off here, once: everything
after this sees the answer alone, and whether its status or its flag says that it went well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from statecomp.history.interaction import Observation
from statecomp.records.extracting.decode import Json, decoded
from statecomp.records.extracting.markup.hypertext import PageText, page_of
from statecomp.records.extracting.markup.kinds import begins, is_data, is_document
from statecomp.records.extracting.markup.lines import RULE
from statecomp.records.extracting.markup.things import things_of
from statecomp.records.extracting.reading.noise import unprompted
from statecomp.records.extracting.reading.window import listing_of, screened

HEAD, TAIL = 12, 10
"""Lines at the ends of an answer in which a client's own lines are looked for."""
PROGRAM = 4_000
"""Characters of markup without words that stay as they are."""
AFTERWORDS = 1100
"""Characters at the end of a page in which its tool may say something of it."""
DEEPEST = 4
"""Envelopes inside envelopes."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The answer: text, or data where it was an envelope around data.

    `ended` is what the exit status or the protocol says of it: well, badly, or nothing at all;
    `late` that a deadline ended it.  `window` says which lines of a file it lists, `file` which
    file, and `note` what the tool said beside such a listing.  A `page` is what markup says, below
    the title that its `note` tells; a `source` is a file whose markup stays.
    """

    body: Json
    ended: bool | None = None
    late: bool = False
    window: str = ""
    file: str = ""
    note: str = ""
    page: bool = False
    source: bool = False

    @property
    def text(self) -> str:
        return self.body if isinstance(self.body, str) else ""


def unwrapped(
    observation: Observation, is_source: Callable[[str], bool] = lambda text: False
) -> Payload:
    """The answer inside an observation; markup as what it says, but where it is the source."""
    payload = _opened(Payload(observation.text), DEEPEST)
    place = begins(payload.text)
    if (place >= 0 or "</" in payload.text) and is_source(payload.text):
        payload = replace(payload, source=True)
    elif place >= 0:
        payload = _read(payload, place)
    return replace(payload, ended=False) if observation.is_error else payload


def _opened(payload: Payload, depth: int) -> Payload:
    text = payload.text
    if not text:
        return payload
    if depth and text.lstrip()[:1] in ("{", "[") and _ENVELOPE.search(text, 0, 4000):
        inner = _torn(text) or _letter(decoded(text))
        if inner is not None:
            # The innermost knows best: a delivery may go well whose content is a failure.
            ended = payload.ended if inner.ended is None else inner.ended
            return _opened(Payload(inner.body, ended, inner.late), depth - 1)
    return _bared(replace(payload, body=_opened_fence(text)))


_SPOKEN = re.compile(r'\s*".*"\s*\Z', re.DOTALL)
_FENCED = re.compile(r"<(untrusted[\w-]{0,60})>\n(.*)\n</\1>", re.DOTALL)


def _opened_fence(text: str) -> str:
    """What a server fenced off as data of others, without the fence and the warnings around it."""
    if "<untrusted" not in text:
        return text
    if _SPOKEN.match(text):
        try:
            text = str(json.loads(text))
        except ValueError:
            return text
    fenced = _FENCED.search(text)
    return fenced[2] if fenced else text


# --- envelopes of data ---------------------------------------------------------------------------

_ENVELOPE = re.compile(
    r"""["'](?:content|stdout|output|execution_result|result|text|structuredContent)["']\s*:"""
)
_STATUS = ("returncode", "return_code", "exit_code", "exitCode", "status_code")
_PAPER = """
    meta _meta content structuredContent isError is_error stdout stderr output result text type
    metadata timed_out server_name action_name execution_result success data error message
    duration duration_ms duration_seconds annotations truncated chunk_id wall_time
"""
_DRESSING = frozenset((*_PAPER.split(), *_STATUS))


def _letter(data: Json) -> Payload | None:
    """What an envelope holds, or None where the data is an answer itself."""
    if isinstance(data, list) and all(map(_is_part, data)):
        text = _texts(data)
        # A part marked as error may be mere warnings: where a status is given, it decides.
        refused = any(part.get("error") is True for part in data)
        stated = any(map(_EXIT.match, text.split("\n")))
        return Payload(text, ended=False if refused and not stated else None)
    if not isinstance(data, dict) or not data.keys() <= _DRESSING:
        return None
    if "execution_result" in data:
        return _executed(data["execution_result"])
    if isinstance(data.get("content"), list) and ("isError" in data or len(data) == 1):
        return Payload(_texts(data["content"]), _flag(data.get("isError")))
    if "stdout" in data or "stderr" in data:
        streams = (str(data.get(name) or "") for name in ("stdout", "stderr"))
        text = "\n".join(s for s in streams if s.strip())
        return Payload(text, _status_of(data), late=data.get("timed_out") is True)
    for key in ("output", "result", "text", "content"):
        if isinstance(data.get(key), str):
            return Payload(data[key], _status_of({**data, **_inner(data.get("metadata"))}))
    return None


_TORN = re.compile(r"""\s*\[?\{"(?:type": ?"text", ?"text|stdout|output|result)": ?\"""")
_WHOLE = re.compile(r"""(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]))*""", re.DOTALL)


def _torn(text: str) -> Payload | None:
    """The text in an envelope that was broken off inside it: a client cut a long answer."""
    opening = _TORN.match(text)
    if not opening:
        return None
    inner = _WHOLE.match(text, opening.end())
    if inner is None or text[inner.end() : inner.end() + 1] == '"':
        return None  # it ends where it should
    try:
        begun = json.loads(f'"{inner[0]}"', strict=False)
    except ValueError:
        return None
    return Payload(begun + text[inner.end() :].removeprefix("\\"))


def _is_part(data: Json) -> bool:
    """Whether it is a part of a message: text and what the protocol says of it."""
    return isinstance(data, dict) and data.get("type") == "text" and data.keys() <= _DRESSING


def _executed(result: Json) -> Payload | None:
    if not isinstance(result, dict):
        return Payload(result) if isinstance(result, str) else None
    well = _flag(result.get("error")) if "success" not in result else result["success"] is True
    status = _status_of(result)
    body = result["data"] if result.get("data") not in (None, "", {}) else result
    return Payload(body, well if status is None else status)


def _inner(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _texts(content: Sequence[Json]) -> str:
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(part for part in parts if isinstance(part, str))


def _flag(value: Json) -> bool | None:
    """Whether it went well, by a flag that says that it did not."""
    return None if value is None else not value


def _status_of(data: dict[str, Json]) -> bool | None:
    for name in _STATUS:
        status = str(data.get(name, ""))
        if status.lstrip("-").isdigit():
            return 200 <= int(status) < 400 if name == "status_code" else int(status) == 0
    return None


# --- markup ---

_AFTER = re.compile(r"(?:</html\s*>|\n\n)(?=[^<>]{0,1000}\Z)", re.IGNORECASE)
"""Where what a tool says of a page begins: behind its end, or where it was cut."""
WORDLESS = "a page without words in its markup"


def _read(payload: Payload, begin: int) -> Payload:
    """What markup says, with what a server or a client said before and after it."""
    text = payload.text
    end = _AFTER.search(text, max(begin, len(text) - AFTERWORDS))
    stop = end.end() if end else len(text)
    before, after = text[:begin].strip(), text[stop:].strip()
    if is_data(text):
        things = things_of(text[begin:stop])
        if not (before or after):
            return replace(payload, body=things, page=True)
        told, title = json.dumps(things, ensure_ascii=False), ""
    else:
        page = page_of(text[begin:stop], folded=is_document(text))
        if not page.text and stop - begin <= PROGRAM:
            return payload  # what it runs, or draws, is all there is of it
        told, title = page.text or WORDLESS, unprompted(page.title)
    # What the tool says of a page stands below no title of it.
    rule = RULE if after else ""
    body = PageText("\n\n".join(filter(None, (before, told, rule, after))))
    note = "; ".join(filter(None, (payload.note, f'page "{title}"' if title else "")))
    return replace(payload, body=body, note=note, page=True)


# --- lines around text ---------------------------------------------------------------------------

COLOUR = re.compile(
    r"\x1b\[[0-9;?]{0,30}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|\x1b[@-_]"
)
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_NOT_APPLIED = re.compile(r"^This is how your edit would have looked if applied\b.*", re.M | re.S)
"""A file as it never was, and as it still is."""
_EXIT = re.compile(
    r"\s*[\[(<]?/?(?:process |command completed with )?"
    r"(?:return ?code|exit(?:ed)?(?: with)?(?: code| status)?|"
    r"returncode)[>:\s=]{1,3}(-?\d{1,5})\s*[\])]?(?:</returncode>)?\.?\s*\Z",
    re.IGNORECASE,
)
_CLIENT = re.compile(
    r"\s*(?:Chunk ID: \w+|Wall time: [\d.]+ ?\w*|Original token count: \d+|Total output lines: \d+|"
    r"Execution time: [\d.]+ ?\w*|Timeout limit: [\d.]+ ?\w*|Duration: [\d.]+ ?\w*|Output:|"
    r"=+ (?:STDOUT|STDERR|EXECUTION INFO) =+|New Terminal Output:|Current Terminal Screen:|"
    r"Call id: \w+|Observation:|Execution logs:|Last output from code snippet:|None|"
    r"\[Code Execution Output\]|\(Open file: .*\)|\(Current directory: .*\)|"
    r"\(Interactive session: .*\)|bash-\$|<image omitted>|\[Relevant metadata\]|"
    r"\[Task history memory ends\]|\[Current state starts here\]|"
    r"</?(?:output|stdout|stderr|result)>|"
    r"///PROCESS-DONE:-?\d+:PROCESS-DONE///|"
    r"Previous response had warnings:|(?:WARNINGS: )?- Extra text detected .*|"
    r"The following is one-time information - .*|You will see the following only once\. .*|"
    r"\(\d+ more lines (?:above|below)\))\s*\Z"
)


def _bared(payload: Payload) -> Payload:
    text, ended = payload.text, payload.ended
    if "\x1b" in text:
        text = COLOUR.sub("", text)
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    if "edit would have looked" in text:
        text = _NOT_APPLIED.sub("", text)
    refused = "<tool_use_error>" in text[:200]
    if refused:
        text = text.replace("<tool_use_error>", "").replace("</tool_use_error>", "")
    lines = _returned(text.replace("\r\n", "\n")).split("\n")
    stop = len(lines)
    head, tail = lines[:HEAD], lines[max(HEAD, stop - TAIL) :]
    for line in (*head, *tail):
        if match := _EXIT.match(line):
            ended = int(match[1]) == 0 if ended is None else ended
    kept = [*_without(head), *lines[HEAD : max(HEAD, stop - TAIL)], *_without(tail)]
    listing = listing_of(screened(kept), (*head, *tail))
    return Payload(
        "\n".join(listing.lines),
        False if refused else ended,
        late=payload.late,
        window=listing.window,
        file=listing.file,
        note=listing.note,
    )


def _without(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not (_CLIENT.match(line) or _EXIT.match(line))]


def _returned(text: str) -> str:
    """The text as a terminal shows it: what a carriage return overwrote is gone."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
