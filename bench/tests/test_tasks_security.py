"""That each checker of the Security domain can say no, and to what."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.tests.running import TaskFinished, values
from statecomp_bench.task import Artefacts, Case
from statecomp_bench.tasks import tasks_like

# Those that ask services outside the workspace have tests of their own.
TASKS = {
    t.id.removeprefix("security-"): t for t in tasks_like(("security",)) if not t.case().scenes
}
NAMES = [name for name in TASKS if name != "intrusion"]


def parts(case: Case, root: Path) -> dict[str, float]:
    def python(code: str) -> str:
        """The programs here are the checkers' own, and so are the files they read."""
        command = [sys.executable, "-c", code]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout

    return values(case.check(Artefacts(root, python)))


def fallen(case: Case, root: Path) -> set[str]:
    return {name for name, value in parts(case, root).items() if value < 1}


@pytest.mark.parametrize("name", NAMES)
def test_a_finished_workspace_is_right_in_every_part(name: str, finished: TaskFinished) -> None:
    done = finished(f"security-{name}")
    assert not fallen(done.case, done.left)


@pytest.mark.parametrize("name", NAMES)
def test_every_part_fails_when_the_artefacts_are_gone(
    name: str, finished: TaskFinished, tmp_path: Path
) -> None:
    case = finished(f"security-{name}").case
    case.write(tmp_path)
    assert set(parts(case, tmp_path).values()) == {0.0}


@pytest.mark.parametrize("name", NAMES)
def test_every_artefact_counts(name: str, finished: TaskFinished, tmp_path: Path) -> None:
    done = finished(f"security-{name}")
    case, root = done.case, done.copied(tmp_path / "left")
    for shown in done.changed():
        if shown.startswith(("work/", "tools/")):
            continue
        path = root / shown
        data = path.read_bytes()
        path.unlink()
        assert fallen(case, root), shown
        path.write_bytes(data)
    assert not fallen(case, root)


def first(root: Path, pattern: str) -> Path:
    return sorted(root.glob(pattern))[0]


def swap_text(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def empty(path: Path) -> None:
    path.write_text("")


def change_json(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def correct_an_exception(root: Path) -> None:
    """A setting that an exception in force protects is set to something else."""
    report = json.loads(first(root, "audit/*.json").read_text())
    (setting,) = report["excepted"]
    path = root / "corrected" / report["host"].lower() / "sshd_config"
    lines = path.read_text().splitlines()
    changed = [f"{setting} 1" if line.startswith(f"{setting} ") else line for line in lines]
    path.write_text("\n".join(changed))


def close_too_much(root: Path) -> None:
    path = first(root, "corrected/*/nftables.conf")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-4]))


def block_too_much(root: Path) -> None:
    path = root / "blocklist/domains.txt"
    lines = [*path.read_text().split(), "partner.example"]
    path.write_text("\n".join(sorted(lines)))


def run_of_a_sample(root: Path) -> None:
    name = json.loads((root / "reports/link-02.json").read_text())["file"]
    path = root / "quarantine" / f"{name}.bin"
    path.write_bytes(path.read_bytes() + b"!")


def swap_markers(root: Path) -> None:
    head, one, two, *rest = (root / "reports/chain.csv").read_text().splitlines()
    (a, marker_a), (b, marker_b) = one.rsplit(",", 1), two.rsplit(",", 1)
    lines = [head, f"{a},{marker_b}", f"{b},{marker_a}", *rest]
    (root / "reports/chain.csv").write_text("\n".join(lines))


def decide(statement: str) -> Callable[[Path], None]:
    def spoil(root: Path) -> None:
        connection = sqlite3.connect(root / "review.db")
        connection.execute(statement)
        connection.commit()
        connection.close()

    return spoil


def touch_another_package(root: Path) -> None:
    path = first(root, "updated/*.lock.json")
    lock = json.loads(path.read_text())
    lock["packages"][-1]["version"] = "99.0.0"
    path.write_text(json.dumps(lock))


def restore_the_wrong_copy(root: Path) -> None:
    path = first(root, "restored/*.bak")
    path.write_bytes(path.read_bytes().swapcase())


def prune_what_is_held(root: Path) -> None:
    held = next(p for p in sorted(root.glob("prune/*.txt")) if not p.read_text())
    oldest = first(root, f"vault/{held.stem}/*.bak")
    held.write_text(f"vault/{held.stem}/{oldest.name}\n")


def tell_a_secret(root: Path) -> None:
    secret = first(root, "security/scan/*.txt").read_text().split(" secret ")[1].split()[0]
    with (root / "security/rotation.csv").open("a") as file:
        file.write(f"F-99,nobody,none,{secret},2025-01-01\n")


