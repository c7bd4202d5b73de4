"""Pages for readers: each strategy's view of each moment, under a name that says nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from statecomp.history.interaction import JsonObject
from statecomp.strategy import StrategyFactory
from statecomp.wire.providers import wire_named
from statecomp_bench.nextsteps.folder import MomentPage, NextFolder, put
from statecomp_bench.nextsteps.moments import Moment
from statecomp_bench.readers.blind import opaque
from statecomp_bench.readers.views import before, page, shown_after

# Who answers is told to answer as the agent, and needs no more of what comes after the action.
ANSWERING = ("tool", "function", "user")


@dataclass(frozen=True)
class NextStudy:
    """Where pages go, and which are there."""

    folder: NextFolder
    known: Mapping[tuple[str, int, str], MomentPage]

    @classmethod
    def at(cls, folder: NextFolder) -> NextStudy:
        return cls(folder, {(p.run, p.number, p.strategy): p for p in folder.pages()})

    def name_of(self, moment: Moment) -> str:
        """The moment's name, which all its pages share."""
        here = (moment.run.id, moment.number)
        return next((p.moment for key, p in self.known.items() if key[:2] == here), opaque())


def prepared(
    study: NextStudy, moment: Moment, factories: Mapping[str, StrategyFactory]
) -> Iterator[MomentPage]:
    """A page for each strategy that has none of this moment yet."""
    name = study.name_of(moment)
    run, wire = moment.run, wire_named(moment.run.protocol)
    prefix, step = before(moment.history, moment.number)
    facts = {
        "run": run.id,
        "number": moment.number,
        "uses": [f"step {number}: {what}" for number, what in moment.uses],
        "recorded": page(action(step.messages)),
        "history": page(prefix.messages),
    }
    put(study.folder.moment_file(name), json.dumps(facts))
    for spec, factory in factories.items():
        if (run.id, moment.number, spec) in study.known:
            continue
        shown = shown_after(prefix, factory(run, wire), wire)
        made = MomentPage(
            opaque(), name, run.id, run.domain, moment.number, spec, shown.tokens, shown.raw
        )
        put(study.folder.page_file(made.name), question(shown.messages))
        yield made


def question(messages: tuple[JsonObject, ...]) -> str:
    return template("reader.md").substitute(view=page(messages))


def action(messages: tuple[JsonObject, ...]) -> list[JsonObject]:
    """What the agent wrote in a step, without what answered it."""
    found = []
    for message in messages:
        if message.get("role") in ANSWERING:
            break
        found.append(message)
    return found


def template(name: str) -> Template:
    return Template(files("statecomp_bench.nextsteps").joinpath(name).read_text("utf-8"))
