"""What the agent said beside its calls: what it had seen until then, and what a call was for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from statecomp.records.extracting.arguments import Thoughts
from statecomp.records.extracting.code import is_line_of_code
from statecomp.records.extracting.pieces import LONGEST, one_line, sentences, wordless
from statecomp.records.extracting.reading.noise import VERBS, orders


class Said(NamedTuple):
    """The sentences that say how things were before the agent turned to its call; what that is for.

    A plan is not what was found, and what was found is no plan: one sentence may hold both.
    """

    stated: tuple[str, ...] = ()
    aims: tuple[str, ...] = ()


_MARKUP = re.compile(r"</?(?:observation|thinking|thought|action|plan|reflection)>")
"""What some agents put around their sentences."""
_LITERAL = re.compile(
    r"\s*(?:#{1,6}\s|\*\*[^*]{1,120}\*\*:?\s*\Z|(?:(['\"]).*\1|[\[({].*[\])}])[\])},;]*\s*\Z)"
)
"""A heading, or a value of a program: no sentence."""
_TYPED = re.compile(
    r"\s*(?:[\w.@~/-]{1,40}[$>] |>>> |In \[\d|(?:from [\w.]+ )?import \w|"
    r"(?:assert|return|print)\b[ (])"
)
"""What the agent wrote as if a terminal had shown it, or as a line of a program."""
_ITEM = re.compile(r"\s*(?:\d{1,3}[.)]|[-*•])\s")
_DATA = ("[{", "{'", '{"')
"""What data begins with that some clients put into the words of the agent."""

_LEAD = re.compile(
    r"(?:(?:great|perfect|excellent|good|okay|ok|alright|all right|interesting|wonderful|awesome|"
    r"nice|fantastic|yes|hmm|well|right|sure|got it|i see|thanks|thank you)\b[!.,:;\u2014-]+\s*|"
    r"(?:thought|analysis|discussion|observation|plan|reasoning|reflection|memory|goal)s?:\s+|"
    r"(?:unknown|success|partial success|failed|failure) - |"
    r"(?:so|now|okay|ok|then|next|first|finally|also)\b,?\s+|"
    r"(?:i|we) can (?:now |also )?see that\s+)+",
    re.IGNORECASE,
)
"""What a sentence begins with that says nothing."""
_TURNS = re.compile(
    r"\b(?:let me|let's|let us|(?:i|we)(?:'ll| will| shall| need to| should| must| want to|"
    r" have to| plan to| intend to|'m going to| am going to| are going to|'re going to|'d like to|"
    r" would like to| still need to| also need to| now need to|"
    rf" (?:can|could)(?: now| also| then| try to)?(?= (?:{VERBS})\b))|"
    r"(?:the|my) (?:next (?:step|goal)|plan) is to)\s+"
    r"(?:(?:now|also|first|then|next|just|try to|try and|start by|begin by|proceed to|"
    r"go ahead and|help you(?: to)?)\s+)*",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(rf"(?:{VERBS})\s", re.IGNORECASE)
_UNSURE = re.compile(r"\W*(?:if|unless|otherwise)\b", re.IGNORECASE)
_LATER = re.compile(r"\W*(?:then|after that|afterwards|finally|later|once)\b", re.IGNORECASE)
"""What is to be done after the call, or not at all."""
_IDLE = re.compile(
    r"\W*(?:(?:i|my) (?:sincerely )?apolog\w+|sorry|oops|understood|need to|have to|no previous|"
    r"here(?: is| are|'s)\b|"
    r"the task (?:is|is not|isn't|has not|requires)\b)",
    re.IGNORECASE,
)
"""Excuses, and the task once more."""
_PRAISE = re.compile(r"\bsuccess(?:ful(?:ly)?)?\b|\bprogress\b", re.IGNORECASE)
"""What is told by the step's own outcome, or is none."""
_FORETOLD = re.compile(r"\b(?:will|would) be\b|\bsomething like\b", re.IGNORECASE)
"""What nobody has seen yet."""
_BENDS = re.compile(
    r"\W*(?:that|since|based on|given|before|after|with|as|for|once|when|although|because|due to|"
    r"by|while|using|in order|from|rather than|instead|until)\b",
    re.IGNORECASE,
)
"""What the first half of a sentence begins with that says nothing without the second."""
_TIE = re.compile(r"(?:however|unfortunately|yet), |but,? ", re.IGNORECASE)
_BUT = re.compile(r"\W*(?:however|but|unfortunately|yet|still)\b", re.IGNORECASE)
_JOINS = frozenset(["but", "so", "and", "because", "therefore", "thus", "since", "hence"])
_HANGS = re.compile(
    r"\b(?:a|an|the|as|of|to|is|are|was|were|with|for|and|or|by|in|on|at|from|that|than|which|if|"
    r"when|what|how|where|who|whose|while|about)\W*\Z",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|can|cannot|could|shows?|seems?|contains?|"
    r"appears?|exists?|found|failed|fails|works|worked|indicates?|returned|returns)\b|n't\b",
    re.IGNORECASE,
)
"""Words by which half a sentence says something."""
_CLAUSE = re.compile(
    r"[,;:]? (?:which|because|so that|but|and|as|since|while|with|where|by|using) |[,;:] "
)

