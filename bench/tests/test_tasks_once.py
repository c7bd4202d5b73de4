"""What is shown once and needed late: who lets go of it cannot get it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.tests.running import TaskFinished, run_case, scripted, values
from statecomp.baselines.window import SlidingWindow
from statecomp_bench.task import Task
from statecomp_bench.tasks import all_tasks, task_named

GONE = [task for task in all_tasks() if task.case().seen]
AGAIN = [task_named(name) for name in ("code-mirrors", "security-lookups")]
EXACT = [task_named(name) for name in ("code-notices", "web-captions", "office-vouchers")]

# For each part of a checker a change that must cost it something: where, what, and what instead;
# `CALLS` stands for services and people that were asked once more than needed.
CALLS = ("", "", "")
DAMAGE: dict[str, dict[str, tuple[str, str, str]]] = {
    "code-deploy": {
        "revision": ("releases/*.txt", r"(revision \w{6})\w", r"\1"),
        "rollback": ("releases/*.txt", "rollback RB", "rollback BR"),
        "owner": ("releases/*.txt", "owner @", "owner "),
        "state": ("releases/*.txt", "state free", "state watch"),
        "deployed once": ("ops/history.log", r"\A(.+\n)", r"\1\1"),
        "index": ("releases/index.csv", r"\d+\n\Z", ""),
    },
    "code-mirrors": {
        "packages": ("vendor/*/*.txt", r"\d+\.", "9."),
        "lock": ("vendor.lock", "sha:", ""),
        "not tried again": ("tools/strikes.log", r"\A(.+\n)", r"\1\1"),
        "nothing else in the lock": ("vendor.lock", r"\A(.+\n)", r"\1\1"),
    },
    "code-notices": {
        "notices": ("app/*.py", 'NOTICE = "', 'NOTICE = " '),
        "marks": ("app/*.py", 'MARK = "x"', 'MARK = "y"'),
        "nothing else is touched": ("app/*.py", "kept = ", "kept  = "),
        "changes": ("CHANGES.txt", r"\^", ""),
    },
    "office-approvals": {
        "article": ("orders/*.json", '"A', '"B'),
        "requester": ("orders/*.json", r"(\w+), (\w+)\"", r'\2 \1"'),
        "centre": ("orders/*.json", "CC-", ""),
        "signed": ("orders/*.json", '"board"', '"desk"'),
        "word": ("orders/*.json", '"word": "', '"word": "X'),
        "total": ("orders/*.json", '"total": ', '"total": 9'),
        "list": ("orders.csv", r"\A(.+\n)(.+\n)", r"\2\1"),
        "no question twice": CALLS,
    },
    "office-tickets": {
        "greeting": ("replies/*.txt", "Dear", "Hello"),
        "ticket": ("replies/*.txt", "Ticket T-", "Ticket "),
        "credit": ("replies/*.txt", r"(Credit \d+),", r"\1."),
        "callback": ("replies/*.txt", "Callback ", "Callback: "),
        "overview": ("overview.csv", ",T-", ",U-"),
    },
    "office-vouchers": {
        "account": ("out/journal.csv", ",k", ",m"),
        "amount": ("out/journal.csv", r",(-?)(\d)", r",\g<1>9\2"),
        "text": ("out/journal.csv", "/V", "/v"),
        "held": ("out/held.txt", r"\A(.+\n)", r"\1\1"),
        "total": ("out/total.txt", r"\A", "1"),
    },
    "security-alerts": {
        "blocks": ("blocks/*.txt", r"\[\.\]", "."),
        "light ones are not blocked": ("blocks/new", "", ""),
        "report": ("report.csv", ",S", ",T"),
        "order of the report": ("report.csv", r"\A(.+\n)(.+\n)", r"\2\1"),
        "nothing else in the report": ("report.csv", r"\A(.+\n)", r"\1\1"),
    },
    "security-keys": {
        "keys": ("env/*.env", "_KEY=K", "_KEY=L"),
        "secrets": ("env/*.env", '"', ""),
        "expiry": ("env/*.env", "EXPIRES=", "EXPIRES=1"),
        "register": ("register.csv", ",K", ",L"),
        "order of the register": ("register.csv", r"\A(.+\n)(.+\n)", r"\2\1"),
        "no secret in the register": ("register.csv", r"\Z", "SECRET"),
        "each key made once": CALLS,
    },
    "security-lookups": {
        "families": ("tickets/*.json", '"fam', '"fum'),
        "verdicts": ("tickets/*.json", '"(contain|watch)"', '"no"'),
        "digests": ("tickets/*.json", '"digest": "', '"digest": "0'),
        "contacts": ("tickets/*.json", '"contact": "', '"contact": "0'),
        "summary": ("summary.txt", r" (\d)", r" 1\1"),
        "not tried again": CALLS,
    },
    "web-bookings": {
        "confirmations": ("events/*.html", "<code>(.)", "<code>"),
        "seats": ("events/*.html", 'seats">', 'seats">1'),
        "speakers": ("events/*.html", 'speaker">.', 'speaker">'),
        "headings": ("events/*.html", 'class="(plain|fine)"', ""),
        "programme": ("programme.csv", "2024", "2025"),
        "order of the programme": ("programme.csv", r"\A(.+\n)(.+\n)", r"\2\1"),
        "nothing booked twice": CALLS,
    },
    "web-captions": {
        "captions": ("pages/*.html", "Ph/", "Ph "),
        "classes": ("pages/*.html", 'class="done"', 'class="new"'),
        "nothing else is touched": ("pages/*.html", "<ul>", "<ol>"),
        "list": ("pictures.txt", "AR-", "AR"),
    },
    "web-offers": {
        "prices": ("site/*.html", r"\.(\d\d)</b>", r",\1</b>"),
        "references": ("site/*.html", 'data-ref="R', 'data-ref="'),
        "hosts": ("site/*.html", "<i>.", "<i>"),
        "hints": ("site/*.html", r"\Z", "On request"),
        "overview": ("site/index.html", r"(<li>.*\n)(<li>.*\n)", r"\2\1"),
        "no page opened twice": CALLS,
    },
}
each_case = pytest.mark.parametrize("name", sorted(DAMAGE))


def spoiled(root: Path, damage: tuple[str, str, str], secret: str) -> None:
    where, old, new = damage
    if where == "blocks/new":  # a block for every alert
        for line in (root / "report.csv").read_text("utf-8").splitlines():
            (root / "blocks" / f"{line.split(',')[0]}.txt").touch()
    for path in root.glob(where) if where else ():
        text = re.sub(old, new.replace("SECRET", secret), path.read_text("utf-8"))
        path.write_text(text, "utf-8")


@each_case
def test_every_part_of_a_checker_can_fail(
    name: str, finished: TaskFinished, tmp_path: Path
) -> None:
    done = finished(name)
    texts = b"".join((done.left / path).read_bytes() for path in done.changed())
    secret = next(iter(re.findall(rb'SECRET="(\w+)"', texts)), b"").decode()
    done.copied(tmp_path)
    assert values(done.judged(tmp_path)) == dict.fromkeys(DAMAGE[name], 1.0)
    for part, damage in DAMAGE[name].items():
        spoiled(tmp_path, damage, secret)
        asked = (*done.calls, *done.calls) if damage == CALLS else done.calls
        assert values(done.judged(tmp_path, asked))[part] < 1, part
        done.copied(tmp_path)


@each_case
def test_values_can_be_made_out_where_lines_were_joined(name: str, finished: TaskFinished) -> None:
    finished(name).assert_values_stay_clear_where_lines_are_joined()


def test_every_one_has_its_damage_listed() -> None:
    assert DAMAGE.keys() == {task.id for task in (*GONE, *AGAIN, *EXACT)}


def test_each_domain_has_some() -> None:
    assert {task.domain for task in GONE} == {"Code", "Office", "Security", "Web"}
    assert len(GONE) + len(AGAIN) + len(EXACT) >= 12


@pytest.mark.parametrize("task", GONE, ids=lambda task: task.id)
def test_true_values_are_those_the_plan_asks_for(task: Task) -> None:
    case = task.case(5)
    assert case.seen
    assert case.seen.keys() <= case.plan.fact.keys()
    assert all(case.plan.step[case.plan.fact[name].source].once for name in case.seen)


@pytest.mark.parametrize("task", GONE, ids=lambda task: task.id)
def test_what_was_shown_once_does_not_come_back(task: Task, finished: TaskFinished) -> None:
    whole = finished(task.id)
    run, score = run_case(whole.case, scripted(whole.case), SlidingWindow(keep=6))
    assert score.reward <= 0.7
    assert whole.score.reward >= 0.95
    assert len(run.requests) > len(whole.run.requests)


@pytest.mark.parametrize("task", AGAIN, ids=lambda task: task.id)
def test_a_dead_end_out_of_sight_is_tried_again(task: Task, finished: TaskFinished) -> None:
    whole = finished(task.id)
    _, score = run_case(whole.case, scripted(whole.case), SlidingWindow(keep=4))
    assert values(score)["not tried again"] < 1
    assert values(whole.score)["not tried again"] == 1


@pytest.mark.parametrize("task", EXACT, ids=lambda task: task.id)
def test_what_can_be_read_again_costs_steps(task: Task, finished: TaskFinished) -> None:
    whole = finished(task.id)
    run, _ = run_case(whole.case, scripted(whole.case), SlidingWindow(keep=6))
    assert len(run.requests) > len(whole.run.requests)
