"""A service that has its states judged in a process of their own."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children

import pytest

from statecomp.method import Method
from statecomp.proxy.settings import Limits
from statecomp.testing.provider.app import ScriptedUpstream
from tests.proxy.conversations import CHAT, TONGUES, Tongue
from tests.proxy.serving import EAGER, Proxied, proxied
from tests.proxy.test_records_same import SAID, SAME, Writing, agent, asked, talk
from tests.proxy.upstream import TASK
from tests.proxy.upstream import upstream as scripted

ONE = Limits(processes=1)
RECORD = "[Record of past steps"


def eager() -> Method:
    return EAGER


def same() -> Method:
    return SAME


def went_out(proxy: Proxied) -> list[bytes]:
    return [received.raw for received in agent(proxy)]


@pytest.mark.parametrize("tongue", TONGUES.values(), ids=TONGUES)
def test_what_goes_out_is_what_would_go_out_without_it(tongue: Tongue) -> None:
    with proxied(scripted(12)) as here, proxied(scripted(12), opens=eager, limits=ONE) as there:
        for proxy in (here, there):
            talk(proxy, tongue)
        assert went_out(there) == went_out(here)
        assert RECORD in went_out(there)[-1].decode()
        assert there.refusals == []


def test_a_judge_that_is_killed_between_requests_is_replaced() -> None:
    with proxied(scripted(12), opens=eager, limits=ONE) as proxy:
        histories = list(CHAT.growing([*CHAT.user(TASK), *CHAT.run(8)]))
        for number, history in enumerate(histories):
            assert proxy.post(CHAT, CHAT.body(history)).status_code == 200
            if number == len(histories) // 2:
                for child in active_children():
                    os.kill(child.pid or 0, signal.SIGKILL)
                    child.join()
        assert RECORD in went_out(proxy)[-1].decode()
        assert proxy.refusals == []


def test_the_clients_own_model_is_asked_from_here_and_keys_stay_here() -> None:
    with proxied(ScriptedUpstream(Writing()), method=SAME, opens=same, limits=ONE) as proxy:
        talk(proxy, CHAT)
        assert asked(proxy)
        assert SAID in agent(proxy)[-1].raw.decode()
        assert proxy.refusals == []


def test_nothing_of_it_is_left_when_the_service_has_ended() -> None:
    with proxied(scripted(4), opens=eager, limits=ONE) as proxy:
        talk(proxy, CHAT, 2)
        assert active_children()
    assert active_children() == []
