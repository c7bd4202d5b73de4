"""What says nothing to a later step, or says it as an order: known before anything is ranked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from statecomp.history.guarded import Guarded
from statecomp.records.extracting.pieces import sentences

WIDEST = 2000
"""Characters of a line that may be noise; a wider one is data."""
UNREADABLE = 12
"""One character in so many that nothing could decode makes a line of something that is no text."""
ESCAPED, HEAD = 40, 160
"""One backslash in so many characters makes data within data, of which the beginning is shown."""

_DUMP = r"\s*(?i:(?:0x)?[0-9a-f]{6,16}:?(?:\s+(?:[0-9a-f]{2}){1,2}(?!\w)){8})"
_PROGRESS = (
    r".*(?:\d%\||--:--|\[\d\d:\d\d[<,]|it/s\]|examples/s\]|━━━)|\s*(?:Reading package lists|"
    r"Building dependency tree|Reading state information)\.\.\."
)
_DUMPED = re.compile(_DUMP)
_TRACE = re.compile(r"\s*Traceback \(most recent call last\):?\s*\Z")
_FRAME = re.compile(r"""\s*File ".{1,400}", line \d+(?:, in .*)?\Z""")
_SPAN = re.compile(r"\W{0,4}Span (\d+), Global Line \d+[^:]*:\W{0,4}\Z")
_BARE_ITEM = re.compile(r"\s*- [\w/]+(?: \[[^\]]*\])*:?\s*\Z")
_RAN = re.compile(r"#* ?Ran Playwright code")
_CALL_LOG = re.compile(r"\s*Call log:\s*\Z")
_CONSOLE = re.compile(r"#* ?New console messages")
# Marks of a page's elements hold for the next click; what they say may be news if it is long.
_ELEMENT = re.compile(
    r"\s*(?:- )?\[\d+\]\s?<[^>]*>(?:[^<]{0,30}</\w+>)?\s*\Z|\s*Current step: \d+/\d+Current date"
)
_FURNITURE = (
    # Which page it is, the step's own line says.
    r"\s*Action result: |\s*[-*]? ?(?:Page URL|Page Title|Current (?:page )?(?:url|title)): \S|"
    r"\s*\[Tabs?(?:Info|Data)\([^()]*\)\]\s*\Z|"
    r"\s*\* (?:Current (?:date and time|step): |Available tabs:\s*\Z)|"
    r"\s*\[(?:Start|End) of page\]\s*\Z|"
    r"\s*(?:During handling of the above exception|The above exception was the direct cause)"
)
_OPENED, _FOUND_ALL = r"\[File: .* \(\d+ lines total\)\]\s*\Z", r"End of matches for "
# One pattern: every line of every output is asked.
_NOISE = re.compile("|".join((_DUMP, _PROGRESS, _FRAME.pattern, _FURNITURE, _OPENED, _FOUND_ALL)))
_NAMES_ELEMENT = re.compile(r"\S.{0,60}:\s*\Z")
_PROMPT = re.compile(
    r"\s{0,3}\bplease (?:review|refine|close|try|edit|wait|retry|check|see|run|provide|use)\b.*",
    re.IGNORECASE,
)


def telling(written: Iterable[str]) -> list[str]:
    """The lines without dumps, progress, frames of a traceback and marks of places in a page."""
    lines = list(written)
    text = "\n".join(lines)
    # A pattern is tried at each line only where the text holds what it cannot do without.
    held = {mark for mark in _MARKS if mark in text}
    if _MARKED.search(text):
        lines, held = list(_without_labels(lines)), held | {_ELEMENTS}
    if _CLOCK.search(text) or any(map(_DUMPED.match, lines)):
        held.add(_NOISES)
    if _CONSOLES in held:
        lines = list(_without_console(lines))
    if held:
        lines = list(_quiet(lines, held))
    if "please " in text.lower():
        lines = [line if len(line) > WIDEST else _PROMPT.sub("", line) for line in lines]
    return list(_spans(lines)) if _PLACED in held else lines


_TRACES, _RUNS, _LOGS, _CONSOLES = "Traceback (most", "Ran Playwright", "Call log:", "New console"
_PLACED, _UNREADABLES, _ELEMENTS, _NOISES = "Global Line", "\ufffd", "element", "noise"
_MARKS = (
    _TRACES, _RUNS, _LOGS, _CONSOLES, _PLACED, _UNREADABLES, "%|", "/s]", "━━━", "--:--",
    "Reading package lists", "Building dependency tree", "Reading state information",
    'File "', "lines total)]", "the above exception", "The above exception",
    "End of matches for ", "[ref=", "Page URL: ", "Page Title: ", "Current ", "[Tab",
    "Available tabs:", " of page]", "Action result: ",
)  # fmt: skip
_CLOCK = re.compile(r"\[\d\d:\d\d[<,]")
_MARKED = re.compile(r"\[\d+\]\s?<|Current step: ")


def _without_labels(lines: Sequence[str]) -> Iterator[str]:
    """The lines without those that name the element below them, which says nothing alone."""
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        label = following.lstrip()[:1] in "[-" and _NAMES_ELEMENT.match(line)
        if not (label and _ELEMENT.match(following)):
            yield line


def _without_console(lines: Iterable[str]) -> Iterator[str]:
    console = False
    for line in lines:
        if len(line) <= WIDEST:
            console = bool(_CONSOLE.match(line)) or (console and not line.startswith("#"))
        if not console or len(line) > WIDEST:
            yield line


def _quiet(lines: Iterable[str], held: set[str]) -> Iterator[str]:
    trace, fence, log = -1, 0, False
    traces, runs, logs = _TRACES in held, _RUNS in held, _LOGS in held
    elements, noises = _ELEMENTS in held, held != {_ELEMENTS}
    unreadable = _UNREADABLES in held
    for line in lines:
        if len(line) > WIDEST:
            escaped = line.count("\\") * ESCAPED > len(line)
            yield f"{line[:HEAD]} ..." if escaped else line
            continue
        if unreadable and line.count("\ufffd") * UNREADABLE > len(line):
            continue
        if traces:
            margin = len(line) - len(line.lstrip())
            if trace >= 0 and (margin > trace or not line.strip() or _FRAME.match(line)):
                continue
            trace = -1
        if fence:
            fence = 0 if fence > 1 and line.startswith("```") else fence + line.startswith("```")
        elif log and line.lstrip().startswith("-"):
            continue
        elif traces and _TRACE.match(line):
            trace = margin
        elif runs and _RAN.match(line):
            fence = 1
        else:
            log = logs and bool(_CALL_LOG.match(line))
            if elements and _ELEMENT.match(line):
                yield from ("", "")  # what stood around it does not belong together
            elif not log and not (noises and _is_noise(line)):
                yield line


def _is_noise(line: str) -> bool:
    return bool(_NOISE.match(line) or ("[ref=" in line and _BARE_ITEM.match(line)))


def _spans(lines: Iterable[str]) -> Iterator[str]:
    """A place in a page stands before what was found there, on one line, or not at all."""
    place = ""
    for line in lines:
        if found := _SPAN.match(line[:WIDEST]):
            place = found[1]
        elif place and line.strip():
            yield f"Span {place}: {line.strip()}"
            place = ""
        elif not place:
            yield line


_VERBS = (
    "add ask change check click close compare compute convert copy create delete download edit "
    "ensure extract fetch fill find fix get implement inspect install investigate list look make "
    "move navigate open parse provide query read refine remove rename replace run save search send "
    "set sort test try type update upload use verify visit write analyze examine identify utilize "
    "consider considering explore attempt craft confirm leverage compile build start continue "
    "select choose enter press scroll submit review sync generate determine note"
)
VERBS = _VERBS.replace(" ", "|")
"""What an order, a plan or an aim begins with, as a pattern."""
_ORDER = re.compile(
    # A plan may have headings: "2. **Send it**: Ensure that ..."  Every line of output is asked,
    # so what stands before the verb is read in one way only.
    r"(?:\W*+(?:\d++[.)]\s\W*+)?|\W*?(?:\d+[.)]\s+)?\*\*[^*\n]{1,60}\*\*:?\s\W*+)"
    rf"(?:re-?)?(?:{VERBS})\s+"
    r"(?:this|that|the|a|an|your|all|it|them|each|any|if|for|to|whether|potential|`)(?!\w)",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    rf"\W*(?:\d+[.)]\s+)?(?:\*\*[^*\n]{{1,60}}\*\*:?\s)?\W*(?:{VERBS})\s",
    re.IGNORECASE,
)
_PLEASE = Guarded(
    r"\bplease\b|\byou (?:must|should|have to)\b|\A\W*usage:", needs="please|you |usage:"
)
_MEANT = re.compile(
    r"\b(?:let me|let'?s|let us|(?:I|we)(?:'ll| will| need to| should| must| want to|"
    r" can (?:now|run|try|use)|"
    r" plan|'m going| am going|'re going|'d like| would like| intend| also need|"
    r" still need| have to)|going to|here(?:'s| is| are) the|my plan|the plan|the next step|"
    r"next_goal)\b|\A\W*plan\b|"
    r"\A\W*(?:first|next|now|then|finally|to do (?:this|so))\b|:\s*\Z",
    re.IGNORECASE,
)


def unprompted(text: str) -> str:
    """What a tool says, without the sentences that tell its reader what to do next."""
    return " ".join(part for part in sentences(text) if not orders(part))


QUOTED = re.compile(r"""\"[^"\n]{1,200}\"|'[^'\n]{3,200}'|`[^`\n]{1,200}`""")


