"""The estimate keeps its promises on any text; exact counters are exact, or say why they cannot."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.tokens import ESTIMATE, count_message, counter_for, exact
from statecomp.tokens.message import BLOCK_TOKENS, MEDIA_TOKENS, MESSAGE_TOKENS

# Any code point, lone surrogates included: tools print them.
ANY_TEXT = st.text(st.characters())
# Few letters make long runs, which is where the patterns meet at a seam.
RUNS = st.text("aA0 .-\n\té漢\ud800", max_size=60)
# Two halves of a run of sixteen letters: the most that one seam can add.
SEAM = 10


class TestEstimate:
    def test_says_that_it_is_an_estimate(self) -> None:
        assert (ESTIMATE.name, ESTIMATE.exact) == ("estimate", False)

    @given(ANY_TEXT | RUNS)
    def test_is_zero_only_for_the_empty_text(self, text: str) -> None:
        assert (ESTIMATE(text) == 0) == (text == "")
        assert ESTIMATE(text) >= 0

    @given(ANY_TEXT | RUNS)
    def test_is_deterministic(self, text: str) -> None:
        assert ESTIMATE(text) == ESTIMATE(text[:1] + text[1:])

    @given(ANY_TEXT | RUNS, ANY_TEXT | RUNS)
    def test_a_joined_text_costs_about_its_parts(self, first: str, second: str) -> None:
        whole = ESTIMATE(first + second)
        assert whole <= ESTIMATE(first) + ESTIMATE(second) + SEAM
        assert whole >= max(ESTIMATE(first), ESTIMATE(second))

    @pytest.mark.parametrize(
        ("text", "exact"),  # exact: the mean of cl100k_base and o200k_base
        [
            ("The quick brown fox jumps over the lazy dog. It was not amused by this.", 17),
            ("def add(first: int, second: int) -> int:\n    return first + second\n", 19),
            ('{"name": "read_file", "arguments": {"path": "src/main.py", "limit": 200}}', 24),
            ("2024-05-17T10:42:03.118Z ERROR [worker-3] GET /api/v1/users/4711 500 12ms", 35),
            ("550e8400-e29b-41d4-a716-446655440000", 18),
            ("31415926535897932384626433832795", 11),
            ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43),
            ("モデルは長い履歴を短くする必要があります。", 18.5),
            ("Готово ✅", 5),
        ],
    )
    def test_is_near_the_exact_count(self, text: str, exact: float) -> None:
        assert ESTIMATE(text) == pytest.approx(exact, rel=0.2)

    def test_is_linear_in_long_texts(self) -> None:
        line = "The worker wrote 1,024 rows to /var/lib/app/data.db in 12 ms.\n"
        assert ESTIMATE(line * 20_000) == pytest.approx(20_000 * ESTIMATE(line), rel=0.05)

    @pytest.mark.parametrize("text", ["\ud83d", "a\udcffb", "\x00", "\U0010ffff", "\r\n", "\ufeff"])
    def test_takes_odd_characters(self, text: str) -> None:
        assert ESTIMATE(text) >= 1


class TestOpenAIModels:
    @pytest.fixture(autouse=True)
    def no_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a token counter opened a connection")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    @pytest.mark.parametrize("model", ["", "gpt-4o", "openai/gpt-4", "gpt2", "claude-x", "qwen"])
    def test_fall_back_without_a_vocabulary(
        self, model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
        assert counter_for(model) is ESTIMATE

    def test_fall_back_where_the_cache_is_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
        assert counter_for("gpt-4o") is ESTIMATE

    def test_leave_a_damaged_vocabulary_alone(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        # tiktoken itself would delete this file and download another.
        url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
        damaged = tmp_path / hashlib.sha1(url.encode()).hexdigest()
        damaged.write_bytes(b"IQ== 0\n")
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
        assert counter_for("gpt-4o") is ESTIMATE
        assert damaged.exists()

    def test_are_exact_with_a_vocabulary(self) -> None:
        pytest.importorskip("tiktoken")
        counter = counter_for("openai/gpt-4o")
        if not counter.exact:
            pytest.skip("tiktoken's vocabulary of gpt-4o is not on this machine")
        assert counter.name == "tiktoken:o200k_base"
        assert counter("hello world <|endoftext|> \ud800") > 3

    def test_known_hashes_are_those_of_tiktoken(self) -> None:
        public = pytest.importorskip("tiktoken_ext.openai_public")
        source = Path(public.__file__).read_text(encoding="utf-8")
        for file, digest in exact._VOCABULARIES.values():
            assert exact._VOCABULARY_URL.format(file) in source
            assert digest in source


class TestTokenizerFile:
    @pytest.fixture
    def tokenizer(self, tmp_path: Path) -> Path:
        """A real byte-pair tokenizer that has learnt one sentence, saved with a length limit."""
        library = pytest.importorskip("tokenizers")
        made = library.Tokenizer(library.models.BPE())
        made.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = library.pre_tokenizers.ByteLevel.alphabet()
        trainer = library.trainers.BpeTrainer(
            vocab_size=400, initial_alphabet=alphabet, show_progress=False
        )
        made.train_from_iterator(["the state of the agent"] * 20, trainer)
        made.enable_truncation(2)
        made.save(str(tmp_path / "tokenizer.json"))
        return tmp_path / "tokenizer.json"

    def test_is_exact_and_not_cut_off(self, tokenizer: Path) -> None:
        counter = counter_for(tokenizer=str(tokenizer))
        assert counter.exact
        assert counter.name == f"tokenizer.json:{tokenizer}"
        assert counter("the state of the agent") == 5
        assert counter("") == 0

    def test_a_folder_will_do_and_wins_over_the_model(self, tokenizer: Path) -> None:
        counter = counter_for("gpt-4o", tokenizer=str(tokenizer.parent))
        assert counter("the agent") == 2

    @given(ANY_TEXT)
    def test_takes_any_text(self, text: str) -> None:
        library = pytest.importorskip("tokenizers")
        count = exact._plain_encoder(library.Tokenizer(library.models.BPE()))
        assert count(text) >= 0

    def test_a_missing_file_is_bad_input(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"no such tokenizer file; give the path of"):
            counter_for(tokenizer=str(tmp_path / "nothing.json"))
        with pytest.raises(BadInput, match=r"tokenizer\.json: there is no such"):
            counter_for(tokenizer=str(tmp_path))

    def test_another_file_is_bad_input(self, tmp_path: Path) -> None:
        pytest.importorskip("tokenizers")
        (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
        with pytest.raises(BadInput, match=r"not a tokenizer\.json that"):
            counter_for(tokenizer=str(tmp_path))

    def test_a_missing_library_is_bad_input(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
        monkeypatch.setitem(sys.modules, "tokenizers", None)
        with pytest.raises(BadInput, match=r"pip install 'statecomp\[tokenizers\]'"):
            counter_for(tokenizer=str(tmp_path))


def test_importing_loads_no_tokenizer_library() -> None:
    code = "import sys, statecomp.tokens; print({'tiktoken', 'tokenizers'} & set(sys.modules))"
    folder = str(Path(exact.__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "set()"


class Characters:
    """Counts characters, so that what a message costs can be read off."""

    name = "characters"
    exact = False

    def __call__(self, text: str) -> int:
        return len(text)


def cost(message: dict[str, Any]) -> int:
    return count_message(message, Characters())


class TestMessages:
    def test_openai_chat(self) -> None:
        call = {"name": "ls", "arguments": '{"a":1}'}
        message = {
            "role": "assistant",
            "content": "hello",
            "reasoning": "hmm",
            "tool_calls": [{"id": "call_123", "type": "function", "function": call}],
        }
        assert cost(message) == MESSAGE_TOKENS + 9 + 5 + 3 + BLOCK_TOKENS + 1 + 2 + 7

    def test_anthropic(self) -> None:
        arguments = {"path": "ä.py", "n": [1, None]}
        message = {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hmm", "signature": "s" * 80},
                {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}},
                {"type": "tool_use", "id": "toolu_01", "name": "read", "input": arguments},
            ],
        }
        compact = len('{"path":"ä.py","n":[1,null]}')
        texts = 9 + (3 + 10) + 5 + (1 + 4 + compact)
        assert cost(message) == MESSAGE_TOKENS + 3 * BLOCK_TOKENS + texts

    def test_anthropic_results(self) -> None:
        blocks = [{"type": "text", "text": "done"}]
        result = {"type": "tool_result", "tool_use_id": "toolu_01", "content": blocks}
        message = {"role": "user", "content": [{**result, "is_error": False}]}
        assert cost(message) == MESSAGE_TOKENS + 4 + 2 * BLOCK_TOKENS + 1 + 4 + 1

    def test_openai_responses(self) -> None:
        call = {"type": "function_call", "call_id": "c" * 8, "name": "ls", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": "c" * 8, "output": "a b"}
        thought = {
            "type": "reasoning",
            "id": "rs_1",
            "status": "completed",
            "summary": [{"type": "summary_text", "text": "hmm"}],
            "encrypted_content": "e" * 800,
        }
        assert cost(call) == MESSAGE_TOKENS + 1 + 2 + 2
        assert cost(output) == MESSAGE_TOKENS + 1 + 3
        assert cost(thought) == MESSAGE_TOKENS + 1 + BLOCK_TOKENS + 3 + 100

    @pytest.mark.parametrize(
        "block",
        [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9999}},
            {"type": "input_image", "image_url": "https://example.org/a.png"},
            {"type": "image", "source": {"type": "base64", "data": "A" * 9999}},
            {"type": "document", "source": {"type": "base64", "data": "A" * 9999}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}},
            {"type": "input_audio", "input_audio": {"data": "A" * 9999, "format": "wav"}},
        ],
    )
    def test_media_cost_a_constant(self, block: dict[str, Any]) -> None:
        assert cost({"content": [block]}) == MESSAGE_TOKENS + BLOCK_TOKENS + MEDIA_TOKENS

    def test_a_text_document_is_text(self) -> None:
        source = {"type": "text", "media_type": "", "data": "four"}
        block = {"type": "document", "source": source}
        assert cost({"content": [block]}) == MESSAGE_TOKENS + BLOCK_TOKENS + 4

    def test_a_text_that_looks_like_a_file_is_text(self) -> None:
        assert cost({"content": "data:image/png;base64,AA"}) == MESSAGE_TOKENS + 24

    @pytest.mark.parametrize("key", ["content", "input"])
    def test_depth_is_no_limit(self, key: str) -> None:
        value: Any = "x"
        for _ in range(100_000):
            value = {"a": [value]}
        assert cost({key: value}) > MESSAGE_TOKENS
        while not isinstance(value, str):  # or the interpreter would free it recursively
            value = value["a"].pop()

    def test_arguments_named_like_media_are_arguments(self) -> None:
        block = {"type": "tool_use", "name": "draw", "input": {"type": "image"}}
        assert cost({"content": [block]}) == MESSAGE_TOKENS + BLOCK_TOKENS + 4 + 16

    def test_a_loop_ends(self) -> None:
        message: dict[str, Any] = {"content": [], "input": {}}
        message["content"].append(message)
        message["input"]["again"] = message["input"]
        assert cost(message) >= MESSAGE_TOKENS

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
            lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT | st.just("type"), inner),
        )
    )
    def test_takes_any_json(self, value: Any) -> None:
        for key in ("content", "input", "data"):
            assert count_message({key: value}, ESTIMATE) >= MESSAGE_TOKENS

    def test_the_same_block_twice_costs_twice(self) -> None:
        block = json.loads('{"type": "text", "text": "four"}')
        assert cost({"content": [block, block]}) == MESSAGE_TOKENS + 2 * (BLOCK_TOKENS + 4)
