"""OpenHands event streams, of the app (`action`, `observation`) and of its SDK (`kind`).

A list, one event a line, a folder with a file an event, or a record whose `history`, `trajectory`
or `events` holds the list.  Events become chat messages; an agent that acts without tool calls is
a text-action run.

Condensation: it ends a context window, and with it a run.  The next run holds what the
condensation left in the model's view, its summary included; `recorded.continues` names the run
before.  A delegate is a run of its own in the same group, and `recorded.parent` names the
delegating run.  What is no message (state changes, recalls, statistics) is in `recorded.events`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces import openhands_app, openhands_sdk
from statecomp.traces.format import Format, Gathered, Source
from statecomp.traces.jsonl import read_records
from statecomp.traces.openhands_view import ModelView
from statecomp.traces.records import Origin, listed, mapping, only, without

NAME = "openhands"
_LISTS = ("history", "trajectory", "events")


def recognises(records: Sequence[Any]) -> bool:
    for record in records:
        found = _events_in(record)
        if any(openhands_app.is_event(e) or openhands_sdk.is_event(e) for e in found):
            return True
    return False


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    """One conversation over all records, or one a record where each holds a list of events."""
    loose: list[Mapping[str, Any]] = []
    state: Mapping[str, Any] = {}
    for place, record in enumerate(records):
        if not isinstance(record, Mapping | list):
            yield BadInput("holds a record that is no JSON object", file=source)
        elif isinstance(record, list) or any(isinstance(record.get(n), list) for n in _LISTS):
            about = without(_LISTS, mapping(record))
            named = str(about.get("instance_id") or about.get("conversation_id") or "")
            name = named or (f"{_stem(source)}-{place}" if place else _stem(source))
            yield from _conversation(_events_in(record), about, name, source)
        elif _is_state(record):
            state = record
        else:
            loose.append(record)
    if loose:
        name = str(state.get("id") or _stem(source))
        yield from _conversation(loose, state, name, source)


def _events_in(record: Any) -> list[Mapping[str, Any]]:
    if isinstance(record, Mapping):
        inner = next((record[n] for n in _LISTS if isinstance(record.get(n), list)), None)
        record = [record] if inner is None else inner
    # Older evaluations saved pairs of an action and its observation.
    flat = [e for item in listed(record) for e in (item if isinstance(item, list) else [item])]
    return [event for event in flat if isinstance(event, Mapping)]


def _is_state(record: Mapping[str, Any]) -> bool:
    """The SDK's `base_state.json`, which names the agent and its model."""
    return isinstance(record.get("agent"), Mapping) and "kind" not in record


def _stem(source: str) -> str:
    path = Path(source)
    generic = ("events", "trajectory", "output", "event_cache")
    stem = path.name.split(".")[0]
    return path.parent.name or stem if stem in generic else stem


def _conversation(
    events: Sequence[Mapping[str, Any]], about: Mapping[str, Any], name: str, source: str
) -> Iterator[Trajectory | BadInput]:
    sdk = any(map(openhands_sdk.is_event, events))
    path, abandoned = openhands_sdk.live(events) if sdk else (events, [])
    origin = _origin(events, about, name, source)
    view = ModelView(f"{NAME}-{name}", origin)
    stack = [view]
    for event in path:
        if sdk:
            openhands_sdk.add(stack[-1], event)
        else:
            openhands_app.add(stack, event)
    recorded = {"abandoned": abandoned, "source": without(("secrets",), about)}
    found = list(view.finished(recorded))
    found += [run for child in view.delegates for run in child.finished({})]
    yield from found
    if not found:
        yield BadInput("holds no message of a model", file=source)


def _origin(
    events: Sequence[Mapping[str, Any]], about: Mapping[str, Any], name: str, source: str
) -> Origin:
    settings = mapping(mapping(about.get("metadata")).get("llm_config"))
    agent = mapping(mapping(about.get("agent")).get("llm"))
    answered = (openhands_app.model_of(event) for event in events)
    model = settings.get("model") or agent.get("model") or next(filter(None, answered), "")
    return Origin(
        source=source,
        scaffold="OpenHands",
        group=f"{NAME}-{name}",
        model=str(model),
        outcome=only(("test_result", "resolved", "error", "execution_status"), about) or None,
    )


def gather(files: Sequence[Path]) -> Gathered:
    """A folder with a file an event is one recording, with the state that lies beside it.

    The app keeps pages of the events that stand in the folder beside them.
    """
    repeated = frozenset(path for path in files if _is_cached(path))
    events: dict[Path, list[Path]] = {}
    for path in files:
        if path not in repeated and _is_event_file(path):
            events.setdefault(path.parent, []).append(path)
    sources = []
    for folder, paths in events.items():
        state = folder.parent / "base_state.json"
        sources.append(Source(folder, ((state,) if state in files else ()) + tuple(paths)))
    return Gathered(tuple(sources), repeated)


def _is_event_file(path: Path) -> bool:
    """A file that is one event and nothing else."""
    values = [value for _, value in islice(read_records(path), 2)]
    return len(values) == 1 and not isinstance(values[0], list) and recognises(values)


def _is_cached(path: Path) -> bool:
    folder = path.parent
    return folder.name == "event_cache" and (folder.parent / "events").is_dir()


FORMAT = Format(NAME, "OpenHands event streams", recognises, runs, gather)
