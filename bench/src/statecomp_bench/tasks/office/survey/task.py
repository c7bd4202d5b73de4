"""A survey counted branch by branch; a limit changes on the way, so early counts become stale."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.office.each import facts_about, lines_of, rules_of
from statecomp_bench.tasks.office.papers import column, holds, put
from statecomp_bench.tasks.office.survey.data import EARLY, WORDS, Branch, Wave, story, surroundings

COUNT = """
    # COMMENT NAME
    from collections import Counter
    words = {
        WORDS
    }
    kept, themes = [], Counter()
    for line in open('answers/LOW.txt'):
        if line.startswith('#'):
            continue
        number, seconds, grade, comment = line.strip().split('|')
        if {tests} or int(seconds) < {LIMIT}:
            continue
        kept.append(int(grade))
        for theme, fitting in words.items():
            if any(word in comment for word in fitting.split()):
                themes[theme] += 1
                {first}
    top = max(words, key=lambda theme: themes[theme])
    promoters, detractors = sum(g >= 9 for g in kept), sum(g <= 6 for g in kept)
    print(f'count of NAME: {len(kept)} valid, {promoters} promoters, {detractors} detractors,',
          f'top {top} with {themes[top]}')
    print('grades', *kept)
    for theme, fitting in words.items():
        print(theme, themes[theme], fitting)
"""
TABLE = """
    # table of results
    import os
    os.makedirs('out', exist_ok=True)
    numbers = {NUMBERS}
    counts = {
        COUNTS
    }
    with open('out/results.csv', 'w') as f:
        f.write('branch,valid,score,theme,mentions\\n')
        for branch, (valid, promoters, detractors, top, mentions) in counts.items():
            score = str(round(100 * (int(promoters) - int(detractors)) / int(valid)))
            if {dash}:
                score = '-'
            f.write(f'{branch},{valid},{score},{{shown}},{mentions}\\n')
    print(open('out/results.csv').read())
"""
TOTAL = """
    # total of the wave
    import json
    branches = {
        BRANCHES
    }
    training = '{training}'
    total = customers = answers = 0
    for branch, (valid, promoters, detractors, weight) in branches.items():
        answers += int(valid)
        if {trained}:
            continue
        total += 100 * (int(promoters) - int(detractors)) / int(valid) * {weighted}
        customers += {weighted}
    made = {'wave': '{wave}', 'score': f'{total / customers:.1f}', 'answers': answers}
    json.dump(made, open('out/total.json', 'w'))
    print(f'{total / customers:.1f}')
"""
LETTERS = """
    # PART letters to heads
    import csv, os
    os.makedirs('out/letters', exist_ok=True)
    rows = {row['branch']: row for row in csv.DictReader(open('out/results.csv'))}
    heads = {
        HEADS
    }
    for branch, (code, head, interviewer) in heads.items():
        row = rows[code]
        text = f"To {head}, branch {code}\\nScore {row['score']} from {row['valid']} answers"
        text += f', interviews by {interviewer}\\n'
        open(f'out/letters/{branch}.txt', 'w').write(text + 'Wave {wave}\\n')
    print(len(heads), 'letters')
