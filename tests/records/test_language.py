"""A record in another language than its source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.records.writing.language import another_language

ENGLISH = "The tests were run and three of them failed with an error that was not seen before. " * 3
GERMAN = "Die Tests wurden ausgeführt und drei sind mit einem Fehler gescheitert, der neu ist. " * 3
CHINESE = "测试已经运行，其中三个失败，错误以前没有出现过。需要再次检查配置文件和数据库连接的状态。"


@pytest.mark.parametrize(
    ("record", "source", "expected"),
    [
        (ENGLISH, ENGLISH, ""),
        (GERMAN, ENGLISH, "German"),
        (ENGLISH, GERMAN, "English"),
        (GERMAN, GERMAN, ""),
        (CHINESE, ENGLISH, "Cjk letters"),
        (CHINESE, CHINESE, ""),
        (ENGLISH, CHINESE + "a", "Latin letters"),
        ("ran tests: 3 failed", GERMAN, ""),
        (ENGLISH, "x = 1\ny = 2\n" * 40, ""),
        (ENGLISH, "https://example.com/de/la com.example.das est.des.les /das/die/der\n" * 9, ""),
        (
            ENGLISH,
            '{"lang": "de", "locales": ["de-DE", "pt", "com"], "name": "die-cast"}\n' * 9,
            "",
        ),
    ],
)
def test_it_is_told_only_where_it_is_clear(record: str, source: str, expected: str) -> None:
    assert another_language(record, source) == expected


def test_a_record_may_be_in_the_language_of_the_page_of_the_agent_or_of_the_user() -> None:
    assert another_language(ENGLISH, GERMAN, ENGLISH) == ""
    assert another_language(GERMAN, GERMAN, ENGLISH) == ""
    assert another_language(CHINESE, ENGLISH, CHINESE) == ""
    assert another_language(GERMAN, ENGLISH, "", "x = 1") == "German"


@given(st.text(max_size=400))
def test_a_text_is_in_its_own_language(text: str) -> None:
    assert another_language(text, text) == ""
