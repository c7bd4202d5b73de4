"""Suspicious files, looked at without ever running them: headers, strings, wrapped settings.

The shape: a chain of lookups.  Each file's settings name the next file and the slot of its key, so
no link can be looked at before the one in front of it, and the reports need all of them at the end.
Every file is inert: noise, invented text, and settings behind a repeating exclusive-or.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, people
from statecomp_bench.tasks.security.estate import defanged, revisions, swap, table

HANDLING = """# Handling of suspicious files

## Looking
- Nothing in quarantine/ is run, renamed, moved or changed. Work on what you read, in work/.
- The layout of the header is in docs/layout.md; keys are looked up in docs/keyring.csv by slot.

## Reporting
- Hosts are defanged in reports: each dot stands in square brackets.
- Intervals are reported in whole minutes although the settings count seconds.
- The digest of a file is reported by its first twelve digits.
- Markers are reported in capitals.
- A family on the watch list, which is at the end of docs/layout.md, has priority 1, others 3.
"""
LAYOUT = """# Layout of the container

| bytes | meaning |
|---|---|
| 0-3 | the letters INRT |
| 4-7 | offset of the settings, little end first |
| 8-9 | length of the settings, little end first |
| 10-15 | marker of the builder |
| 16-19 | CRC-32 of the settings in clear |