"""
RULES = rules_of(
    "codebook",
    (
        "tests",
        "answers of the software tests are left out",
        "tests of the software and are never counted",
        "number[0] == 'T'",
        "False",
    ),
    (
        "first",
        "a comment counts for one theme",
        "for the first theme that fits only",
        "break",
        "pass",
    ),
    (
        "dash",
        "small branches show a dash",
        "gets no score of its own, but a dash",
        "int(valid) < {base}",
        "False",
    ),
    ("shown", "themes are shown by number", "theme is shown by its number", "numbers[top]", "top"),
    (
        "trained",
        "the training branch stays out of the total",
        "training branch never enters the total",
        "branch == training",
        "False",
    ),
    (
        "weighted",
        "branches weigh as their customers",
        "weighted with their customers",
        "int(weight)",
        "1",
    ),
)


THEME = (
    ("words", "words for NAME", r"theme NAME: number \d+, words: (\w+ \w+)"),
    ("number", "number of NAME", r"theme NAME: number (\d+)"),
)
OWN = (
    Fact("old_limit", "seconds in the codebook", r"in less than (\d+) seconds", "codebook"),
    Fact("new_limit", "seconds as of the memo", r"on the limit is (\d+) seconds", "memo"),
    Fact("base", "least answers", r"fewer than (\d+) answers", "codebook"),
    Fact("training", "branch for trainees", r"training branch is (\w+)\.", "sampling"),
    Fact("wave", "wave number", r"wave (W\d+/25)"),
)


def facts_of(name: str, source: str) -> list[Fact]:
    low, count, row = name.lower(), rf"count of {name}: ", rf"branch {name} \| "
    return [
        *facts_about(
            name,
            source,
            ("valid", "valid answers in NAME", count + r"(\d+) valid"),
            ("promoters", "promoters in NAME", count + r".*? (\d+) promoters"),
            ("detractors", "detractors in NAME", count + r".*? (\d+) detractors"),
            ("top", "top theme in NAME", count + r".*?top (\w+) with"),
            ("mentions", "mentions in NAME", count + r".*?top \w+ with (\d+)"),
        ),
        *facts_about(
            name,
            "sampling",
            ("code", "code of NAME", row + r"code (\S+)"),
            ("customers", "customers of NAME", row + r"code \S+ \| (\d+)"),
            ("head", "head of NAME", row + r"code.*?head (\w+ \w+)"),
        ),
        *facts_about(
            name,
            f"raw_{low}",
            ("interviewer", "interviewer in NAME", r"branch NAME, interviews there by (\w+ \w+)"),
        ),
    ]


def raw_step(name: str) -> Step:
    look = f"head -n {{lines}} answers/{name.lower()}.txt"
    return shell(f"raw_{name.lower()}", look, f"look at the answers from {name}")


def count_step(name: str, again: str, limit: str) -> Step:
    words = lines_of("'NAME': '{words_NAME}',", WORDS)
    code = put(
        COUNT.replace("LOW", name.lower()), NAME=name, WORDS=words, LIMIT=limit, COMMENT=again
    )
    return python(f"{again}_{name.lower()}", code, f"{again} the answers of {name}")


def plan_of(wave: Wave) -> Plan:
    names = [b.name for b in wave.branches]
    early = names[:EARLY]
    facts = [
        f for n in names for f in facts_of(n, f"{'recount' if n in early else 'tally'}_{n.lower()}")
    ]
    for theme in WORDS:
        facts += facts_about(theme, "themes", *THEME)
    kinds = ("valid", "promoters", "detractors", "top", "mentions")
    values = ", ".join(f"'{{{kind}_NAME}}'" for kind in kinds)
    counted = f"'{{code_NAME}}': ({values}),"
    weighed = (
        "'NAME': ('{valid_NAME}', '{promoters_NAME}', '{detractors_NAME}', '{customers_NAME}'),"
    )
    headed = "'NAME': ('{code_NAME}', '{head_NAME}', '{interviewer_NAME}'),"
    numbers = ", ".join(f"'{theme}': {{number_{theme}}}" for theme in WORDS)

    def letters(part: str, mine: list[str]) -> Step:
        code = LETTERS.replace("HEADS", lines_of(headed, mine)).replace("PART", part)
        return python(f"letters_{part}", code, f"write the {part} letters", leaves=True)

    table = TABLE.replace("NUMBERS", numbers).replace("COUNTS", lines_of(counted, names))
    total = TOTAL.replace("BRANCHES", lines_of(weighed, names))
    half = len(names) // 2
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("codebook", "survey/codebook.md", "study the codebook", group="a"),
        read("themes", "survey/themes.txt", "open the list of themes", group="a"),
        read("sampling", "survey/sampling.txt", "read the sampling plan", group="a"),
        read("before", "survey/wave_before.txt", "leaf through the last report", group="a"),
        *map(raw_step, names),
        shell("wrong", "python3 survey/count.py answers/*.txt", "try the counting program"),
        *(count_step(n, "tally", "old_limit") for n in early),
        read("memo", "survey/memo.txt", "read the memo that has come in"),
        *(count_step(n, "recount", "new_limit") for n in early),
        *(count_step(n, "tally", "new_limit") for n in names[EARLY:]),
        python("table", table, "write the table of branches", leaves=True),
        python("total", total, "work out the total", leaves=True),
        letters("first", names[:half]),
        letters("other", names[half:]),
        shell("proof", "cat out/results.csv out/total.json", "read the results again"),
    ]
    return Plan((*facts, *OWN), RULES, tuple(steps), "The wave is evaluated.")


def check(wave: Wave, left: Artefacts) -> Score:
    branches = wave.branches
    counts = {b.code: wave.count(b) for b in branches}

    def rows() -> list[dict[str, str]]:
        return left.rows("out/results.csv")

    def letter(b: Branch) -> float:
        answers = f"Score {wave.score(b)} from {counts[b.code].valid} answers"
        words = (b.code, b.manager, b.interviewer, answers, wave.number)
        return holds(left, f"out/letters/{b.name}.txt", words)

    total: dict[str, object] = {
        "wave": wave.number,
        "score": wave.total(),
        "answers": sum(count.valid for count in counts.values()),
    }
    return grade(
        column("valid", 3, rows, "branch", {c: str(n.valid) for c, n in counts.items()}),
        column("score", 3, rows, "branch", {b.code: wave.score(b) for b in branches}),
        column(
            "theme", 2, rows, "branch", {c: str(wave.numbers[n.top]) for c, n in counts.items()}
        ),
        column("mentions", 2, rows, "branch", {c: str(n.mentions) for c, n in counts.items()}),
        part("total", 3, lambda: share(left.json("out/total.json"), total)),
        part("letters", 3, lambda: sum(map(letter, branches)) / len(branches)),
    )


def instruction(wave: Wave) -> str:
    names = ", ".join(b.name for b in wave.branches)
    return (
        f"Evaluate the customer survey, wave {wave.number}, for the branches {names}. Answers are "
        "in answers/, one line each: number, seconds, grade, comment, with | between. Write "
        "out/results.csv (branch: its code, valid: answers that count, score, theme: the one "
        "named most often, on equal terms the one that comes first in the list of themes, "
        "mentions: of that theme), out/total.json (wave, score as text, answers: those that "
        "count in all branches) and for each branch out/letters/BRANCH.txt to its head, with the "
        "code, 'Score SCORE from VALID answers', the interviewer and the wave. "
        "survey/codebook.md says how to count and code, survey/themes.txt has the words of the "
        "themes, survey/sampling.txt has codes, customers and heads; look for memos before you "
        f"finish. Themes are {', '.join(WORDS)}."
    )


def build(rng: Random, level: int) -> Case:
    wave = story(rng, level)
    made = surroundings(rng, wave)
    return Case(made, instruction(wave), plan_of(wave), lambda left: check(wave, left))


TASK = Task("office-survey", "Office", "Evaluate a survey whose rules change on the way", build)
