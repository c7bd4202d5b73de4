from statecomp.history.facts import FactIndex
from statecomp.history.history import History, Span
from statecomp.history.interaction import Call, Interaction, Pinned, Summary
from statecomp.history.situation import Noted, Situation


def user(place: str, text: str) -> Pinned:
    return Pinned(place, (), 1, "user", text)


def step(number: int, *calls: Call) -> Interaction:
    return Interaction(f"i{number}", number, (), 1, calls=calls)


NEWEST = step(4, Call("b", "TodoWrite", "new list"))
RECORD = Summary("s", (), 1, "what was done", ("gone",), 1, 1)
HISTORY = History(
    (
        Pinned("sys", (), 1, "system", "Read SYSTEM.md."),
        user("task", "Follow rules.md and AGENTS."),
        RECORD,
        step(2, Call("a", "TodoWrite", "old list")),
        step(3),
        NEWEST,
        user("more", "Then rules.md again, and notes/end.txt."),
        step(5),
        step(6),
    )
)


def around(span: Span) -> Situation:
    return Situation.around(span, HISTORY, FactIndex(HISTORY.segments))


def test_a_situation_is_the_history_without_the_span() -> None:
    situation = around(Span(3, 5))
    assert [step.number for step in situation.interactions] == [4, 5, 6]
    assert situation.records == (RECORD,)
    assert [step.number for step in situation.latest] == [4, 5, 6]


def test_every_word_of_the_user_is_known_and_no_word_of_the_system() -> None:
    situation = around(Span(3, 5))
    assert situation.asked == (
        "Follow rules.md and AGENTS.",
        "Then rules.md again, and notes/end.txt.",
    )


def test_the_list_of_the_agent_is_the_newest_wherever_it_stands() -> None:
    assert around(Span(3, 5)).noted(()) == Noted(4, "new list")
    assert around(Span(5, 6)).noted([NEWEST]) == Noted(4, "new list")
    assert Situation().noted(()) is None