_NEXT_ACT = re.compile(
    rf",? and then |[;,] then |\. |,? and (?:also |finally )?(?=(?:{VERBS})\b)",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\W*(?:try|attempt|be|start|continue|proceed|use|utilize|make|revise|update|adjust|modify|"
    r"correct|fix|improve|ensure|handle|include|rewrite|refine|create|craft|write|provide|finish|"
    r"complete|help|move on|go on|do|perform|solve|address|work|organize)\b",
    re.IGNORECASE,
)
"""What says how and not what for, or claims of a text that it will be as it should."""
_POINTS = re.compile(r"\b(?:them|they|it|its|these|those|here|the above)\b", re.IGNORECASE)


def read_said(thoughts: Iterable[Thoughts]) -> Said:
    """What a message says, and its calls where they say something beside what they do."""
    stated: list[str] = []
    aims: list[str] = []
    for thought in thoughts:
        turned = False
        for sentence in _sentences(thought.stated):
            found, aim = _halves(sentence)
            stated += [found] if found and not turned else []
            aims += [aim] if aim else []
            turned = turned or bool(aim)
        aims += [_halves(sentence)[1] or sentence for sentence in _sentences(thought.planned)]
    return Said(tuple(stated), tuple(aims))


def _sentences(text: str) -> Iterator[str]:
    for line in _MARKUP.sub("\n", text.replace("\u2019", "'")).split("\n"):
        told = not (
            line.lstrip()[:2] in _DATA
            or is_line_of_code(line)
            or _LITERAL.match(line)
            or _TYPED.match(line)
            or _ITEM.match(line)  # of a list that nobody would see
        )
        for sentence in sentences(one_line(line)) if told else ():
            # What breaks off, or is too long to be told whole, is not what the agent said.
            if len(sentence) <= 2 * LONGEST and sentence.count('"') % 2 == 0:
                yield sentence


def _halves(sentence: str) -> tuple[str, str]:
    """What a sentence states, and what it says that the agent is about to do."""
    text = _LEAD.sub("", sentence, count=1) if _LEAD.match(sentence) else sentence
    if text.endswith("?") or _UNSURE.match(text) or wordless(text):
        return "", ""
    if turn := _TURNS.search(text):
        return ("", "") if _LATER.match(sentence) else _parted(text, turn)
    if _IMPERATIVE.match(text):
        return "", text
    said = (_FORETOLD, _PRAISE, _HANGS)
    idle = _IDLE.match(text) or any(one.search(text) for one in said) or orders(text)
    return ("" if idle or text.endswith(":") or len(text.split()) < 2 else text), ""


def _parted(text: str, turn: re.Match[str]) -> tuple[str, str]:
    """The halves of a sentence that turns to what is next: "It is gone, so I will make it"."""
    before, aim = text[: turn.start()].rstrip(" ,;-\u2014"), text[turn.end() :]
    if before[:3].lower() == "to ":
        return "", f"{before}: {aim}"
    ends = "."
    while (last := before.rpartition(" "))[2].lower() in _JOINS:
        before = last[0].rstrip(" ,;-\u2014")
        ends = " ..." if last[2].lower() == "but" else ends  # what comes takes some of it back
    part = _BENDS.match(before) or _HANGS.search(before) or _PRAISE.search(before)
    whole = len(before.split()) > 3 and not part
    return (f"{before}{ends}" if whole and not _IDLE.match(before) else ""), aim


def turned(stated: Iterable[str]) -> Iterator[str]:
    """The sentences without those that the next one takes something back of: "However, ..."."""
    before = ""
    for sentence in stated:
        if before and not _BUT.match(sentence):
            yield before
        before = sentence
    if before:
        yield before


def grounded(sentence: str) -> str:
    """A sentence that stands alone, without the word that ties it to the one before."""
    tied = _TIE.match(sentence)
    rest = sentence[tied.end() :] if tied else sentence
    return rest[:1].upper() + rest[1:] if tied else sentence


def stated_shortly(text: str, most: int) -> str:
    """A sentence cut short; nothing where what it says would be cut off with its end."""
    short = cut_short(text, most)
    whole = short == text or (_SAYS.search(short) and not _BENDS.match(short))
    return short if whole else ""


def first_act(aim: str) -> str:
    """What the next call alone is for; nothing where nobody would see what is meant by it.

    The acts behind the first are those of later calls, if they are made at all.
    """
    act, *others = _NEXT_ACT.split(aim, maxsplit=1)
    if _VAGUE.match(act) or _POINTS.search(act):
        return ""
    return f"{act.rstrip(' .,:;!')} ..." if others else act.rstrip(" .,:;!")


def cut_short(text: str, most: int) -> str:
    """A sentence, or its beginning up to a clause, with dots; nothing where it has none."""
    if len(text) <= most:
        return text
    ends = [found.start() for found in _CLAUSE.finditer(text, most // 3, most)]
    told = next((text[:end] for end in reversed(ends) if not _HANGS.search(text[:end])), "")
    return f"{told} ..." if told else ""
