"""Who writes the records of an exam, from what a person wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from statecomp.baselines.llmlingua2 import Lingua
from statecomp.baselines.token_models import CLASSIFIERS, open_token_model
from statecomp.errors import BadInput
from statecomp.exam.answers import read_given
from statecomp.exam.writers import Cut, ExamWriter, Given, RecordWriter, TokenChoice
from statecomp.options import Options, Settings, extract_of
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.summarize import ChatSummarizer

EXTRACT, LINGUA = "extract", "llmlingua2"
BORROWING = (Cut, TokenChoice)


def exam_writers(specs: Sequence[str], settings: Settings) -> Mapping[str, ExamWriter]:
    """Writers by spec, those that borrow a length last; they borrow it from the first."""
    writers = {spec: exam_writer(spec, settings) for spec in specs}
    if all(isinstance(writer, BORROWING) for writer in writers.values()):
        writers[EXTRACT] = exam_writer(EXTRACT, settings)
    return dict(sorted(writers.items(), key=lambda item: isinstance(item[1], BORROWING)))


def exam_title(spec: str) -> str:
    """A writer as its results are headed; a stand-in for the published choice of tokens says so."""
    name, _, rest = spec.partition(":")
    if name != LINGUA:
        return spec
    classifier = Options(spec, rest).one_of("classifier", *CLASSIFIERS)
    is_published = classifier == LINGUA
    return spec if is_published else f"{spec} (words chosen by a plain substitute, {classifier})"


def exam_writer(spec: str, settings: Settings) -> ExamWriter:
    """`extract[:budget=0.1,...]`, `chat:PROVIDER:MODEL[@URL]`, `file:PATH`, `cut`, `llmlingua2`."""
    name, _, rest = spec.partition(":")
    if name == "chat":
        return RecordWriter(ChatSummarizer(settings.chat(rest), objects=False))
    if name == "file":
        return Given(read_given(Path(rest)))
    options = Options(spec, rest)
    writer = _without_chat(name, options, settings)
    options.done()
    return writer


def _without_chat(name: str, options: Options, settings: Settings) -> ExamWriter:
    if name == EXTRACT:
        return RecordWriter(extract_of(options, ExtractiveSummarizer()))
    if name == "cut":
        return Cut(settings.count)
    if name == LINGUA:
        classifier = options.one_of("classifier", *CLASSIFIERS)
        model = open_token_model(classifier, options.text("model", ""))
        return TokenChoice(Lingua(model, settings.count))
    known = "extract, chat:PROVIDER:MODEL[@URL], file:PATH, cut and llmlingua2"
    raise BadInput(f"is {name!r}; known are {known}", field="records")