def orders(text: str) -> bool:
    """Whether a line of output tells its reader to do something; what it quotes is no order."""
    text = QUOTED.sub("it", text)
    return bool(_PLEASE.search(text) or _ORDER.match(text))


def intends(text: str) -> bool:
    """Whether a sentence of the agent says what it meant to do: done or dropped since."""
    return bool(_MEANT.search(text) or _IMPERATIVE.match(text) or orders(text))


_GUESS = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|likely|might|should|seems?|appears?|wonder|suspect|guess|"
    r"I think|I believe|can be used|hints?|attempts? to|or similar|something like)\b|\?\W*\Z",
    re.IGNORECASE,
)
"""What the agent took to be so without having seen it: the steps since have shown better."""


def guesses(text: str) -> bool:
    """Whether a sentence of the agent says what it took to be so."""
    return bool(_GUESS.search(text))


_SHOWN = re.compile(
    r"\s*(?:[\w.@~/-]{1,40}[$#] |bash-\$|>>> |[d-][rwxs-]{9} |total \d+\s*\Z|"
    r"\[File: .* lines total\)\])"
)
"""How a terminal begins, or a list of files, or a window into one."""


def without_shown(said: str) -> str:
    """What an agent said, up to where it goes on as if a terminal had answered; all fences."""
    if not any(map(_SHOWN.match, said.split("\n"))):
        return said
    kept: list[str] = []
    shown = fence = False
    for line in said.split("\n"):
        mark = line.lstrip().startswith("```")
        shown = shown or (not fence and bool(_SHOWN.match(line)))
        if fence or mark or not shown:
            kept.append(line)
        fence ^= mark
    return "\n".join(kept)
