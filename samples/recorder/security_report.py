"""The audit and the deliverables of the security run."""

from __future__ import annotations

import json
import re

from samples.recorder.agent import Steps, do, edit, python, read, shell, write
from samples.recorder.security_trail import Intrusion

PROPOSED = "incident/proposed/sshd_config"


def audit(rules: str) -> Steps[tuple[str, ...]]:
    """Differences from the baseline, and a proposal without them."""
    baseline = dict(re.findall(r"\| ([A-Z]\w+) \| (\w+) \|$", rules, re.MULTILINE))
    present, _ = yield do(
        "Now the configuration.",
        read("etc/ssh/sshd_config"),
        read("etc/nginx/site.conf"),
    )
    compare = (
        f"baseline = {baseline!r}\n"
        "options = dict(line.split(None, 1) for line in open('{path}')\n"
        "               if line.strip() and not line.startswith('#'))\n"
        "for name, value in baseline.items():\n"
        "    have = options.get(name, '(unset)').strip()\n"
        "    print('ok  ' if have == value else 'DIFF', name, 'has', have, 'wants', value)\n"
    )
    (output,) = yield do(
        "Against the baseline of the runbook:",
        python(compare.replace("{path}", "etc/ssh/sshd_config")),
    )
    findings = re.findall(r"^DIFF (\w+) has (\S+) wants (\S+)", output, re.MULTILINE)
    script = "; ".join(f"s/^{name} .*/{name} {wants}/" for name, _, wants in findings)
    _, output = yield do(
        f"{len(findings)} differences. I change them in a copy and compare again.",
        shell(f"mkdir -p incident/proposed && sed '{script}' etc/ssh/sshd_config > {PROPOSED}"),
        python(compare.replace("{path}", PROPOSED)),
    )
    for name, _, wants in re.findall(r"^DIFF (\w+) has (\S+) wants (\S+)", output, re.MULTILINE):
        commented = re.search(rf"#{name} \w+", present)
        assert commented
        yield do(
            f"{name} is only there as a comment, so my pattern passed it by.",
            edit(PROPOSED, commented[0], f"{name} {wants}"),
            python(compare.replace("{path}", PROPOSED)),
            shell(f"diff etc/ssh/sshd_config {PROPOSED}"),
        )
    return tuple(f"{name} is {have}, wants {wants}" for name, have, wants in findings)


def indicators(known: Intrusion) -> dict[str, object]:
    return {
        "account": known.account,
        "addresses": sorted((known.source, known.second)),
        "file": known.file,
        "sha256": known.sha256,
        "host": known.host,
        "resolved": known.resolved,
        "cron": known.cron,
        "foreign_key": known.foreign_key,
        "internal_hosts": list(known.internal_hosts),
        "bytes_out": known.bytes_out,
    }


def deliver(known: Intrusion, findings: tuple[str, ...]) -> Steps[str]:
    yield do(
        "The indicators, in the form the runbook gives.",
        write("incident/iocs.json", json.dumps(indicators(known), indent=2) + "\n"),
    )
    timeline = yield from write_timeline(known)
    text = report(known, findings, timeline)
    yield do("The report.", write("incident/report.md", text))
    terms = (known.source, known.second, known.host, known.resolved, known.cron, known.file)
    (output,) = yield do(
        "Every indicator must stand in the evidence and in the report.",
        shell(
            f"for term in {' '.join(terms)} {known.account}; do "
            'echo "$term evidence $(grep -rlF -- "$term" logs etc quarantine | grep -c .) '
            'report $(grep -cF -- "$term" incident/report.md)"; done'
        ),
    )
    absent = re.findall(r"^(\S+) evidence \d+ report 0$", output, re.MULTILINE)
    yield do(
        f"{len(absent)} are absent from the report ({', '.join(absent)}); I add them.",
        edit(
            "incident/report.md",
            "\n## Audit",
            "".join(f"- Further indicator: {term}\n" for term in absent) + "\n## Audit",
        ),
    )
    yield do(
        "A last read of what I hand over.",
        read("incident/report.md"),
        read("incident/iocs.json"),
        shell("find incident -type f | sort"),
    )
    return (
        f"{known.source} guessed the password of {known.account}, left the job {known.cron} and "
        f"the key {known.foreign_key}, and came back as {known.second}. The file {known.file} "
        f"talks to {known.host} ({known.resolved}); {' and '.join(known.internal_hosts)} sent "
        f"{known.bytes_out} bytes there. {len(findings)} options of sshd_config are below the "
        "baseline; a corrected file is in incident/proposed. All four deliverables are written."
    )


