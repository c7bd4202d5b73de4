"""The account: what was recorded is what is read, and losing it never changes what goes out."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.interaction import JsonObject
from statecomp.ledger import ledger as module
from statecomp.ledger import retention, schema
from statecomp.ledger.audit import LedgerFailed, Regret, Sums, Told, Totals
from statecomp.ledger.database import Connection, Rows
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.log import body_of
from statecomp.ledger.open import open_ledger
from statecomp.ledger.pages import SECRET_BYTES, Pages, message_in
from statecomp.ledger.retention import RetentionLimits
from statecomp.recent import MEMORY
from statecomp.tokens.usage import Usage
from tests.growth import growth
from tests.ledger.conftest import Opener
from tests.ledger.samples import SECRET, chat, commit, entry, masked, request, session, transaction


def test_what_was_recorded_is_what_another_process_reads(ledger: Ledger, opener: Opener) -> None:
    made = commit("s1", text="lone \ud800, nul \x00, \U0001f600")
    told = entry(made)
    regret = Regret("run", 1, made.id, "lost identifier", "src/app.py")
    ledger.commits("t").append("s1", [made])
    ledger.record(session(), request(note="why\x00"), [told], [regret], chat(3))
    other = opener()
    assert other.requests("run") == [request(note="why\x00")]
    assert other.entries("run") == [told]
    assert other.regrets("run") == [regret]
    assert other.messages("run") == chat(3)
    sums = Totals(1, 1000, 400, 0.5, 0.75, 1, 1, Usage(400, 100, 50, 20))
    assert other.session("run") == replace(session(), totals=sums, note="why\x00")
    assert other.totals() == sums
    assert other.session("another") is None
    assert not any(read("another") for read in (other.requests, other.entries, other.messages))


def test_sessions_come_latest_first_and_sum_their_own_requests(ledger: Ledger) -> None:
    for number, name in enumerate(("a", "b", "c", "a"), start=1):
        regret = Regret(name, number, "c", "repeated call", "ls")
        about = session(name, last_s=1_000.0 + number)
        told = [entry(commit(f"{name}{number}"), name)]
        ledger.record(about, request(name, number), told, [regret])
    found = [(s.id, s.last_s, s.totals) for s in ledger.sessions()]
    assert [(name, last_s) for name, last_s, _ in found] == [
        ("a", 1_004.0),
        ("c", 1_003.0),
        ("b", 1_002.0),
    ]
    assert [(t.requests, t.commits, t.regrets) for _, _, t in found] == [
        (2,) * 3,
        (1,) * 3,
        (1,) * 3,
    ]
    assert [s.id for s in ledger.sessions(1)] == ["a"]
    assert ledger.totals().raw_tokens == 4000
    assert ledger.totals().raw_dollars - ledger.totals().sent_dollars == -1.0


def test_what_was_only_observed_is_summed_apart_from_what_was_saved(ledger: Ledger) -> None:
    made, seen = commit("s1"), commit("s2")
    ledger.commits("t").append("s1", [made])
    regrets = [Regret("run", n, "c", "repeated call", "ls") for n in (1, 2)]
    ledger.record(session(), request(), [entry(made)], regrets[:1])
    observed = request(number=2, mode="observe", raw_tokens=3000, sent_tokens=500)
    ledger.record(session(), observed, [entry(seen, state="observed")], regrets[1:])
    usage = Usage(800, 200, 100, 40)
    would = Sums(1, 3000, 500, 0.5, 0.75, 1, 1)
    totals = Totals(2, 4000, 3400, 1.0, 1.25, 1, 1, usage, would)
    assert ledger.totals() == totals
    assert [one.totals for one in ledger.sessions()] == [totals]
    assert (totals.saved_tokens, totals.observed.saved_tokens) == (600, 2500)
    assert totals.acted == Sums(1, 1000, 400, 0.5, 0.75, 1, 1)


def test_what_came_after_a_request_is_read_without_what_came_before(ledger: Ledger) -> None:
    assert ledger.last_number("run") == 0
    for number in (1, 2, 5):
        ledger.record(session(), request(number=number))
    ledger.record(session("other"), request("other", 9))
    assert ledger.requests("run", after=2) == [request(number=5)]
    assert [len(ledger.requests("run", after=after)) for after in (0, 1, 4, 5)] == [3, 2, 1, 0]
    assert ledger.last_number("run") == 5


def test_a_history_is_stored_as_what_is_new(ledger: Ledger) -> None:
    def count(table: str) -> int:
        ((rows,),) = ledger._database.look(lambda c: c.execute(f"SELECT count(*) FROM {table}"))
        return int(rows)

    for length in range(1, 11):
        ledger.record(session(), request(number=length), messages=chat(length))
    assert ledger.messages("run") == chat(10)
    assert count("pages") == 11
    ledger.record(session("fork"), request("fork"), messages=chat(10))
    assert (count("pages"), count("page_uses")) == (11, 22)
    edited = [*chat(5), {"role": "user", "content": "no, otherwise"}]
    ledger.record(session(), request(number=11), messages=edited)
    assert ledger.messages("run") == edited
    assert ledger.messages("fork") == chat(10)


def test_a_session_recorded_by_a_process_that_knows_nothing_of_it_goes_on(opener: Opener) -> None:
    first, second = opener(), opener()
    first.record(session(), request(number=1), messages=chat(4))
    second.record(session(), request(number=2), messages=chat(6))
    first.record(session(), request(number=3), messages=chat(8))
    second.purge(session="run")
    first.record(session(), request(number=4), messages=chat(9))
    assert second.messages("run") == chat(9)
    assert [r.number for r in second.requests("run")] == [4]


def test_two_workers_that_count_alike_both_keep_their_request(opener: Opener) -> None:
    first, second = opener(), opener()
    regret = Regret("run", 1, "c", "repeated call", "ls")
    first.record(session(), request(when_s=1.5, raw_tokens=1))
    second.record(session(), request(when_s=2.5, raw_tokens=2), regrets=[regret])
    assert [(r.number, r.raw_tokens) for r in first.requests("run")] == [(1, 1), (2, 2)]
    assert [r.request for r in first.regrets("run")] == [2]


def test_a_request_told_again_replaces_what_was_told(ledger: Ledger) -> None:
    regret = Regret("run", 1, "c", "repeated call", "ls")
    ledger.record(session(), request(status=0), regrets=[regret])
    ledger.record(session(), request(status=200), regrets=[regret])
    assert ledger.requests("run") == [request(status=200)]
    assert ledger.regrets("run") == [regret]


def test_requests_told_together_are_those_told_one_by_one(opener: Opener) -> None:
    told = [
        Told(session(name), request(name, number, when_s=number), messages=chat(2 * number))
        for number in range(1, 6)
        for name in ("run", "other")
    ]
    ledger = opener()
    ledger.record_all(told)
    ledger.record_all(told[-3:])  # told again
    for name in ("run", "other"):
        assert ledger.requests(name) == [one.request for one in told if one.session.id == name]
        assert ledger.messages(name) == chat(10)


def test_the_same_number_twice_in_what_is_told_together_is_put_apart(ledger: Ledger) -> None:
    ledger.record_all([Told(session(), request(when_s=when)) for when in (1.5, 2.5)])
    assert [(r.number, r.when_s) for r in ledger.requests("run")] == [(1, 1.5), (2, 2.5)]


class Planned:
    """A connection that notes how SQLite goes about what it is asked of requests."""

    def __init__(self, connection: Connection, plans: list[str]) -> None:
        self._connection = connection
        self._plans = plans

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        if "FROM requests" in sql:
            plan = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
            self._plans += [str(step) for step in plan if "requests" in str(step)]
        return self._connection.execute(sql, values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_a_long_session_is_not_searched_for_each_of_its_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, plans = open_ledger(str(tmp_path / "l.db"), mask=masked), list[str]()
    write = ledger._database.write
    planned = lambda work: write(lambda connection: work(Planned(connection, plans)))  # noqa: E731
    monkeypatch.setattr(ledger._database, "write", planned)
    for number in (1, 2, 2):
        ledger.record(session(), request(number=number, when_s=float(number)))
    ledger.close()
    assert plans
    assert all("session=? AND number" in plan for plan in plans)


def test_a_session_never_changes_hands(ledger: Ledger) -> None:
    ledger.record(session(), request())
    with pytest.raises(LedgerFailed, match="another tenant"):
        ledger.record(session(tenant="other"), request(number=2))
    assert len(ledger.requests("run")) == 1


def test_secrets_are_masked_in_everything_for_people_and_nothing_else(ledger: Ledger) -> None:
    made = commit("s1", text=f"token={SECRET}")
    ledger.commits("t").append("s1", [made])
    message = {"role": "tool", "content": f"export TOKEN={SECRET}"}
    told = entry(made, ruling={"why": SECRET}, originals=(message,))
    regret = Regret("run", 1, made.id, "repeated call", f"curl -H {SECRET}")
    about = replace(session(), title=f"use {SECRET}")
    ledger.record(about, request(note=SECRET), [told], [regret], [message])
    shown = ledger.session("run"), ledger.requests("run"), ledger.entries("run")
    everything = repr((*shown, ledger.regrets("run"), ledger.messages("run")))
    assert SECRET not in everything
    assert everything.count("[masked:github:") == 8
    # What goes out must go out again as it was.
    assert ledger.commits("t").find(["s1"]) == [made]


def test_a_secret_that_is_given_away_later_is_masked_in_what_was_regretted(ledger: Ledger) -> None:
    password = "Zx81kqPw22Lm"
    regret = Regret("run", 1, "c", "repeated call", f"login {password}")
    ledger.record(session(), request(), regrets=[regret], messages=chat(1))
    told = [*chat(1), {"role": "tool", "content": f"password: {password}"}]
    ledger.record(session(), request(number=2), messages=told)
    assert "login [masked:password:" in repr(ledger.regrets("run"))
    assert password not in repr(ledger.regrets("run"))


def test_a_new_secret_in_each_step_costs_no_more_than_the_step() -> None:
    """All of the conversation was masked anew with each, which takes the square of its length."""

    def told(steps: int) -> None:
        pages, messages = Pages(masked), list[JsonObject]()
        for number in range(steps):
            output = f"password: Zx81kq{number}Pw22Lm\n" + "a line of text and more\n" * 40
            messages.append({"role": "tool", "content": output})
            seen = pages.of_history("run", messages)
        assert len(seen.secrets) == steps

    assert growth(told, 15, 120, 8, enough=3) < 3


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
def test_whatever_order_secrets_come_to_light_in_all_of_them_are_masked(
    steps: list[tuple[int, bool]],
) -> None:
    """Only what may hold one that is new is masked anew; it must be the same as all of it."""
    passwords = [f"Zx81kq{number}Pw22Lm" for number in range(4)]
    messages: list[JsonObject] = []
    pages, known = Pages(masked), dict[str, str]()
    for number, gives_away in steps:
        said = f"password: {passwords[number]}" if gives_away else f"try {passwords[number]} now"
        messages.append({"role": "tool", "content": said})
        masked(messages[-1], known)
        made = pages.of_history("run", messages).pages
        assert [message_in(page.body) for page in made] == [masked(m, known) for m in messages]


def test_the_secrets_of_a_conversation_count_in_the_budget_of_memory() -> None:
    before, pages = MEMORY.bytes, Pages(masked)
    told = "\n".join(f"token=a1B2c3D4e5F6g7H{number}" for number in range(2000))
    pages.of_history("run", [{"role": "tool", "content": told}])
    assert len(pages.seen("run").secrets) == 2000
    assert MEMORY.bytes - before > 2000 * SECRET_BYTES


def test_an_entry_is_found_by_a_beginning_that_only_one_commit_has(ledger: Ledger) -> None:
    one, two = replace(commit("s1"), id="abc1"), replace(commit("s2"), id="abd2")
    ledger.record(session(), request(), [entry(one), entry(two)])
    found = ledger.entry("abc")
    assert found is not None
    assert found.commit == one
    assert ledger.entry("abd2") == entry(two)
    assert ledger.entry("ab") is ledger.entry("") is ledger.entry("x") is ledger.entry("%") is None


def test_undo_makes_a_span_raw_for_good_and_shows(ledger: Ledger, opener: Opener) -> None:
    kept, undone = transaction("s1")
    log = ledger.commits("t")
    log.append("s1", [kept, undone])
    ledger.record(session(), request(), [entry(kept), entry(undone)])
    assert ledger.undo(undone.id, "it needed the schema")
    assert ledger.undo(undone.id, "it needed the schema"), "twice is once"
    assert not ledger.undo("unknown")
    other = opener()
    for found in (log, other.commits("t")):
        assert found.find(["s1"]) == [kept]
        assert found.held([*undone.sources, *kept.sources]) == dict.fromkeys(
            undone.sources, "it needed the schema"
        )
        # Not by the same state, nor by any other.
        assert list(found.append("s1", [undone])) == [kept]
        assert list(found.append("s2", [replace(undone, id="new", at="s2")])) == []
    assert [e.state for e in other.entries("run")] == ["live", "undone"]
    assert other.totals().commits == 1


def test_a_suspect_commit_is_raw_again_for_its_tenant_only(ledger: Ledger) -> None:
    made = commit("s1")
    for tenant in ("t", "u"):
        ledger.commits(tenant).append("s1", [made])
        ledger.record(session(tenant, tenant=tenant), request(tenant), [entry(made, tenant)])
    assert ledger.suspect(made.id, "the provider said 400", tenant="t")
    assert ledger.commits("t").find(["s1"]) == []
    assert ledger.commits("u").find(["s1"]) == [made]
    assert [ledger.entries(t)[0].state for t in ("t", "u")] == ["suspect", "live"]
    assert ledger.undo(made.id)
    assert ledger.suspect(made.id, "again")
    assert [ledger.entries(t)[0].state for t in ("t", "u")] == ["undone", "undone"]


def test_what_was_only_observed_is_no_commit_and_can_still_be_forbidden(ledger: Ledger) -> None:
    made = commit("s1")
    ledger.record(session(), request(mode="observe"), [entry(made, state="observed")])
    assert ledger.totals().commits == 0
    assert ledger.commits("t").find(["s1"]) == []
    assert ledger.undo(made.id)
    assert ledger.commits("t").held(made.sources).keys() == set(made.sources)
    ledger.record(session(), request(number=2), [entry(made, state="observed")])
    assert [e.state for e in ledger.entries("run")] == ["undone"]


def test_deleting_the_account_never_changes_what_goes_out(store: str) -> None:
    limits = RetentionLimits(max_age_days=1)
    ledger = open_ledger(store, mask=masked, limits=limits)
    log = ledger.commits("t")
    kept, undone = transaction("s1")
    log.append("s1", [kept, undone])
    ledger.undo(undone.id)
    log.refuse(["a"], "long ago, but told just now")
    ledger.record(session(), request(), [entry(kept)], messages=chat(3))
    ledger.sweep()
    assert ledger.sessions() == []
    assert not ledger.entries("run")
    assert not ledger.messages("run")
    assert log.find(["s1"]) == [kept]
    assert log.held(undone.sources)
    assert log.refused(["a"])
    left = ledger.entry(kept.id)
    assert left is not None
    assert (left.commit, left.session, left.originals) == (kept, "", ())
    ledger.close()


def test_the_oldest_sessions_go_when_there_is_too_much(store: str) -> None:
    ledger = open_ledger(
        store, mask=masked, limits=RetentionLimits(max_age_days=1e6, max_bytes=60_000)
    )
    for number in range(10):
        name = f"run{number}"
        noise = random.Random(number).randbytes(8_000).hex()  # which no compression makes small
        messages = [{"role": "user", "content": noise}]
        ledger.record(session(name, last_s=1_000.0 + number), request(name), messages=messages)
    before = [s.id for s in ledger.sessions()]
    ledger.sweep()
    after = [s.id for s in ledger.sessions()]
    assert 1 <= len(after) < len(before)
    assert after == before[: len(after)]
    assert all(ledger.messages(name) for name in after)
    ledger.close()


def test_a_commit_goes_only_when_nothing_has_used_it_for_long(store: str) -> None:
    ledger = open_ledger(store, mask=masked, limits=RetentionLimits(idle_commit_days=30))
    log = ledger.commits("t")
    for at in ("used", "idle"):
        log.append(at, [commit(at)])
    assert [c.at for c in log.find(["used", "idle"])] == ["used", "idle"]
    ledger.sweep()
    long_ago = "UPDATE commits SET used_s = 1.0"
    ledger._database.write(lambda c: c.execute(long_ago))
    assert [c.at for c in log.find(["used"])] == ["used"]
    ledger.sweep()
    assert [c.at for c in log.find(["used", "idle"])] == ["used"]
    ledger.close()


def test_others_write_while_it_is_added_up_what_is_stored(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two seconds for a gigabyte, in which nobody could write down what goes out."""
    ledger, other = opener(), opener()
    add_up = retention.stored_bytes

    def while_others_write(connection: Connection) -> int:
        other.commits("t").send("seen", ["c"])
        return add_up(connection)

    monkeypatch.setattr(retention, "stored_bytes", while_others_write)
    ledger.sweep()
    assert other.commits("t").sent("seen") == ("c",)


