"""What can happen to a ledger, done to a real one: kills, races, full disks, locks, damage."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.ledger.schema import MIGRATIONS
from tests.ledger.conftest import Opener
from tests.ledger.samples import SECRET, chat, commit, entry, masked, request, session
from tests.ledger.writer import SIZE, written
from tests.postgres import PASSWORD, Cluster

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def writing(store: str, name: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.ledger.writer", store, name, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def standing(ledger: Ledger, number: int) -> list[Commit]:
    return list(ledger.commits("t").find([f"state {number}"]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "ledger.sqlite"


def opened(file: Path, wait_s: float = 2.0) -> Ledger:
    return open_ledger(str(file), mask=masked, wait_s=wait_s)


def test_a_killed_writer_leaves_whole_transactions_only(store: str, opener: Opener) -> None:
    ledger, chance, start = opener(), random.Random(5), 0
    for _ in range(4):
        with writing(store, "writer", start, 100_000) as process:
            assert process.stdout is not None
            said = [process.stdout.readline()]
            time.sleep(chance.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
            said += process.stdout.read().splitlines()
        last = int(said[-1].split()[0])
        assert last >= start
        # All it said is there; what it was writing is there as a whole, or not at all.
        found = ledger.commits("t").find([f"state {number}" for number in range(last + 2)])
        whole = [c for number in range(last + 2) for c in written(number, "writer")]
        assert list(found) in (whole, whole[:-SIZE])
        told = max((r.number for r in ledger.requests("writer")), default=0)
        assert told in (last - 1, last, last + 1, last + 2)
        assert [m["content"] for m in ledger.messages("writer")] == [
            f"writer {number}" for number in range(told - 1)
        ]
        assert all(len(e.originals) == 1 for e in ledger.entries("writer"))
        start = last + 1


def test_two_processes_agree_at_every_state(store: str, opener: Opener) -> None:
    opener()
    count = 30
    with writing(store, "left", 0, count) as left, writing(store, "right", 0, count) as right:
        said = [process.communicate()[0].splitlines() for process in (left, right)]
    assert said[0] == said[1]
    assert len(said[0]) == count
    ledger = opener()
    for line in said[0]:
        number, winner = line.split()
        assert standing(ledger, int(number)) == written(int(number), winner)
    for name in ("left", "right"):
        assert len(ledger.requests(name)) == count
        assert len(ledger.messages(name)) == count - 1


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    def work(worker: int) -> list[str]:
        log, texts = ledger.commits("t"), []
        for number in range(15):
            at = f"s{number}"
            (stands,) = log.append(at, [commit(at, text=f"worker {worker}")])
            assert log.find([at]) == [stands]
            ledger.record(session(f"run{worker}"), request(f"run{worker}", number + 1))
            texts.append(stands.text)
        return texts

    with ThreadPoolExecutor(12) as pool:
        first, *others = pool.map(work, range(12))
    assert all(other == first for other in others)
    assert ledger.totals().requests == 12 * 15


def test_a_full_disk_costs_the_write_and_nothing_else(file: Path) -> None:
    with writing(str(file), "writer", 0, 500, 200_000) as process:
        said = process.communicate()[0].splitlines()
    *numbers, failed, still = said
    assert failed.startswith(f"failed the ledger {file} cannot be written, the disk may be full")
    ledger = opened(file)
    last = len(numbers) - 1
    assert last > 0
    for number in range(last + 1):
        assert standing(ledger, number) == written(number, "writer")
    found = len(ledger.commits("t").find([f"state {number}" for number in range(500)]))
    assert found in (SIZE * len(numbers), SIZE * (len(numbers) + 1))
    assert still == f"still {found}", "what was committed is found while there is no room"
    # And once there is room again, all goes on.
    assert list(ledger.commits("t").append("next", [commit("next")])) == [commit("next")]
    ledger.close()


def test_a_writer_that_waits_in_vain_says_so_and_reading_goes_on(file: Path) -> None:
    ledger = opened(file, wait_s=0.2)
    log = ledger.commits("t")
    log.append("s1", [commit("s1")])
    blocker = sqlite3.connect(file, isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerFailed, match="locked by another process"):
        log.append("s2", [commit("s2")])
    with pytest.raises(LedgerFailed, match="locked by another process"):
        ledger.record(session(), request())
    assert log.find(["s1", "s2"]) == [commit("s1")]
    blocker.execute("ROLLBACK")
    assert list(log.append("s2", [commit("s2")])) == [commit("s2")]
    blocker.close()
    ledger.close()


def test_a_file_that_another_process_keeps_to_itself_cannot_be_opened(file: Path) -> None:
    opened(file).close()
    blocker = sqlite3.connect(file, isolation_level=None)
    blocker.execute("PRAGMA locking_mode = EXCLUSIVE")
    blocker.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerFailed, match="locked by another process"):
        opened(file, wait_s=0.2)
    blocker.close()
    opened(file).close()


def _look_up_all(file: Path) -> None:
    ledger = opened(file)
    try:
        ledger.commits("t").find([f"state {number}" for number in range(40)])
    finally:
        ledger.close()


@pytest.mark.parametrize("place", [0, 8192])
def test_a_damaged_file_is_named_and_left_alone(file: Path, place: int) -> None:
    ledger = opened(file)
    for number in range(40):
        ledger.commits("t").append(f"state {number}", written(number, "writer"))
    ledger.close()
    data = bytearray(file.read_bytes())
    data[place : place + 60_000] = random.Random(1).randbytes(60_000)
    file.write_bytes(data)
    with pytest.raises(LedgerFailed, match="is damaged") as failed:
        _look_up_all(file)
    assert f"--store {file.with_name('ledger-2.sqlite')}" in str(failed.value)
    assert file.read_bytes() == data
    beside = opened(file.with_name("ledger-2.sqlite"))
    assert list(beside.commits("t").append("s1", [commit("s1")])) == [commit("s1")]
    beside.close()


def test_a_file_moved_away_is_made_anew_without_a_restart(file: Path, tmp_path: Path) -> None:
    ledger = opened(file)
    log = ledger.commits("t")
    log.append("s1", [commit("s1")])
    assert log.find(["s1"])
    for path in file.parent.iterdir():
        path.rename(tmp_path / path.name)
    assert log.find(["s1"]) == []
    assert list(log.append("s1", [commit("s1", text="new")])) == [commit("s1", text="new")]
    assert log.find(["s1"]) == [commit("s1", text="new")]
    ledger.close()
    old = opened(tmp_path / file.name)
    assert old.commits("t").find(["s1"]) == [commit("s1")]
    old.close()


def test_a_server_that_goes_away_fails_each_call_and_is_found_again(cluster: Cluster) -> None:
    ledger = open_ledger(cluster.database(), mask=masked)
    log = ledger.commits("t")
    log.append("s1", [commit("s1")])
    cluster.stop()
    try:
        for call in (
            lambda: log.find(["s1"]),
            lambda: log.append("s2", [commit("s2")]),
            lambda: ledger.record(session(), request()),
            lambda: ledger.sessions(),
        ):
            with pytest.raises(LedgerFailed, match="cannot be reached") as failed:
                call()
            assert PASSWORD not in str(failed.value)
    finally:
        cluster.start()
    until = time.monotonic() + 30
    while True:
        try:
            assert log.find(["s1", "s2"]) == [commit("s1")]
            break
        except LedgerFailed:
            assert time.monotonic() < until, "the server is back, the ledger is not"
            time.sleep(0.1)
    ledger.record(session(), request())
    assert len(ledger.sessions()) == 1
    # A short absence that nobody noticed costs nothing: the first call opens a new connection.
    cluster.stop()
    cluster.start()
    assert list(log.append("s2", [commit("s2")])) == [commit("s2")]
    ledger.close()


def test_nothing_in_the_data_folder_is_for_others_to_read(file: Path) -> None:
    ledger = opened(file)
    ledger.record(session(), request(), messages=chat(2))
    names = {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()}
    assert names == dict.fromkeys(
        ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"), 0o600
    )
    assert file.parent.stat().st_mode & 0o777 == 0o700
    ledger.close()
    file.chmod(0o644)
    opened(file).close()
    assert file.stat().st_mode & 0o777 == 0o600


def test_no_secret_reaches_the_disk_and_what_was_purged_leaves_it(file: Path) -> None:
    ledger = opened(file)
    made = commit("s1", text="a very particular summary")
    ledger.commits("t").append("s1", [made])
    message = {"role": "user", "content": f"my key is {SECRET}"}
    told = entry(made, originals=(message,))
    ledger.record(session("a very particular task"), request("a very particular task"),
                  [], messages=[message])  # fmt: skip
    ledger.record(session(), request(), [told], messages=[message])

    def on_disk() -> bytes:
        return b"".join(path.read_bytes() for path in file.parent.iterdir())

    assert SECRET.encode() not in on_disk()
    assert b"very particular" in on_disk()
    assert ledger.purge() == 2
    assert b"very particular" not in on_disk()
    ledger.close()


def test_a_ledger_of_a_newer_version_is_refused_and_left_alone(store: str, opener: Opener) -> None:
    ledger = opener()
    newer = len(MIGRATIONS) + 1
    ledger._database.write(lambda c: c.execute(f"INSERT INTO migrations VALUES ({newer})"))
    with pytest.raises(LedgerFailed, match=f"layout {newer}, written by a newer statecomp"):
        open_ledger(store, mask=masked)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text TEXT)")
    other.close()
    with pytest.raises(LedgerFailed, match="another program's database"):
        opened(path)


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        ("", "empty"),
        ("mysql://host/db", "no ledger can be kept in mysql://"),
        ("postgresql://user:hunter22@:port:/x?y", "is no PostgreSQL address"),
        ("postgresql://user:hunter22@127.0.0.1:1/x", "cannot be reached"),
        ("/dev/null/ledger.sqlite", "cannot be opened"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_sentence(store: str, sentence: str) -> None:
    with pytest.raises(LedgerFailed, match=sentence) as failed:
        open_ledger(store, mask=masked)
    assert "hunter22" not in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_ledger_that_lasts_must_be_told_how_to_mask(tmp_path: Path) -> None:
    with pytest.raises(LedgerFailed, match="mask="):
        open_ledger(str(tmp_path / "ledger.sqlite"))
    open_ledger(":memory:").close()


def test_without_its_driver_a_postgresql_ledger_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "statecomp.ledger.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerFailed, match=r"pip install 'statecomp\[postgres\]'"):
        open_ledger("postgresql://host/db", mask=masked)


def test_processes_that_start_together_share_a_new_ledger(store: str, opener: Opener) -> None:
    with ExitStack() as stack:
        started = [stack.enter_context(writing(store, f"w{n}", 0, 2)) for n in range(3)]
        said = [process.communicate()[0].splitlines() for process in started]
    assert said[0] == said[1] == said[2]
    assert len(said[0]) == 2
    assert len(opener().sessions()) == 3


def test_a_closed_ledger_says_so(ledger: Ledger) -> None:
    ledger.close()
    with pytest.raises(LedgerFailed, match="closed"):
        ledger.commits("t").find(["s1"])