The settings are text (JSON), combined with a key of eight bytes by exclusive or, again and again
from its first byte. A wrong key shows as a wrong checksum.
"""
HEADER = """
    # header of LINK
    import hashlib, struct
    data = open('quarantine/{name_N}.bin', 'rb').read()
    magic, offset, length, marker, crc = struct.unpack('<4sIH6sI', data[:20])
    for at in range(0, 16 * ({lines} // 2), 16):
        row = data[at:at + 16]
        print(f'{at:06x}', row.hex(' '), ''.join(chr(b) if 31 < b < 127 else '.' for b in row))
    print('LINK begins with', magic.decode(), 'and has', len(data), 'bytes')
    print('LINK offset', offset, 'length', length, 'marker', marker.hex(), 'crc', crc)
    print('LINK digest', hashlib.sha256(data).hexdigest())
"""
STRINGS = """
    # strings of LINK
    import re
    data = open('quarantine/{name_N}.bin', 'rb').read()
    for found in re.findall(rb'[ -~]{7,}', data)[:{lines}]:
        print(found.decode())
"""
UNWRAP = """
    # unwrap LINK
    import json, os, zlib
    data = open('quarantine/{name_N}.bin', 'rb').read()
    wrapped, key = data[{offset_N}:{offset_N} + {length_N}], bytes.fromhex('{key_N}')
    clear = bytes(b ^ key[n % len(key)] for n, b in enumerate(wrapped))
    if zlib.crc32(clear) != {crc_N}:
        raise SystemExit(f'checksum of LINK is wrong, begins with {clear[:24]!r}')
    os.makedirs('work', exist_ok=True)
    with open('work/LINK.txt', 'w') as f:
        for name, value in json.loads(clear).items():
            print(f'LINK {name} = {value}', file=f)
    print('checksum of LINK is right')
"""
GUESS = """
    # guess a key
    import zlib
    data = open('quarantine/{name_00}.bin', 'rb').read()
    wrapped = data[{offset_00}:{offset_00} + {length_00}]
    for byte in range(256):
        if zlib.crc32(bytes(b ^ byte for b in wrapped)) == {crc_00}:
            print('key byte', byte)
            break
    else:
        raise SystemExit('no key of a single byte has the right checksum')
"""
REPORT = """
    # report on LINK
    import json, os
    os.makedirs('reports', exist_ok=True)
    report = {
        'file': '{name_N}',
        'digest': '{digest_N}'{short},
        'family': '{family_N}',
        'host': '{host_N}'{defang},
        'interval': int('{interval_N}'){minutes},
        'mutex': '{mutex_N}',
        'key': '{key_N}',
        'priority': 1 if '{family_N}' in '{watched}'.split(', ') else 3,
    }
    json.dump(report, open('reports/LINK.json', 'w'), indent=1)
    print(json.dumps(report))
"""
CHAIN = """
    # the whole chain
    rows = [CHAIN]
    with open('reports/chain.csv', 'w') as f:
        print('link,file,marker', file=f)
        for link, name, marker in rows:
            print(link, name, marker{capitals}, sep=',', file=f)
    print(open('reports/chain.csv').read())
"""


@dataclass(frozen=True)
class Sample:
    link: str
    name: str
    key: str
    slot: int
    marker: str
    settings: Mapping[str, object]
    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def settings_of(rng: Random, after: tuple[str, int] | None) -> dict[str, object]:
    """What is worth knowing, among thirty settings that are not."""
    known: dict[str, object] = {
        "family": f"{rng.choice(nouns(rng, 5))}loader",
        "host": f"{rng.choice(nouns(rng, 9))}.{'-'.join(nouns(rng, 2))}.example",
        "interval": 60 * rng.randrange(11, 240),
        "mutex": hexadecimal(rng, 16),
        "next": after[0] if after else "none",
        "slot": after[1] if after else 0,
    }
    known |= {f"option_{n:02d}": hexadecimal(rng, 12) for n in range(30)}
    names = list(known)
    rng.shuffle(names)
    return {name: known[name] for name in names}


def container(rng: Random, settings: Mapping[str, object], key: str, marker: str) -> bytes:
    clear = json.dumps(settings).encode()
    wrapped = bytes(a ^ b for a, b in zip(clear, cycle(bytes.fromhex(key)), strict=False))
    words = [f"{rng.choice(nouns(rng, 3))}_{hexadecimal(rng, 10)}.c" for _ in range(110)]
    before = b"".join(rng.randbytes(rng.randrange(4, 30)) + word.encode() for word in words)
    offset = 20 + len(before)
    head = struct.pack("<4sIH6sI", b"INRT", offset, len(wrapped), bytes.fromhex(marker),
                       zlib.crc32(clear))  # fmt: skip
    return head + before + wrapped + rng.randbytes(rng.randrange(300, 900))


def chain(rng: Random, count: int, keys: list[str]) -> list[Sample]:
    names = [f"{noun}-{hexadecimal(rng, 8)}" for noun in nouns(rng, count)]
    slots = rng.sample(range(100, 100 + len(keys)), count)
    samples = []
    for n, (name, slot) in enumerate(zip(names, slots, strict=True)):
        after = (names[n + 1], slots[n + 1]) if n + 1 < count else None
        key, marker, settings = keys[slot - 100], hexadecimal(rng, 12), settings_of(rng, after)
        data = container(rng, settings, key, marker)
        samples.append(Sample(f"link-{n + 1:02d}", name, key, slot, marker, settings, data))
    return samples


def facts_of(samples: list[Sample]) -> list[Fact]:
    facts = [Fact("watched", "families to watch", r"watch list: ([\w-]+(?:, [\w-]+)*)", "layout")]
    for n, sample in enumerate(samples):
        link, head, shown = sample.link, f"header_{n:02d}", f"show_{n:02d}"
        before, last = samples[n - 1].link, f"show_{n - 1:02d}"
        named = (r"begin with quarantine/([\w-]+)\.bin", "") if n == 0 else (
            rf"{before} next = ([\w-]+)", last)  # fmt: skip
        kept = (r"key in slot (\d+)", "") if n == 0 else (rf"{before} slot = (\d+)", last)
        key = rf"\b{sample.slot},([0-9a-f]{{16}}),"
        facts += [
            Fact(f"name_{n:02d}", f"file of {link}", *named),
            Fact(f"slot_{n:02d}", f"slot for {link}", *kept),
            Fact(f"key_{n:02d}", f"key of {link}", key, f"key_{n:02d}"),
            Fact(f"offset_{n:02d}", f"offset in {link}", rf"{link} offset (\d+)", head),
            Fact(f"length_{n:02d}", f"length in {link}", rf"{link} offset \d+ length (\d+)", head),
            Fact(f"marker_{n:02d}", f"marker of {link}", rf"{link} offset .* marker (\w+)", head),
            Fact(f"crc_{n:02d}", f"checksum in {link}", rf"{link} offset .* crc (\d+)", head),
            Fact(f"digest_{n:02d}", f"digest of {link}", rf"{link} digest (\w{{64}})", head),
            *(Fact(f"{word}_{n:02d}", f"{word} of {link}", rf"{link} {word} = ([\w.-]+\w)", shown)
              for word in ("family", "host", "interval", "mutex")),
        ]  # fmt: skip
    return facts


RULES = (
    Norm("defang", "hosts are defanged", "each dot stands in square brackets",
         ".replace('.', '[.]')", "", "handling"),
    Norm("minutes", "intervals are whole minutes", "reported in whole minutes although",
         " // 60", "", "handling"),
    Norm("short", "digests are cut to twelve digits", "by its first twelve digits", "[:12]", "",
         "handling"),
    Norm("capitals", "markers are written in capitals", "Markers are reported in capitals",
         ".upper()", "", "handling"),
)  # fmt: skip


def plan_of(samples: list[Sample]) -> Plan:
    looks: list[Step] = []
    reports = []
    for n, sample in enumerate(samples):
        link = sample.link
        fill = partial(swap, LINK=link, _N=f"_{n:02d}")
        looks += [
            python(f"header_{n:02d}", fill(HEADER), f"read the header of {link}"),
            python(f"strings_{n:02d}", fill(STRINGS), f"list the strings in {link}"),
            shell(f"key_{n:02d}", f"grep -C 9 '^{{slot_{n:02d}}},' docs/keyring.csv",
                  f"look up the key of {link}"),
            python(f"unwrap_{n:02d}", fill(UNWRAP), f"unwrap the settings of {link}", leaves=True),
            read(f"show_{n:02d}", f"work/{link}.txt", f"look at the settings of {link}"),
        ]  # fmt: skip
        title = f"write the report on {link}"
        reports.append(python(f"report_{n:02d}", fill(REPORT), title, group="reports", leaves=True))
    looks.insert(2, python("guess", GUESS, "try keys of one byte"))
    rows = ", ".join(f"('{s.link}', '{{name_{n:02d}}}', '{{marker_{n:02d}}}')"
                     for n, s in enumerate(samples))  # fmt: skip
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("handling", "docs/handling.md", "read how files are handled", group="docs"),
        read("layout", "docs/layout.md", "read about the layout", group="docs"),
        *looks,
        *reports,
        python("chain", CHAIN.replace("CHAIN", rows), "write down the chain", leaves=True),
        shell("proof", "head -n 30 reports/*", "read the reports again"),
    ]
    return Plan(tuple(facts_of(samples)), RULES, tuple(steps), "The reports are in reports/.")


def report_of(sample: Sample, watched: list[str]) -> dict[str, object]:
    told = sample.settings
    return {
        "file": sample.name,
        "digest": sample.digest[:12],
        "family": told["family"],
        "host": defanged(str(told["host"])),
        "interval": int(str(told["interval"])) // 60,
        "mutex": told["mutex"],
        "key": sample.key,
        "priority": 1 if told["family"] in watched else 3,
    }


def check(samples: list[Sample], watched: list[str], left: Artefacts) -> Score:
    def report(sample: Sample) -> float:
        return share(left.json(f"reports/{sample.link}.json"), report_of(sample, watched))

    def listing() -> float:
        found = {
            row["link"]: (row["file"], row["marker"]) for row in left.rows("reports/chain.csv")
        }
        return share(found, {s.link: (s.name, s.marker.upper()) for s in samples})

    def untouched() -> bool:
        """Worth something only where there is a result."""
        left.text("reports/chain.csv")
        files = ((left.root / "quarantine" / f"{s.name}.bin").read_bytes() for s in samples)
        return all(data == s.data for data, s in zip(files, samples, strict=True))

    return grade(
        *(part(f"report on {s.link}", 1, partial(report, s)) for s in samples),
        part("chain", 3, listing),
        part("quarantine as it was", 0.5, untouched),
    )


def build(rng: Random, level: int) -> Case:
    keys = [hexadecimal(rng, 16) for _ in range(60)]
    samples = chain(rng, 5 + level, keys)
    decoys = {f"{noun}-{hexadecimal(rng, 8)}": rng.randbytes(2000) for noun in nouns(rng, 9)}
    watched = sorted({str(s.settings["family"]) for s in samples[::2]})
    rows = [
        (n, key, who) for n, (key, who) in enumerate(zip(keys, people(rng, 60), strict=True), 100)
    ]
    made: dict[str, str | bytes] = {
        "docs/handling.md": HANDLING + revisions(rng, 12),
        "docs/layout.md": LAYOUT + joined(["", f"watch list: {', '.join(watched)}"]),
        "docs/keyring.csv": table(("slot", "key", "found_by"), rows),
        **{f"quarantine/{s.name}.bin": s.data for s in samples},
        **{f"quarantine/{name}.bin": data for name, data in decoys.items()},
    }
    told = (
        f"A set of suspicious files lies in quarantine/. They form a chain of {len(samples)} "
        f"links: begin with quarantine/{samples[0].name}.bin, whose settings are wrapped with the "
        f"key in slot {samples[0].slot} of docs/keyring.csv; the settings of each link name the "
        "next file and the slot of its key. Call them link-01, link-02 and so on. Read "
        "docs/handling.md and docs/layout.md first. For each link write reports/LINK.json with "
        "file (name without ending), digest (SHA-256), family, host, interval, mutex, key and "
        "priority; then reports/chain.csv with link, file and marker in the order of the chain."
    )
    return Case(made, told, plan_of(samples), lambda left: check(samples, watched, left))


TASK = Task("security-samples", "Security", "Follow a chain of suspicious files", build)