@pytest.mark.parametrize("limits", [RetentionLimits(max_age_days=1), RetentionLimits(1e6, 1)])
def test_a_long_session_is_deleted_a_part_at_a_time_and_leaves_nothing(
    store: str, limits: RetentionLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 4)
    ledger = open_ledger(store, mask=masked, limits=limits)
    ledger.record(session("old"), request("old"), [entry(commit("s1"), "old")], messages=chat(30))
    ledger.record(session("new", last_s=time.time()), request("new"), messages=chat(3))
    ledger.sweep()
    assert [s.id for s in ledger.sessions()] == ["new"]
    assert ledger.messages("new") == chat(3)
    rows = ledger._database.look(lambda c: c.execute("SELECT count(*) FROM pages"))
    assert rows == [(4,)]  # those of the old one that the new one has too
    uses = ledger._database.look(lambda c: c.execute("SELECT DISTINCT session FROM page_uses"))
    assert uses == [("new",)]
    ledger.close()


def test_recording_sweeps_now_and_then(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SWEEP_EVERY", 3)
    ledger = open_ledger(store, mask=masked, limits=RetentionLimits(max_age_days=1))
    for number in range(1, 3):
        ledger.record(session(), request(number=number))
    assert len(ledger.sessions()) == 1
    ledger.record(session(), request(number=3))
    assert ledger.sessions() == []
    ledger.close()


def test_purge_deletes_a_session_with_its_commits_and_nothing_else(ledger: Ledger) -> None:
    for name, last_s in (("old", 1_000.0), ("new", 9_000.0)):
        made = commit(name)
        ledger.commits("t").append(name, [made])
        ledger.record(
            session(name, last_s=last_s), request(name), [entry(made, name)], messages=chat(3, name)
        )
    ledger.commits("t").append("unaccounted", [commit("unaccounted")])
    assert ledger.purge(session="old", before_s=500.0) == 0
    assert ledger.purge(before_s=5_000.0) == 1
    assert [s.id for s in ledger.sessions()] == ["new"]
    log = ledger.commits("t")
    assert [c.at for c in log.find(["old", "new", "unaccounted"])] == ["new", "unaccounted"]
    assert ledger.messages("new") == chat(3, "new")
    assert ledger.purge() == 1
    assert log.find(["old", "new", "unaccounted"]) == []
    assert ledger.totals() == Totals()


def test_a_shared_commit_stays_for_the_session_that_still_has_it(ledger: Ledger) -> None:
    made = commit("s1")
    ledger.commits("t").append("s1", [made])
    for name in ("a", "b"):
        ledger.record(session(name), request(name), [entry(made, name)])
    ledger.purge(session="a")
    assert ledger.commits("t").find(["s1"]) == [made]
    ledger.purge(session="b")
    assert ledger.commits("t").find(["s1"]) == []


def test_a_ledger_of_the_first_layout_is_read_and_written_by_this_one(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        first = opener()
        written = ("t", "s1", 0, commit("s1").id, body_of(commit("s1")), 1.0, 1.0)
        first._database.write(
            lambda c: c.execute(
                "INSERT INTO commits (tenant, at_id, place, id, body, when_s, used_s, state,"
                " version) VALUES (?, ?, ?, ?, ?, ?, ?, 'live', 1)",
                written,
            )
        )
    second = opener()
    second.record(session(), request(outside_tokens=77))
    assert second.commits("t").find(["s1"]) == [commit("s1")]
    assert second.requests("run") == [request(outside_tokens=77)]
    assert second.totals().outside_tokens == 77


def test_a_name_of_a_model_that_no_column_carries_is_recorded_nearly(ledger: Ledger) -> None:
    ledger.record(session(), request(model="gpt\ud800\x005"))
    assert [r.model for r in ledger.requests("run")] == ["gpt? 5"]


def test_a_clock_that_jumps_back_orders_nothing_anew(ledger: Ledger) -> None:
    for number, when_s in enumerate((5_000.0, 4_000.0, 4_500.0), start=1):
        about = replace(session(), started_s=5_000.0, last_s=when_s)
        ledger.record(about, request(number=number, when_s=when_s))
    assert [r.number for r in ledger.requests("run")] == [1, 2, 3]
    (found,) = ledger.sessions()
    assert (found.started_s, found.last_s, found.totals.requests) == (5_000.0, 5_000.0, 3)
