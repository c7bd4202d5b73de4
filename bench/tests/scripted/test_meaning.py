"""Values and rules in somebody else's words."""

from __future__ import annotations

import pytest

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.scripted.meaning import Meaning, thinness
from statecomp_bench.scripted.sight import Eye

PLAN = Plan(
    facts=(
        Fact("limit", "weight limit of basalt", r"Weight limit of basalt: ([\d.]+) kg", "spec"),
        Fact("gross", "weight limit, gross, of basalt", r"Gross basalt: ([\d.]+)", "spec"),
        Fact("token", "token of the batch", r"token is (\w+)", "spec"),
        Fact("city", "city of Bruno", r"City: (.+)", "spec"),
        Fact("lock", "saddle-codec in ledger-api", r"ledger-api needs saddle-codec==([\d.]+)"),
        Fact("who", "counter in the north", r"Counted in the north by (\w+ \w+)", "spec"),
    ),
    rules=(
        Norm(
            "mark",
            "a changed line ends with a comment naming its issue",
            "see #NUM",
            "x",
            "y",
            "spec",
        ),
    ),
    steps=(
        Step("spec", "read_file", {"path": "docs/spec.md"}, "read the specification"),
        Step("post", "python", {"code": "# posting for Carla\npass"}, "post it for Carla"),
    ),
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("- basalt: the weight limit is 31.5 kg", {"limit": "31.5"}),
        ("- Basalt (weight, limits): 31.5", {"limit": "31.5"}),
        ("- basalt, gross weight limit 40", {"gross": "40"}),  # the longer label is meant
        ("- limit 31.5 kg", {}),  # whose?
        ("- weight limit of basalt: see page 31", {}),  # not directly behind it
        ("- the batch token was B7fac73", {"token": "B7fac73"}),
        ("- the token of the batch with", {}),  # an ordinary word is no token
        ("- city of Bruno: Port Kavidal", {}),  # where it ends nobody can tell
        ("- weight 12 of marble, limit of basalt 31.5", {}),  # another's stands among its words
        ("- ledger-api takes saddle-codec 1.9.19", {"lock": "1.9.19"}),
        ("- ledger-api takes saddle-tools 5.8.2", {}),  # a name with a hyphen is whole
        ("- basalt53: the weight limit is 40 kg", {}),  # and so is one with a number
        ("- North | shelf 20 | counted 84 ctn", {}),  # any two words are no name
    ],
)
def test_a_value_is_understood_where_its_label_stands_whole_before_it(
    text: str, wanted: dict[str, str]
) -> None:
    assert Meaning(PLAN).values(text) == wanted


def test_a_rule_is_understood_by_most_of_its_words() -> None:
    meaning = Meaning(PLAN)
    assert meaning.rules("- changed lines must end with a comment that names the issue") == {"mark"}
    assert meaning.rules("- comments are welcome on any line") == frozenset()


def test_what_a_record_joins_is_read_apart_by_who_understands() -> None:
    record = (
        "City: Port Kavidal; Nights: 2\n"
        "- 7. python, much like step 6 -> posted\n  # posting for Carla\n  pass"
    )
    messages = [{"role": "user", "content": text} for text in ("Do it.", record)]
    literal, reader = Eye(PLAN).look(messages), Eye(PLAN, Meaning(PLAN)).look(messages)
    assert literal.values["city"] == "Port Kavidal; Nights: 2"
    assert reader.values["city"] == "Port Kavidal"
    assert "post" not in literal.done
    assert "post" in reader.done


def test_a_record_is_as_thin_as_it_shows() -> None:
    record = (
        "Facts:\n- 3. read_file docs/spec.md -> shown (10 lines)\n  one\n  two\n"
        "- 4. read_file docs/other.md -> shown (3 lines)\n  a\n  b\n  c\n"
        "- 5. what docs/loose.md says\n"
    )
    assert thinness([record], "docs/spec.md") == pytest.approx(0.8)
    assert thinness([record], "docs/other.md") == 0
    assert thinness([record], "docs/loose.md") > 0.9
    assert thinness([record], "docs/never.md") == 1


def test_a_value_in_its_own_words_wins_over_one_in_others_wherever_it_stands() -> None:
    exact, other = "Weight limit of basalt: 31.5 kg", "- basalt, weight, limited to 12"
    for texts in ((exact, other), (other, exact)):
        said = [{"role": "user", "content": text} for text in ("Do it.", *texts)]
        assert Eye(PLAN, Meaning(PLAN)).look(said).values["limit"] == "31.5"
    alone = [{"role": "user", "content": text} for text in ("Do it.", other)]
    assert Eye(PLAN, Meaning(PLAN)).look(alone).values["limit"] == "12"


def test_an_older_list_read_again_does_not_undo_the_newer_one() -> None:
    plan = Plan(
        (Fact("count", "count of tin", r"tin \| (\d+)", "recount"),),
        (),
        (
            Step("sheet", "read_file", {"path": "sheets/first.txt"}, "read the sheet"),
            Step("recount", "read_file", {"path": "sheets/recount.txt"}, "read the other count"),
        ),
    )

    def read(path: str, text: str, number: int) -> list[dict[str, object]]:
        call = {"name": "read_file", "arguments": f'{{"path": "sheets/{path}.txt"}}'}
        calls = [{"id": f"c{number}", "type": "function", "function": call}]
        return [
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text},
        ]

    first, newer = ("first", "tin | 80"), ("recount", "tin | 73")
    look = Eye(plan, Meaning(plan)).look
    assert look([*read(*first, 1), *read(*newer, 2)]).values["count"] == "73"
    assert look([*read(*newer, 1), *read(*first, 2)]).values["count"] == "73"
    assert look(read(*first, 1)).values["count"] == "80"
