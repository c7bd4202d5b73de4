"""Who writes records, as a person says it behind a strategy's name."""

from __future__ import annotations

import pytest

from statecomp.baselines.periodic import summarizer_of
from statecomp.config.records import model_records
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.situation import Situation
from statecomp.llm.chat import ChatUsage, Completion
from statecomp.llm.side import SideAccount
from statecomp.options import Options, Settings
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import history_of
from statecomp.writers import ModelRecords


def read(written: str, chat: ScriptedChat) -> ModelRecords:
    options = Options("statecomp", f"records=chat:scripted,{written}")
    settings = Settings(chats={"scripted": chat})
    records = model_records(options, settings, ExtractiveSummarizer(), shipped_prices())
    assert records is not None
    return records


@pytest.mark.parametrize(("written", "waits_s"), [("records_wait=900", 900.0), ("", 30.0)])
def test_a_model_has_as_long_as_was_said_for_its_record(written: str, waits_s: float) -> None:
    chat = ScriptedChat(lambda asked: "no record")
    records = read(written, chat)
    writer = records.writer(SideAccount(), chat, records.credit())
    writer.summarize(history_of("prr").interactions, Situation())
    assert {asked.deadline_s for asked in chat.asked} == {waits_s}


@pytest.mark.parametrize(("written", "waits_s"), [(",records_wait=900", 900.0), ("", 30.0)])
def test_so_it_has_for_the_records_of_other_methods(written: str, waits_s: float) -> None:
    chat = ScriptedChat(lambda asked: "no record")
    options = Options("periodic", f"records=chat:scripted{written}")
    usual = ExtractiveSummarizer()
    writer = summarizer_of(options, Settings(chats={"scripted": chat}), usual)(SideAccount())
    with pytest.raises(SummaryFailed):
        writer.summarize(history_of("prr").interactions, Situation())
    assert {asked.deadline_s for asked in chat.asked} == {waits_s}


def test_what_a_cache_gave_of_the_instructions_is_billed_as_read_from_it() -> None:
    told = Completion('{"facts": ["all was fine"]}', ChatUsage(1500, 10, cached_tokens=1400))
    chat, account = ScriptedChat([told], model="gpt-5-mini"), SideAccount()
    records = ModelRecords(ExtractiveSummarizer(), chat)
    writer = records.writer(account, chat, records.credit())
    writer.summarize(history_of("prr").interactions, Situation())
    prices = shipped_prices().of("gpt-5-mini")
    owed = 100 * prices.input + 1400 * prices.cached + 10 * prices.output
    assert [call.dollars for call in account.drain()] == [pytest.approx(owed / 1e6)]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_wait_that_is_none_is_refused(seconds: str) -> None:
    with pytest.raises(BadInput, match="records_wait"):
        read(f"records_wait={seconds}", ScriptedChat(()))
