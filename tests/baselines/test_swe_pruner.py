"""SWE-Pruner: the lines of a fresh observation that a question is about, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.baselines.lines import LEXICAL, telling_lines
from statecomp.baselines.swe_pruner import NOTE, POLICY, pruned, with_focus
from statecomp.baselines.swe_pruner_model import by_line, chunks, open_reranker
from statecomp.baselines.tools import Use
from statecomp.errors import BadInput, ScoringFailed
from statecomp.history.interaction import Call, JsonObject
from tests.baselines.steps import TASK, built, call, history, run_of, sent, step

CODE = "\n".join(
    [
        "import os",
        "",
        "def load_settings(path):",
        "    text = open(path).read()",
        "    return parse(text)",
        "",
        *(
            f"def unrelated_{n}(value):\n    total = value * {n}\n    return total\n"
            for n in range(30)
        ),
        "def retry_request(url, attempts=5):",
        "    for attempt in range(attempts):",
        "        wait = 2 ** attempt",
        "        send(url, wait)",
    ]
)
LOG = "\n".join(
    [
        *(f"10:00:{n:02d} INFO heartbeat from worker {n}" for n in range(60)),
        "10:01:00 ERROR payment gateway refused the card ending 4471",
        *(f"10:02:{n:02d} INFO heartbeat from worker {n}" for n in range(60)),
    ]
)
QUESTION = "How many attempts does a request retry make?"


def test_without_a_question_the_output_is_raw() -> None:
    strategy = built("swe-pruner")
    assert strategy.on_observation(call("read", path="a.py"), CODE) == CODE
    assert strategy.on_observation(call("read", path="a.py", focus="  "), CODE) == CODE
    assert strategy.on_observation(Call("c", "read", "no json"), CODE) == CODE


def test_a_short_output_is_raw_whatever_is_asked() -> None:
    short = CODE[:500]
    assert built("swe-pruner").on_observation(call("read", focus=QUESTION), short) == short


@pytest.mark.parametrize(
    ("text", "question", "kept", "gone"),
    [
        (CODE, QUESTION, "def retry_request(url, attempts=5):", "unrelated_7"),
        (LOG, "Which card did the payment gateway refuse?", "card ending 4471", "worker 30"),
    ],
)
def test_with_a_question_only_what_it_is_about_is_left(
    text: str, question: str, kept: str, gone: str
) -> None:
    answer = built("swe-pruner").on_observation(call("read", focus=question), text)
    assert answer.startswith(NOTE)
    assert kept in answer
    assert gone not in answer
    assert "(filtered " in answer
    assert len(answer) < len(text) / 4


def test_every_outcome_is_said_before_the_text() -> None:
    strategy = built("swe-pruner")
    lost = strategy.on_observation(call("read", focus="zebra quagga"), CODE)
    assert "this is the full output" in lost
    assert lost.endswith(CODE)
    same = "retry attempts of the request\n" * 40
    assert "All of it" in strategy.on_observation(call("read", focus=QUESTION), same)


def test_pruning_twice_is_pruning_once() -> None:
    strategy = built("swe-pruner")
    once = strategy.on_observation(call("read", focus=QUESTION), CODE)
    assert strategy.on_observation(call("read", focus=QUESTION), once) == once


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ((0.9, 0.1, 0.9), "aaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbb|cccccccccccccccccccc"),
        ((0.9, 0.5, 0.1), "aaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbb|(filtered 1 lines)"),
        ((0.1, 0.1, 0.9), "(filtered 2 lines)|cccccccccccccccccccc"),
    ],
)
def test_single_gaps_stay_and_longer_ones_become_a_marker(
    scores: tuple[float, ...], text: str
) -> None:
    lines = ["a" * 20, "b" * 20, "c" * 20]
    assert "|".join(pruned(lines, scores, 0.5)) == text


def test_a_gap_shorter_than_its_marker_stays_and_blank_lines_go() -> None:
    lines = ["first", "", "}", "", "last"]
    assert list(pruned(lines, [1, 0, 0, 0, 1], 0.5)) == ["first", "}", "last"]


@given(st.lists(st.tuples(st.text("ab \t", max_size=30), st.floats(0, 1)), max_size=30))
def test_what_is_pruned_keeps_every_scored_line_in_order_and_never_grows(
    told: list[tuple[str, float]],
) -> None:
    lines, scores = [line for line, _ in told], [score for _, score in told]
    left = list(pruned(lines, scores, 0.5))
    wanted = [line for line, score in told if score >= 0.5 and line.strip()]
    rest = iter(left)
    assert all(line in rest for line in wanted)
    assert len("\n".join(left)) <= len("\n".join(lines)) + len("(filtered 00 lines)")


def test_older_history_is_never_touched() -> None:
    strategy = built("swe-pruner")
    messages = run_of(8)
    assert strategy.before_request(history(messages)).history == history(messages)


def test_a_door_that_passes_no_observations_prunes_the_asked_ones_when_they_arrive() -> None:
    strategy = built("swe-pruner")
    messages = [TASK, *step(1, CODE, "read", focus=QUESTION), *step(2, CODE, "read", path="a.py")]
    first, second = strategy.before_request(history(messages)).history.interactions
    assert first.observed == strategy.on_observation(call("read", focus=QUESTION), CODE)
    assert second.observed == CODE
    assert messages[2]["content"] == CODE


def test_in_a_recording_the_agents_own_words_can_stand_for_the_question() -> None:
    messages: list[dict[str, Any]] = [TASK, *step(1, CODE)]
    messages[1]["content"] = "Let me see how often a request is retried, how many attempts."
    assert "unrelated_7" in sent(built("swe-pruner"), messages)
    assert "unrelated_7" not in sent(built("swe-pruner:focus=said"), messages)
    assert "attempts=5" in sent(built("swe-pruner:focus=said"), messages)


def test_tools_learn_of_the_question() -> None:
    plain: JsonObject = {
        "type": "function",
        "function": {"name": "read", "parameters": {"properties": {}}},
    }
    offered = with_focus(plain)
    assert "focus" in offered["function"]["parameters"]["properties"]
    assert plain["function"]["parameters"] == {"properties": {}}


def test_the_guidance_and_the_policy_speak_of_the_same_argument() -> None:
    assert "`focus`" in built("swe-pruner").extra_system_text()
    assert list(POLICY) == [Use("", "reading", {"focus": "$need"})]
    assert list(built("swe-pruner").extra_tools()) == []


@given(st.lists(st.text("ab cd\t", max_size=20), min_size=1, max_size=40))
def test_lexical_scores_lie_between_zero_and_one_and_one_is_reached(lines: list[str]) -> None:
    try:
        scores = LEXICAL.score("abba cddc ab cd abc", lines)
    except ScoringFailed:
        return
    assert len(scores) == len(lines)
    assert max(scores) == 1.0
    assert min(scores) >= 0.0


def test_words_are_found_whatever_their_case_and_ending() -> None:
    scores = LEXICAL.score("reading files", ["nothing", "x", "y", "z", "def readFile(name):"])
    assert max(scores) == scores[4] == 1.0
    assert scores[0] == 0.0


def test_a_text_in_which_no_line_holds_half_of_the_question_stays_whole() -> None:
    rows = "\n".join(f"{n};INV-{n};{n * 17}.50" for n in range(100))
    asked = "What is the amount of the invoice that the supplier Meyer disputed? INV?"
    answer = built("swe-pruner").on_observation(call("read", focus=asked), rows)
    assert answer.endswith(rows)


def test_telling_lines_fit_their_room_and_stay_in_order() -> None:
    text = "\n".join(f"value {n} of the answer" if n % 3 == 0 else f"noise {n}" for n in range(90))
    found = telling_lines("the answer's value", text, 60).splitlines()
    places = [text.splitlines().index(line) for line in found]
    assert found
    assert places == sorted(places)
    assert len("\n".join(found)) < 400


def test_a_document_in_one_line_gives_the_piece_that_tells() -> None:
    fields = ", ".join(f'"name_{n}": "value number {n}"' for n in range(400))
    found = telling_lines("which port", f'{{{fields}, "port": 8123, {fields}}}', 100)
    assert '"port": 8123' in found
    assert len(found) < 600


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("threshold=0", "threshold: must lie in (0, 1]"),
        ("focus=magic", "focus: is 'magic'; known are argument, said"),
        ("scorer=bm25", "scorer: is 'bm25'; known are lexical, qwen-reranker"),
        ("scorer=qwen-reranker", "needs the folder of the published checkpoint"),
        ("scorer=qwen-reranker,model=/no/such/folder", "cannot be read as a SWE-Pruner model"),
    ],
)
def test_a_wrong_setting_is_one_clear_sentence(spec: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        built(f"swe-pruner:{spec}")
    assert problem in str(caught.value)


@given(st.integers(1, 300), st.integers(60, 100))
def test_chunks_of_the_reranker_cover_everything_and_overlap_by_fifty(
    length: int, room: int
) -> None:
    parts = list(chunks(length, room, 50))
    assert parts[0][0] == 0
    assert parts[-1][1] == length
    assert all(stop - start <= room for start, stop in parts)
    for (_, stop), (start, _) in pairwise(parts):
        assert stop - start == 50


def test_a_line_scores_the_mean_over_its_characters() -> None:
    assert list(by_line(["ab", "", "cd"], [1.0, 0.5, 0.0], [(0, 2), (4, 5), (5, 6)])) == [
        1,
        0,
        0.25,
    ]


def checkpoint(folder: Path) -> None:
    """A checkpoint in the published layout with a tiny backbone and random weights."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    torch.manual_seed(0)
    words = ["<unk>", *sorted({*CODE.split(), *QUESTION.split()})]
    model = tokenizers.models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    fast.save_pretrained(folder)
    config = transformers.Qwen3Config(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
    )
    config.save_pretrained(folder / "backbone")
    parts = {"backbone": transformers.AutoModel.from_config(config)}
    width = 48
    parts["fusion_layers"] = torch.nn.ModuleList(
        [torch.nn.MultiheadAttention(width, 8, batch_first=True)]
    )
    parts["fusion_norms"] = torch.nn.ModuleList([torch.nn.LayerNorm(width)])
    head = torch.nn.ModuleDict()
    head["feature_extractor"] = torch.nn.Sequential(
        torch.nn.LayerNorm(width),
        torch.nn.Linear(width, 8),
        torch.nn.GELU(),
        torch.nn.Dropout(0.4),
        torch.nn.Linear(8, 2),
    )
    parts["compression_head"] = head
    weights = {f"model.{name}": w for name, w in torch.nn.ModuleDict(parts).state_dict().items()}
    weights["model.compression_head.crf.transitions"] = torch.zeros(2, 2)
    pytest.importorskip("safetensors.torch").save_file(weights, folder / "model.safetensors")
    published = {
        "model_type": "swepruner",
        "backbone_model_name_or_path": "Qwen/Qwen3-Reranker-0.6B",
        "bottleneck": 8,
        "dropout": 0.4,
        "early_layer_ratio": 0.25,
        "middle_layer_ratio": 0.5,
        "num_fusion_layers": 1,
        "num_heads": 8,
    }
    (folder / "config.json").write_text(json.dumps(published), "utf-8")


def test_the_published_layout_is_loaded_whole_and_scores_every_line(tmp_path: Path) -> None:
    checkpoint(tmp_path)
    scorer = open_reranker(str(tmp_path))
    lines = CODE.splitlines()
    scores: Sequence[float] = scorer.score(QUESTION, lines)
    assert len(scores) == len(lines)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores == scorer.score(QUESTION, lines)
    assert all(score > 0.0 for score, line in zip(scores, lines, strict=True) if line.strip())
    strategy = built(f"swe-pruner:scorer=qwen-reranker,threshold=0.01,model={tmp_path}")
    answer = strategy.on_observation(call("read", focus=QUESTION), CODE)
    assert "def load_settings(path):" in answer


def test_a_checkpoint_with_a_weight_missing_is_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path)
    tensors = pytest.importorskip("safetensors.torch")
    weights = tensors.load_file(tmp_path / "model.safetensors")
    del weights["model.fusion_norms.0.weight"]
    tensors.save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(BadInput, match="cannot be read as a SWE-Pruner model"):
        open_reranker(str(tmp_path))