def clean_what_is_waived(root: Path) -> None:
    for path in [*root.glob("app/*/*.py"), *root.glob("tests/*/*.py")]:
        path.write_text(path.read_text().replace('"key_', '"vault://'))


def turn_the_order(root: Path) -> None:
    head, *rows = (root / "timeline.csv").read_text().splitlines()
    (root / "timeline.csv").write_text("\n".join([head, *reversed(rows)]))


SPOILT: list[tuple[str, str, Callable[[Path], None]]] = [
    ("hardening", "settings", correct_an_exception),
    ("hardening", "remarks",
     lambda r: swap_text(first(r, "corrected/*/sshd_config"), " # CHG", " CHG")),
    ("hardening", "ports", close_too_much),
    ("hardening", "summary", lambda r: swap_text(r / "audit/summary.csv", "red", "high")),
    ("phishing", "domains", block_too_much),
    ("phishing", "digests", lambda r: empty(r / "blocklist/digests.txt")),
    ("phishing", "ticket report-01",
     lambda r: swap_text(r / "tickets/report-01.json", "[.]", ".")),
    ("samples", "quarantine as it was", run_of_a_sample),
    ("samples", "chain", swap_markers),
    ("samples", "report on link-03",
     lambda r: change_json(r / "reports/link-03.json", interval=99999)),
    ("certificates", "inventory of edge",
     lambda r: swap_text(r / "inventory/edge.csv", "-", "/")),
    ("certificates", "renewals of plant",
     lambda r: change_json(r / "inventory/renew-plant.json", contact="pki@northgate.example")),
    ("certificates", "shared keys",
     lambda r: empty(r / "inventory/shared-keys.json")),
    ("access", "decision", decide("update decisions set decision = 'lock'")),
    ("access", "reviewer", decide("update decisions set reviewer = 'R-0000/none'")),
    ("access", "power", decide("update decisions set power = 'via nothing'")),
    ("access", "removals", lambda r: swap_text(r / "removals.csv", "-", "/")),
    ("advisories", "deferred", lambda r: swap_text(r / "deferred.csv", "release-", "nobody-")),
    ("advisories", "reports",
     lambda r: swap_text(first(r, "updated/*.csv"), ",v", ",")),
    ("backups", "reports", lambda r: change_json(first(r, "restored/*.json"), slot="slot-1")),
    ("backups", "summary",
     lambda r: swap_text(r / "restored/summary.csv", "-db,2025", "-db,2024")),
    ("secrets", "no secret in the table", tell_a_secret),
    ("secrets", "rotation", tell_a_secret),
    ("secrets", "waived secrets", clean_what_is_waived),
    ("timeline", "timeline", turn_the_order),
    ("timeline", "form of times", lambda r: swap_text(r / "timeline.csv", "Z,", ",")),
    ("timeline", "spans", lambda r: change_json(r / "spans.json", spans={"dwell": 1.0})),
    ("timeline", "order", lambda r: change_json(r / "spans.json", order=[])),
    ("timeline", "records", lambda r: change_json(first(r, "records/*.json"), offset=0)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "part", "spoil"), SPOILT, ids=[f"{name}-{part}" for name, part, _ in SPOILT]
)
def test_one_wrong_thing_costs_its_own_part(
    name: str,
    part: str,
    spoil: Callable[[Path], None],
    finished: TaskFinished,
    tmp_path: Path,
) -> None:
    done = finished(f"security-{name}")
    case, root = done.case, done.copied(tmp_path / "left")
    spoil(root)
    assert part in fallen(case, root)
    assert len(fallen(case, root)) <= 2


@pytest.mark.parametrize(
    ("name", "kind", "spoil"),
    [
        ("advisories", "lock file of ", touch_another_package),
        ("backups", "restored ", restore_the_wrong_copy),
        ("backups", "prune list of ", prune_what_is_held),
    ],
)
def test_one_wrong_item_costs_only_that_item(
    name: str,
    kind: str,
    spoil: Callable[[Path], None],
    finished: TaskFinished,
    tmp_path: Path,
) -> None:
    done = finished(f"security-{name}")
    case, root = done.case, done.copied(tmp_path / "left")
    spoil(root)
    (only,) = fallen(case, root)
    assert only.startswith(kind)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_workspace_names_a_real_host(name: str) -> None:
    """Addresses are private or of the ranges for documentation, domains end in .example."""
    for text in TASKS[name].case().files.values():
        if isinstance(text, str):
            assert not re.search(r"\w\.(com|org|net|io)\b", text)
