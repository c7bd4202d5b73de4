"""How payments find their invoices: a script that grows with what each run of it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from samples.recorder.agent import Steps, do, edit, python, read, shell, write

SCRIPT = Path(__file__).parent / "scripts" / "match.py.tmpl"
RUN = "python3 work/match.py"


@dataclass(frozen=True)
class Decisions:
    """What the policy and the mails settle, as read."""

    rates: Mapping[str, str]
    tolerance: int
    write_offs: Mapping[str, str]
    disputed: tuple[str, ...]
    allocated: Mapping[str, str]


def reconcile(decisions: Decisions) -> Steps[None]:
    yield from start(decisions)
    yield from spelling()
    yield from unnamed()
    yield from decided()
    yield from look_at_exceptions()


def start(decisions: Decisions) -> Steps[None]:
    yield do(
        "What the policy and the mails decided goes into a file, the matching into a script.",
        write("work/decisions.json", json.dumps(asdict(decisions), indent=1)),
        write("work/match.py", SCRIPT.read_text(encoding="utf-8")),
    )
    (output,) = yield do("First run.", shell(RUN))
    assert "InvalidOperation" in output
    yield do(
        "Some amounts are not plain decimals. Which?",
        shell('grep -c \'"amount": "[0-9.]*,\' inbox/bank_export.json'),
        shell('grep \'"amount": "[0-9.]*,\' inbox/bank_export.json'),
    )
    yield do(
        "German notation: a point between thousands and a comma before the cents.",
        edit(
            "work/match.py",
            "    return int(Decimal(text) * 100)",
            '    if "," in text:\n        text = text.replace(".", "").replace(",", ".")\n'
            "    return int(Decimal(text) * 100)",
        ),
        shell(RUN),
    )


def spelling() -> Steps[None]:
    (output,) = yield do(
        "Far too many unallocated: the pattern is too narrow. How do customers spell the number?",
        python(
            "import json, re\nfrom collections import Counter\n"
            "texts = [p['text'] for p in json.load(open('inbox/bank_export.json'))]\n"
            "shapes = Counter(re.sub(r'\\d', '9', text) for text in texts)\n"
            "for shape, count in sorted(shapes.items()):\n    print(f'{count:4d}  {shape}')\n"
        ),
    )
    pairs = re.findall(r"(?i)inv([-_ /])|99([-_ /])9999", output)
    found = {separator for pair in pairs for separator in pair if separator}
    gap = f"[{''.join(sorted(found - {'-'}))}-]?"
    yield do(
        f"Upper and lower case, and {len(found)} ways to separate the parts.",
        edit(
            "work/match.py",
            'NUMBER = re.compile(r"INV-24-(\\d{4})")',
            f'NUMBER = re.compile(r"inv{gap}24{gap}(\\d{{4}})", re.IGNORECASE)',
        ),
        shell(RUN),
    )


def unnamed() -> Steps[None]:
    yield do(
        "Three left: one names a number that does not exist, which treasury settled by mail, and "
        "two name none. I re-read that mail and the place in the script.",
        read("mail/treasury-allocation.txt"),
        read("work/match.py", 30, 46),
    )
    yield do(
        "Treasury's decision comes before the text.",
        edit(
            "work/match.py",
            "        number = named(payment)\n",
            '        number = DECISIONS["allocated"].get(payment["id"]) or named(payment)\n',
        ),
        shell(RUN),
    )
    yield do(
        "P4 for the two without a number: the only invoice of the payer with that amount and "
        "nothing received.",
        edit(
            "work/match.py",
            "    return received, rest\n",
            "    for payment in list(rest):\n"
            "        fitting = [\n            number\n"
            "            for number, owner in owners.items()\n"
            '            if owner == payment["payer"]\n'
            "            and not received[number]\n"
            '            and dues[number] == cents(payment["amount"])\n        ]\n'
            "        if len(fitting) == 1:\n"
            '            received[fitting[0]] += cents(payment["amount"])\n'
            "            rest.remove(payment)\n    return received, rest\n",
        ),
        shell(RUN),
    )


def decided() -> Steps[None]:
    (output,) = yield do(
        "All payments are allocated. Everything that is not simply paid:",
        shell("grep -v ',paid$' out/reconciliation.csv"),
    )
    shorts = re.findall(r"^(INV\S+?),.*,short$", output, re.MULTILINE)
    yield do(
        f"{', '.join(shorts)} are short; mails decided some of them and my script ignores that.",
        shell("cat work/decisions.json"),
        shell(f"grep -l -E '{'|'.join(shorts)}' mail/*.txt"),
    )
    yield do(
        "P6: disputed and written-off come before short.",
        edit(
            "work/match.py",
            '    return "short" if received else "unpaid"\n',
            '    if number in DECISIONS["disputed"]:\n        return "disputed"\n'
            '    if number in DECISIONS["write_offs"]:\n        return "written-off"\n'
            '    return "short" if received else "unpaid"\n',
        ),
        shell(RUN),
    )


def look_at_exceptions() -> Steps[None]:
    (output,) = yield do(
        "The whole table, once, with my own eyes.",
        shell("cat out/reconciliation.csv"),
    )
    overpaid = re.findall(r"^INV-24-(\d+),.*,overpaid$", output, re.MULTILINE)
    tolerated = re.findall(r"^INV-24-(\d+),.*,tolerated$", output, re.MULTILINE)
    yield do(
        "Overpaid means paid twice, or a mistake of mine; the bank lines tell.",
        *(shell(f"grep -n '{number}' inbox/bank_export.json") for number in overpaid),
        *(shell(f"grep -n '{number}' inbox/bank_export.json") for number in tolerated),
    )
