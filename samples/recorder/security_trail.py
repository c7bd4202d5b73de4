"""From the host outwards: web requests, the quarantined file, names and flows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from samples.recorder.agent import Steps, do, first, python, read, shell


@dataclass(frozen=True)
class Intrusion:
    """What is known so far; each phase returns it with more filled in."""

    account: str
    source: str
    cron: str
    foreign_key: str
    second: str = ""
    file: str = ""
    sha256: str = ""
    host: str = ""
    resolved: str = ""
    internal_hosts: tuple[str, ...] = ()
    bytes_out: int = 0


def web(known: Intrusion) -> Steps[Intrusion]:
    (output,) = yield do(
        "The same source on the web server.",
        shell(f"grep -F '{known.source} ' logs/access.log"),
    )
    agent = first(r'"([^"]+)"$', output)
    yield do(
        f"It probed, then posted to an upload script, as {agent!r}. How usual is that agent?",
        shell("cut -d'\"' -f6 logs/access.log | sort | uniq -c | sort -rn"),
    )
    yield do(
        "What else touched the upload folder, and what did the server answer over all?",
        shell("grep -n -F '/uploads/' logs/access.log | cut -d'\"' -f1-3"),
        shell("cut -d'\"' -f3 logs/access.log | cut -d' ' -f2 | sort | uniq -c"),
    )
    (output,) = yield do(
        "The agent is rare. Who else uses it?",
        shell(f"grep -F '{agent}' logs/access.log | grep -v -F '{known.source} '"),
    )
    second, file = first(r"^(\S+) ", output), first(r"/uploads/(\S+) ", output)
    yield do(
        f"{second} fetched {file} again and again. It is also in the auth log?",
        shell(f"grep -n -F '{second}' logs/auth.log"),
        shell(f"cat etc/cron.d/{known.cron}"),
        shell("ls -1 quarantine"),
    )
    return replace(known, second=second, file=file)


def quarantine(known: Intrusion) -> Steps[Intrusion]:
    path = f"quarantine/{known.file}"
    digest, text = yield do(
        "The job runs the very file that is in quarantine. Its hash and its content, as data.",
        python(
            "import hashlib, pathlib\n"
            f"data = pathlib.Path('{path}').read_bytes()\n"
            "print(len(data), 'bytes', hashlib.sha256(data).hexdigest())\nprint(data[:48])\n"
        ),
        read(path),
    )
    decode = (
        "import binascii, pathlib\n"
        f"lines = pathlib.Path('{path}').read_text().splitlines()\n"
        "data = binascii.a2b_base64(''.join(lines{part}), strict_mode=True)\n"
        "print(len(data), data[:80])\n"
    )
    (output,) = yield do(
        "It calls itself an image and looks like base64.",
        python(decode.replace("{part}", "")),
    )
    assert "binascii.Error" in output
    (output,) = yield do(
        "The first and the last line are no base64; without them:",
        python(decode.replace("{part}", "[1:-1]")),
    )
    key = first(r";k=([0-9a-f]{2})", text)
    (output,) = yield do(
        f"Bytes, but no text. The header says k={key}; I try it as a one-byte mask.",
        python(
            decode.replace("{part}", "[1:-1]").replace(
                "print(len(data), data[:80])",
                f"print(bytes(byte ^ 0x{key} for byte in data).decode())",
            )
        ),
    )
    return replace(
        known, sha256=first(r"([0-9a-f]{64})", digest), host=first(r'"host": "([^"]+)"', output)
    )


def traffic(known: Intrusion) -> Steps[Intrusion]:
    (output,) = yield do(
        f"A plain configuration that names {known.host}. Who asked for it?",
        shell(f"grep -F ' {known.host} ' logs/dns.log"),
    )
    asking, resolved = first(r" query (\S+) ", output), first(r" A (\S+)$", output)
    yield do(
        "What is usual traffic here? Flows by target, and all flows of the host that asked.",
        shell("cut -d, -f3,4 logs/netflow.csv | sort | uniq -c | sort -rn"),
        shell(f"grep -F ',{asking},' logs/netflow.csv"),
    )
    (output,) = yield do(
        f"It resolved to {resolved}. The flows to that address:",
        shell(f"grep -F ',{resolved},' logs/netflow.csv"),
    )
    flows = re.findall(r"^\S+?Z,([\d.]+),[\d.]+,\d+,(\d+)$", output, re.MULTILINE)
    hosts = tuple(sorted({source for source, _ in flows}))
    sums, names = yield do(
        f"{len(flows)} flows from {' and '.join(hosts)}: more than one of our hosts. The sums, and "
        "the names of the hosts.",
        shell(
            f'awk -F, \'$3 == "{resolved}" {{ n[$2] += $5 }} '
            'END { for (h in n) printf "%s %d\\n", h, n[h] }\' logs/netflow.csv | sort'
        ),
        shell(f"grep -E '^({'|'.join(hosts)}|address),' inventory/hosts.csv"),
    )
    other = re.findall(r"^([\d.]+),(\S+),(\S+)$", names, re.MULTILINE)[-1]
    yield do(
        f"{other[1]} ({other[0]}, owner {other[2]}) is affected too. What did it do otherwise?",
        shell(f"grep -F ' {other[0]} ' logs/dns.log"),
        shell(f"grep -F ',{other[0]},' logs/netflow.csv"),
        shell("cat inventory/hosts.csv"),
    )
    total = sum(int(n) for _, n in re.findall(r"^(\S+) (\d+)$", sums, re.MULTILINE))
    return replace(known, resolved=resolved, internal_hosts=hosts, bytes_out=total)
