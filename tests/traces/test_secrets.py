"""Secrets are masked wherever they stand, the same always alike, and nothing else is touched."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.traces.secrets import Masker

ALNUM = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA"
# Written in two halves, so that no scanner takes this file for a leak.
KEYS = {
    "openai": "sk-" + "proj-" + ALNUM,
    "anthropic": "sk-" + "ant-api03-" + ALNUM,
    "github": "ghp" + "_" + ALNUM + "abcd",
    "gitlab": "glpat" + "-" + ALNUM,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + ALNUM + "abc",
    "slack": "xoxb" + "-123456789012-abcdefGHIJ",
    "stripe": "sk_" + "live_" + ALNUM,
    "hugging-face": "hf" + "_" + ALNUM + "abcd",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + ALNUM,
    "private-key": "-----BEGIN RSA "
    + f"PRIVATE KEY-----\n{ALNUM * 2}\n{ALNUM}=\n-----END RSA PRIVATE KEY-----",
}


def masked(value: Any) -> tuple[Any, dict[str, int]]:
    masker = Masker()
    return masker.masked(value), dict(masker.counts)


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_tells_itself_in_any_text_or_field(kind: str) -> None:
    key = KEYS[kind]
    record = {
        "content": f"use {key}, please",
        "arguments": json.dumps({"command": f"curl -H 'x: {key}'"}),
        "deep": [{"reasoning": f"The key is\n{key}\n."}],
    }
    out, counts = masked(record)
    assert json.dumps(key)[1:-1] not in json.dumps(out)
    assert set(counts) == {kind}
    assert out["content"].startswith(f"use [masked:{kind}:")
    mask = out["content"].split()[1].rstrip(",")
    assert mask in out["deep"][0]["reasoning"]


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("export DB_API_KEY=Zx81kqPw22Lm", "Zx81kqPw22Lm", "secret-value"),
        ('"password": "hunter2hunter"', "hunter2hunter", "password"),
        (r"{\"api_key\": \"Zx81kqPw22Lm\"}", "Zx81kqPw22Lm", "secret-value"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/b",
            "wJalrXUtnFEMI/K7MDENG/b",
            "secret-value",
        ),
        ("Authorization: Bearer abc123def456ghi789", "abc123def456ghi789", "authorization"),
        ("a bearer abc123def456ghi789", "abc123def456ghi789", "bearer"),
        ("curl -H 'authorization: Basic dXNlcjpwYXNzMTIz'", "dXNlcjpwYXNzMTIz", "authorization"),
        ("postgres://ada:s3cr3t@db:5432/x", "s3cr3t", "url-password"),
    ],
)
def test_a_value_is_given_away_by_its_context(text: str, secret: str, kind: str) -> None:
    out, counts = masked(text)
    assert secret not in out
    assert counts == {kind: 1}
    assert out.split("[masked:")[0] == text.split(secret)[0]


def test_what_a_field_is_named_gives_its_value_away() -> None:
    out, _ = masked({"llm": {"api_key": "Zx81kqPw22Lm", "max_tokens": 5, "token_count": "12"}})
    assert out["llm"]["api_key"].startswith("[masked:secret-value:")
    assert out["llm"]["max_tokens"] == 5
    assert out["llm"]["token_count"] == "12"


def test_a_value_given_away_once_is_masked_where_it_stands_alone() -> None:
    out, counts = masked(["PASSWORD=Tr0ub4dor-and-3", "the login is Tr0ub4dor-and-3 indeed"])
    assert out[0].removeprefix("PASSWORD=") in out[1]
    assert counts == {"password": 2}


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['DB_PASSWORD']",
        "API_KEY=$OPENAI_API_KEY",
        "token = get_token(user2)",
        "max_tokens: 32000",
        "class='sk-loading-indicator-wrapper'",
        "git clone https://github.com/a/b",
        "secret: see https://docs.example.com/v1/secrets",
        'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"):',
        "commit 97b5852b52a7f69155826eee6cdf165e97b5852b",
        "postgres://ada:${PASSWORD}@db/x",
    ],
)
def test_code_names_and_references_stay(text: str) -> None:
    assert masked(text) == (text, {})


def test_numbered_and_escaped_private_keys_are_masked_whole() -> None:
    body = [ALNUM * 2, ALNUM * 2, ALNUM]
    shown = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(body, start=2))
    key = f"-----BEGIN PRIVATE KEY-----\n{shown}\n     5\t-----END PRIVATE KEY-----"
    for text in (key, json.dumps(key)):
        assert ALNUM not in Masker().text(f"cat key.pem\n{text}\ndone")


@settings(max_examples=200, deadline=None)
@given(
    before=st.text(max_size=60),
    after=st.text(max_size=60),
    kind=st.sampled_from(sorted(KEYS)),
    gap=st.sampled_from([" ", "\n", '"', "=", "(", ": "]),
)
def test_a_planted_key_never_survives(before: str, after: str, kind: str, gap: str) -> None:
    out = Masker().text(before + gap + KEYS[kind] + gap + after)
    assert KEYS[kind] not in out


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.integers()
        | st.text(max_size=80)
        | st.lists(
            st.sampled_from([*KEYS.values(), "token=", "://", ":", "@", "password: ", "bearer "])
            | st.text(string.printable, max_size=12),
            max_size=8,
        ).map("".join),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=8,
    )
)
def test_masking_never_raises_and_masks_nothing_twice(value: Any) -> None:
    once = Masker().masked(value)
    again = Masker()
    assert again.masked(once) == once
    assert not again.counts


def test_a_key_ends_where_no_key_is_longer() -> None:
    """One of ten megabytes would be looked for in one go, in which nobody else gets a turn."""
    lines = [f"{number:04}{ALNUM}" for number in range(3000)]
    text = "\n".join(("-----BEGIN RSA " + "PRIVATE KEY-----", *lines))
    masked = str(Masker().masked({"content": text})["content"])
    assert not any(line in masked for line in lines[:2000])
    assert all(line in masked for line in lines[2100:])
