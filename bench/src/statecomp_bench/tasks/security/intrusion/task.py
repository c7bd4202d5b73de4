"""An intrusion followed from host to host through logs, reported by the rules of a runbook."""

from __future__ import annotations

from importlib.resources import files
from random import Random

from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part, share
from statecomp_bench.tasks.security.intrusion.data import (
    LOCAL,
    STAMP,
    Story,
    auth_log,
    events,
    inventory,
    network,
    shift,
    story,
)
from statecomp_bench.tasks.security.intrusion.plan import plan_of


def instruction(told: Story) -> str:
    hosts = ", ".join(hop.host for hop in told.hops)
    return (
        f"This is case {told.case}. /workspace holds copies of a day of logs (logs/HOST/auth.log, "
        "logs/HOST/events.jsonl, logs/dns.log, logs/netflow.csv), an inventory and documents. An "
        f"intruder moved through these hosts, in this order: {hosts}. For each host write "
        "findings/HOST.json with case, host, account, source (the address the intruder came from), "
        "time (of the accepted password login), file (the unsigned file written), sha256, severity "
        "and contact. Write findings/timeline.csv (time, host, account) and findings/summary.json "
        "(case, entry, hosts, domain, address, bytes, last_account, contact), where domain, "
        "address and bytes tell where data was sent to and how much. Follow docs/runbook.md in "
        "everything you write; the contact stands in docs/shift.md."
    )


def defanged(text: str) -> str:
    return text.replace(".", "[.]")


def report_of(told: Story, number: int) -> dict[str, object]:
    hop = told.hops[number]
    return {
        "case": told.case,
        "host": hop.host,
        "account": hop.account,
        "source": defanged(hop.source) if number == 0 else hop.source,
        "time": (hop.at - LOCAL).strftime(f"{STAMP}Z"),
        "file": hop.path,
        "sha256": hop.digest[:16],
        "severity": {1: "critical", 2: "high", 3: "moderate"}[hop.tier],
        "contact": told.contact,
    }


def summary_of(told: Story) -> dict[str, object]:
    return {
        "case": told.case,
        "entry": defanged(told.hops[0].source),
        "hosts": len(told.hops),
        "domain": defanged(told.domain),
        "address": defanged(told.resolved),
        "bytes": told.sent,
        "last_account": told.hops[-1].account,
        "contact": told.contact,
    }


def check(told: Story, left: Artefacts) -> Score:
    def report(number: int) -> TaskQuestion:
        name = f"findings/{told.hops[number].host}.json"
        wanted = report_of(told, number)
        return part(f"report {number}", 2, lambda: share(left.json(name), wanted))

    rows = [((hop.at - LOCAL).strftime(f"{STAMP}Z"), hop.host, hop.account) for hop in told.hops]

    def timeline() -> bool:
        found = left.rows("findings/timeline.csv")
        return [(row["time"], row["host"], row["account"]) for row in found] == rows

    return grade(
        *map(report, range(len(told.hops))),
        part("timeline", 3, timeline),
        part("summary", 4, lambda: share(left.json("findings/summary.json"), summary_of(told))),
    )


def build(rng: Random, level: int) -> Case:
    told = story(rng, level)
    runbook = files(__package__).joinpath("runbook.md").read_text("utf-8")
    made = {"docs/runbook.md": runbook, "docs/shift.md": shift(rng, told)}
    made["inventory/hosts.csv"] = inventory(rng, told)
    for hop in told.hops:
        made[f"logs/{hop.host}/auth.log"] = auth_log(rng, told, hop)
        made[f"logs/{hop.host}/events.jsonl"] = events(rng, told, hop)
    made["logs/dns.log"], made["logs/netflow.csv"] = network(rng, told)
    return Case(made, instruction(told), plan_of(told), lambda left: check(told, left))


TASK = Task("security-intrusion", "Security", "Follow an intruder from host to host", build)
