"""A record in another language than its source."""

from __future__ import annotations

import json

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


PLAIN = "the parts were checked and the result is fine in the list of parts that was read\n" * 40


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("7. Tests ausgeführt: 3 Fehler in test_tabs\nGrenzwert max_rows beträgt 500", "German"),
        ("Tests liefen durch, alle Teile in Ordnung.", "German"),
        ("Uruchomiono testy, trzy nie przeszły; to jedyny nowy błąd w parserze", "Polish"),
        ("Uruchomiono testy\nWynosi pięćset wierszy, zły parser", "another language"),
        ("Tout est correct. Le fichier a été lu.", "French"),
        ("Les tests ont été lancés: 3 échecs", "French"),
        ("Todos los archivos fueron leídos y no hay errores", "Spanish"),
        ("Все детали проверены.", "Cyrillic letters"),
        ("所有零件都检查过了，没有发现问题。", "Cjk letters"),
        ("7. ran tests: 3 failed in test_tabs\nlimit max_rows: 500\nparser in src/parser.py", ""),
        ("the café was listed", ""),
    ],
)
def test_a_line_or_two_in_another_language_are_enough(lines: str, expected: str) -> None:
    assert another_language(f"Facts:\n- {lines}", PLAIN) == expected


CZECH = "Přečtu si soubor a spočítám řádky, které chybějí. " * 3


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("Tests ausgeführt, Grenzwert beträgt 500", GERMAN),
        ("Soubor přečten, řádků chybělo třicet", CZECH),
        ("Tests ausgeführt, Grenzwert beträgt 500", "Ich prüfe die Datei, dann führe ich es aus."),
    ],
)
def test_a_language_that_somebody_speaks_there_may_be_written(record: str, said: str) -> None:
    assert another_language(record, PLAIN) != ""
    assert another_language(record, PLAIN, said) == another_language(record, PLAIN, "", said) == ""
    assert another_language(record, f"{PLAIN}{said * 20}", said) == ""


@pytest.mark.parametrize(
    "value",
    [
        "Müller, Königsallee 5, Düsseldorf",
        "Fehler: die Datei ist nicht gelesen",
        "所有零件都检查过了",
    ],
)
def test_a_value_that_the_source_shows_is_in_no_language(value: str) -> None:
    for shown in (value, json.dumps(value)):
        assert another_language(f"3. read {value}", f"{PLAIN}{shown} was shown") == ""


@given(st.text(max_size=400))
def test_a_text_is_in_its_own_language(text: str) -> None:
    assert another_language(text, text) == ""
