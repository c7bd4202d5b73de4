"""A secret found anywhere in a conversation is a secret everywhere in it, of whatever kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.traces.secrets import Masker
from tests.traces.kinds import KINDS

EACH = pytest.mark.parametrize("name", KINDS)


def leaked(name: str, *texts: Any) -> list[str]:
    told = json.dumps(texts)
    return [part for part in KINDS[name].alone if json.dumps(part)[1:-1] in told]


@EACH
def test_a_secret_is_masked_where_its_surroundings_give_it_away(name: str) -> None:
    shown = KINDS[name].shown
    arguments = json.dumps({"command": shown})
    assert leaked(name, Masker().masked(shown)) == []
    assert leaked(name, Masker().masked({"arguments": arguments})) == []


@EACH
def test_what_one_message_gave_away_is_masked_in_the_others(name: str) -> None:
    known: dict[str, str] = {}
    masker = Masker()
    masker.learn({"role": "tool", "content": f"$ cat .env\n{KINDS[name].shown}\nend"}, known)
    for part in KINDS[name].alone:
        call = {"arguments": json.dumps({"cmd": f"try '{part}'"}), "content": f"- {part}"}
        assert leaked(name, masker.masked(call, known)) == []


def test_there_are_at_least_thirty_six_kinds() -> None:
    assert len(KINDS) >= 36


def test_what_is_no_secret_stays() -> None:
    plain = (
        "auth: AuthenticationService",
        "password: str = Field(...)",
        "mysql -p shop",
        "pytest -p no:cacheprovider",
        "the password is required",
        "cookie: theme=dark",
        "docker login -u me",
        "key=lambda item: item.name",
        "curl -u $USER:$PASS https://ci",
        "--token $TOKEN --secret {{ secret }}",
        "db.example:5432:shop:app:*",
        "src/password_reset/views.py:120: def reset(request, token=None):",
        "https://github.com/owner/repository",
    )
    for text in plain:
        assert Masker().text(text) == text
