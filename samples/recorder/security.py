"""Security: what happened on a host, from its logs and configuration, as a defender reads them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from samples.recorder.agent import Scenario, Steps, do, first, python, read, shell
from samples.recorder.security_data import digest, flow_total, generate, truth
from samples.recorder.security_report import audit, deliver
from samples.recorder.security_trail import Intrusion, quarantine, traffic, web
from samples.recorder.workspace import Workspace

TEMPLATE = Path(__file__).parent / "workspaces" / "security"
TASK = (
    "Host app-07 behaved oddly. /workspace holds a copy of its logs, configuration, inventory and "
    "one quarantined file. Follow docs/runbook.md: find out who got in, how, what they left and "
    "what left the network, audit sshd_config, and write the four deliverables in incident/."
)
COUNT_FAILURES = """import re
from collections import Counter
failures = Counter()
for line in open('logs/auth.log'):
    if 'Failed password' in line:
        stamp, host, process, text = line.rstrip().split(' ', 3)
        failures[re.fullmatch(r'Failed password for .*? from (\\S+) port \\d+ ssh2', text)[1]] += 1
for source, count in failures.most_common():
    print(count, source)
"""
REPEATED = """import re
from collections import Counter
failures = Counter()
for line in open('logs/auth.log'):
    found = re.search(r'Failed password for .*? from (\\S+) port', line)
    if found:
        repeated = re.search(r'repeated (\\d+) times', line)
        failures[found[1]] += int(repeated[1]) if repeated else 1
for source, count in failures.most_common():
    print(count, source)
"""


def build(workspace: Workspace) -> None:
    workspace.install(TEMPLATE)
    generate(workspace.root)


def check(workspace: Workspace) -> bool:
    """The indicators are those that were generated; the files have the form asked for."""
    known, folder = truth(), workspace.root / "incident"
    wanted = {
        "account": known.account,
        "addresses": sorted((known.guesser, known.second)),
        "file": known.file,
        "sha256": digest(known),
        "host": known.host,
        "resolved": known.resolved,
        "cron": known.cron,
        "foreign_key": known.key,
        "internal_hosts": sorted(known.internal),
        "bytes_out": flow_total(known),
    }
    with (folder / "timeline.csv").open(encoding="utf-8") as stream:
        times = [row["time"] for row in csv.DictReader(stream)]
    report = (folder / "report.md").read_text(encoding="utf-8")
    return (
        json.loads((folder / "iocs.json").read_text(encoding="utf-8")) == wanted
        and len(times) >= 8
        and times == sorted(times)
        and all(str(value) in report for value in (known.host, known.account, known.second))
        and hardened(folder / "proposed" / "sshd_config")
    )


def hardened(path: Path) -> bool:
    """Each option of the baseline once with its value, every other line as it was."""
    rows = (TEMPLATE / "docs" / "runbook.md").read_text(encoding="utf-8")
    baseline = dict(re.findall(r"^\| ([A-Z]\w+) \| (\w+) \|$", rows, re.MULTILINE))
    before = (TEMPLATE / "etc" / "ssh" / "sshd_config").read_text(encoding="utf-8").splitlines()
    after = path.read_text(encoding="utf-8").splitlines()
    names = [line.split(" ")[0].lstrip("#") for line in before]
    wanted = [
        f"{name} {baseline[name]}" if name in baseline else line
        for name, line in zip(names, before, strict=True)
    ]
    return after == wanted


def policy() -> Steps[str]:
    rules = yield from overview()
    source = yield from guessing(rules)
    account, events = yield from entry(source)
    cron, key = yield from persistence(account, events)
    intrusion = Intrusion(account, source, cron, key)
    intrusion = yield from web(intrusion)
    intrusion = yield from quarantine(intrusion)
    intrusion = yield from traffic(intrusion)
    findings = yield from audit(rules)
    return (yield from deliver(intrusion, findings))


def overview() -> Steps[str]:
    _, rules = yield do(
        "What do I have, and what does the runbook ask?",
        shell("find . -type f | sort | xargs wc -lc"),
        read("docs/runbook.md"),
    )
    yield do(
        "The shape of each log before I count anything.",
        shell("head -n 12 logs/auth.log"),
        shell("head -n 8 logs/access.log"),
        shell("head -n 6 logs/dns.log"),
        shell("head -n 6 logs/netflow.csv"),
    )
    return rules


def guessing(rules: str) -> Steps[str]:
    limit = int(first(r"More than (\d+) failures", rules))
    (output,) = yield do("Failures by source.", python(COUNT_FAILURES))
    assert "TypeError" in output
    yield do(
        "One line does not match my pattern. What other forms are there?",
        shell("grep -v 'sshd.*: Failed password for' logs/auth.log | grep 'Failed password'"),
        shell("grep -c 'message repeated' logs/auth.log"),
    )
    (output,) = yield do(
        "syslog folds repeated lines; each stands for as many failures as it says.",
        python(REPEATED),
    )
    counts: dict[str, int] = {
        source: int(n) for n, source in re.findall(r"^(\d+) (\S+)$", output, re.MULTILINE)
    }
    source = next(name for name, count in counts.items() if count > limit)
    yield do(
        "The others look like scanners that try names that do not exist. I check that.",
        shell("grep 'invalid user' logs/auth.log"),
    )
    yield do(
        f"{source} failed {counts[source]} times, over the limit of {limit}. Its lines:",
        shell(f"grep -F ' {source} ' logs/auth.log"),
    )
    return source


def entry(source: str) -> Steps[tuple[str, str]]:
    (output,) = yield do(
        "Did it get in?",
        shell(f"grep -F 'from {source} ' logs/auth.log | grep Accepted"),
    )
    account = first(r"Accepted \w+ for (\S+)", output)
    (events,) = yield do(
        f"Yes, as {account}. Everything about that account that is not a failure:",
        shell(f"grep -F '{account}' logs/auth.log | grep -v 'Failed password'"),
    )
    hour = first(r"^(\S+T\d\d):\d\d:\d\dZ.*Accepted password", events)
    yield do(
        "The hour of that login, everything that was logged.",
        shell(f"grep '^{hour}' logs/auth.log | tail -n 26"),
    )
    yield do(
        "All successful logins, to see what is usual here.",
        shell("grep Accepted logs/auth.log"),
    )
    return account, events


def persistence(account: str, events: str) -> Steps[tuple[str, str]]:
    cron = first(r"COMMAND=/usr/bin/tee /etc/cron\.d/(\S+)", events)
    keys_at = first(r"tee -a (\S+authorized_keys)", events)
    (output,) = yield do(
        f"sudo wrote a job {cron} and appended to {keys_at}.",
        shell(f"cat ./etc/cron.d/{cron} .{keys_at}"),
    )
    assert "No such file" in output
    yield do(
        "The copy keeps keys elsewhere.",
        shell("find etc inventory -type f | sort"),
    )
    keys, approved, _ = yield do(
        "Keys of the account, approved keys, and what sudo allows it.",
        read(f"etc/authorized_keys/{account}"),
        read("inventory/keys.csv"),
        shell("cat etc/sudoers.d/services"),
    )
    present: list[str] = re.findall(r"SHA256:\S+", keys)
    foreign = next(key for key in present if key not in approved)
    yield do(
        f"{foreign} is not approved. Was it used, and does any other account carry it?",
        shell(f"grep -rnF '{foreign}' etc logs | sort"),
    )
    return cron, foreign


SCENARIO = Scenario("Security", "log-forensics", TASK, build, policy, check)