def write_timeline(known: Intrusion) -> Steps[str]:
    """Events from all logs in one order; times of the web log need converting."""
    code = (
        "import csv, pathlib\nfrom datetime import datetime\nrows = []\n"
        "for line in open('logs/auth.log'):\n"
        f"    if '{known.account}' in line and ('COMMAND' in line or 'Accepted' in line):\n"
        "        stamp, _, text = line.rstrip().split(' ', 2)\n"
        f"        known = any(a in text for a in {(known.source, known.second)!r})\n"
        "        if 'COMMAND' in text or known:\n"
        "            rows.append((stamp, 'auth.log', text))\n"
        "for line in open('logs/access.log'):\n"
        f"    if line.startswith(('{known.source} ', '{known.second} ')):\n"
        "        stamp = line.split('[')[1].split(']')[0]\n"
        "        event = line.split('\"')[1] + ' by ' + line.split()[0]\n"
        "        rows.append((STAMP, 'access.log', event))\n"
        "for line in open('logs/netflow.csv'):\n"
        f"    if ',{known.resolved},' in line:\n"
        "        stamp, source, target, port, size = line.rstrip().split(',')\n"
        "        rows.append((stamp, 'netflow.csv', f'{source} sent {size} bytes to {target}'))\n"
        "with open('incident/timeline.csv', 'w', newline='') as out:\n"
        "    writer = csv.writer(out, lineterminator='\\n')\n"
        "    writer.writerow(('time', 'source', 'event'))\n"
        "    writer.writerows(sorted(rows))\n"
        "print(pathlib.Path('incident/timeline.csv').read_text())\n"
    )
    yield do(
        "The timeline, from all logs.",
        python(code.replace("STAMP", "stamp")),
    )
    converted = "datetime.strptime(stamp, '%d/%b/%Y:%H:%M:%S %z').strftime('%Y-%m-%dT%H:%M:%SZ')"
    (timeline,) = yield do(
        "The web log writes its times differently, so the order is wrong. I convert them.",
        python(code.replace("STAMP", converted)),
    )
    return timeline


def report(known: Intrusion, findings: tuple[str, ...], timeline: str) -> str:
    times = re.findall(r"^(\S+Z),", timeline, re.MULTILINE)
    audit_lines = "".join(f"- {finding}\n" for finding in findings)
    return (
        "# Incident on app-07\n\n"
        f"First event {times[0]}, last {times[-1]}, {len(times)} events.\n\n"
        f"## Evidence\n\n- {known.source} guessed the password of {known.account}.\n"
        f"- It added the key {known.foreign_key} and the job {known.cron}.\n"
        f"- {known.second} logged in with that key.\n"
        f"- The quarantined file has SHA-256 {known.sha256} and names {known.host}.\n"
        f"- {', '.join(known.internal_hosts)} sent {known.bytes_out} bytes out.\n"
        f"\n## Audit\n\n{audit_lines}"
        f"- {known.account} may run anything as root without a password\n"
        "- nginx lists /uploads/ and runs scripts in it\n"
        f"\n## Measures\n\n- Lock {known.account}, remove the key and the job.\n"
        f"- Isolate {' and '.join(known.internal_hosts)}.\n"
        "- Put the proposed sshd_config in place.\n"
    )
