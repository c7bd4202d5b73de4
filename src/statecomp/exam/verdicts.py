"""How a step ended, where the recording itself says so: exit status and error flag first.

Patterns in the output decide only where the tool or the test runner states its verdict; a step
whose status and output disagree has no verdict here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from statecomp.history.interaction import Interaction

ENDS = 400
_STATUS = re.compile(
    r"\\?[\"<]?\b(?:return[_ ]?code|exit[_ ]?(?:code|status))\\?[\">]?"
    r"(?: was|:|=|\s)*(-?\d{1,3})\b",
    re.IGNORECASE,
)
_SUCCESS = re.compile(r"\\?\"success\\?\":\s*(true|false)")
_FLAG = re.compile(r"\\?\"is_?error\\?\":\s*(true|false)", re.IGNORECASE)
_HTTP = re.compile(r"\\?\"status_code\\?\":\s*(\d{3})\b")
_SAID_WELL = re.compile(
    r"\A\W*(?:Successfully \w+|Your command ran successfully|Query executed successfully|"
    r"action '?\w+'? with id=\S+ succeeded)|Your command ran successfully and did not"
)
_SAID_ILL = re.compile(
    r"\A\W*(?:Error(?: executing tool| calling tool| running)?\b[^\n]{0,20}:|MCP error|"
    r"Traceback \(most recent|action '?\w+'? with id=\S+ failed)"
)
_PASSED = re.compile(
    r"^=+ .*?\b\d+ passed\b.*=+\s*$|^OK(?: \(.*\))?\s*$|^BUILD SUCCESS", re.MULTILINE
)
_NOT_PASSED = re.compile(
    r"^=+ .*?\b\d+ (?:failed|errors?)\b.*=+\s*$|^FAILED \((?:failures|errors)=|BUILD FAILURE",
    re.MULTILINE,
)
_RAISED = re.compile(
    r"^(?:Traceback \(most recent call last\)|[\w.]*(?:Error|Exception): |.*command not found|"
    r".*No such file or directory|fatal: |error: |.*connection refused|.*timed out|"
    r".*\bHTTP(?:/[\d.]{1,5})? (?:error |status )?[45]\d\d\b|.*\"status\": ?[45]\d\d\b)",
    re.MULTILINE | re.IGNORECASE,
)
"""What a step may have shown that ended well: whoever calls it failed is not wrong either."""


@dataclass(frozen=True)
class AnswerVerdict:
    """Whether the step succeeded, and the words of the recording that say so."""

    member: Interaction
    succeeded: bool
    evidence: str


def verdicts_of(span: Iterable[Interaction]) -> Iterator[AnswerVerdict]:
    for member in span:
        if verdict := verdict_of(member):
            yield verdict


def verdict_of(member: Interaction) -> AnswerVerdict | None:
    """The recorded outcome of a step; None where nothing states it or two things disagree.

    Of several calls at once some may fail, and then nobody can say how the step ended.
    """
    seen = member.observed
    if len(member.calls) > 1:
        return None
    if any(observation.is_error for observation in member.observations):
        return AnswerVerdict(member, succeeded=False, evidence="error flag")
    said = list(_statements(seen))
    if not said or len({well for well, _ in said}) > 1:
        return None
    well, evidence = said[0]
    if well and _RAISED.search(seen.replace("\\n", "\n")):
        return None
    return AnswerVerdict(member, well, evidence)


def _statements(whole: str) -> Iterator[tuple[bool, str]]:
    """(succeeded, the words) of everything in the output that states how the step ended.

    Tools say it first or last; what stands between may be a file that speaks of exit codes.
    """
    seen = whole if len(whole) <= 2 * ENDS else f"{whole[:ENDS]}\n{whole[-ENDS:]}"
    for found in _STATUS.finditer(seen):
        yield found[1] == "0", found[0]
    for pattern, well in ((_SUCCESS, "true"), (_FLAG, "false")):
        for found in pattern.finditer(seen):
            yield found[1].casefold() == well, found[0]
    for found in _HTTP.finditer(seen):
        yield found[1] < "400", found[0]
    for pattern, succeeded in (
        (_SAID_WELL, True),
        (_SAID_ILL, False),
        (_NOT_PASSED, False),
    ):
        if told := pattern.search(seen):
            yield succeeded, told[0].strip()
    if (told := _PASSED.search(seen)) and not _NOT_PASSED.search(seen):
        yield True, told[0].strip()
