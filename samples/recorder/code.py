"""Code: a parcel-pricing package with failing tests and an invoice it does not reproduce."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from samples.recorder.agent import Scenario, Steps, do, edit, first, read, shell, write
from samples.recorder.code_data import generate
from samples.recorder.code_fixes import (
    COMPARE,
    Known,
    failing,
    fix_amounts,
    fix_remote,
    fix_weight_breaks,
    fix_zones,
    regression,
)
from samples.recorder.workspace import Workspace

TEMPLATE = Path(__file__).parent / "workspaces" / "code"
TASK = (
    "The repository in /workspace is a small pricing package. Its tests fail and its quotes differ "
    "from the carrier's invoice. Close every ticket of docs/tickets.md: make all tests pass and "
    "make `parcelrate compare` report no difference, without editing data/ or an existing test. "
    "Add regression tests for what the tests did not catch, raise the patch version, and write "
    "the changelog entry."
)


def build(workspace: Workspace) -> None:
    workspace.install(TEMPLATE)
    generate(workspace.root / "data")


def check(workspace: Workspace) -> bool:
    """Tests pass, quotes equal the invoice, and what had to stay untouched is untouched."""
    tests = workspace.run("python3 run_tests.py")
    compared = workspace.run(COMPARE)
    kept = all(
        path.read_bytes() == (workspace.root / "tests" / path.stem).read_bytes()
        for path in (TEMPLATE / "tests").glob("test_*.tmpl")
    )
    released = "## 0.7.4" in (workspace.root / "CHANGELOG.md").read_text(encoding="utf-8")
    clean = "0 differences in 64 invoice lines" in compared
    return (
        untouched(workspace.root / "data")
        and kept
        and released
        and clean
        and "0 failures, 0 errors" in tests
    )


def untouched(data: Path) -> bool:
    with TemporaryDirectory() as folder:
        generate(Path(folder))
        return all(
            path.read_bytes() == (data / path.name).read_bytes() for path in Path(folder).iterdir()
        )


def policy() -> Steps[str]:
    known = yield from explore()
    yield from understand(known)
    yield from fix_weight_breaks(known)
    yield from fix_zones()
    yield from fix_amounts()
    code = yield from fix_remote(known)
    return (yield from release(known, code))


def explore() -> Steps[Known]:
    _, readme = yield do(
        "I start with the layout and the readme.",
        shell("find . -type f | sort | xargs wc -l"),
        read("README.md"),
    )
    rules, tickets_at = re.findall(r"docs/[\w-]+\.md", readme)
    _, tickets = yield do(
        "The readme names the rules and the tickets; both decide what right means here.",
        read(rules),
        read(tickets_at),
    )
    (output,) = yield do(
        "Now the state of the tests.",
        shell("python3 run_tests.py"),
    )
    project, _, history = yield do(
        f"{len(failing(output))} failures are shown and the middle of the output was cut. Before I "
        "look closer: version, service terms and the form of the changelog.",
        read("pyproject.toml"),
        read("config/service.ini"),
        read("CHANGELOG.md"),
    )
    (terms,) = yield do(
        "Which service has the smallest oversize limit? I will need it to test oversize.",
        shell("grep -n -B2 oversize_limit config/service.ini"),
    )
    limits = re.findall(r"oversize_limit = (\d+)", terms)
    return Known(
        first(r'version = "([\d.]+)"', project),
        tuple(re.findall(r"SHIP-\d+", tickets)),
        failing(output),
        min(limits, key=int),
        first(r"(## [\d.]+)", history),
    )


def understand(known: Known) -> Steps[None]:
    yield do(
        f"The version is {known.version} and {', '.join(known.tickets)} are open. I read the "
        "modules along a quote, from the top.",
        read("parcelrate/models.py"),
        read("parcelrate/quote.py"),
    )
    yield do(
        "Zone lookup, and the table it reads.",
        read("parcelrate/zones.py"),
        read("data/zones.csv"),
    )
    yield do("Rates and how they are looked up.", read("parcelrate/tables.py"))
    yield do("The rate table itself.", shell("cat data/rates.csv"))
    yield do(
        "Surcharges and rounding.",
        read("parcelrate/surcharge.py"),
        read("parcelrate/money.py"),
    )
    yield do(
        "The comparison with the invoice is what finance looks at; how far off is it now?",
        shell(COMPARE),
    )


def release(known: Known, code: str) -> Steps[str]:
    limit = int(known.limit)
    _, output = yield do(
        "Regression tests for what no test caught.",
        write("tests/test_regression.py", regression(code, limit)),
        shell("python3 run_tests.py regression"),
    )
    assert not failing(output)
    major, minor, patch = known.version.split(".")
    version = f"{major}.{minor}.{int(patch) + 1}"
    (output,) = yield do(
        f"Release {version}: where does the old version stand?",
        shell(f"grep -rn --include=*.py --include=*.toml '{known.version}' . | sort"),
    )
    files = re.findall(r"^\./([\w./]+):\d+:", output, re.MULTILINE)
    entry = (
        f"## {version}\n- A weight break holds up to and including its weight "
        f"({known.tickets[0]}).\n- Postcodes are padded to five digits ({known.tickets[1]}).\n"
        f"- Fuel is a share of the base price alone ({known.tickets[2]}).\n"
        f"- Halves of a cent go away from zero ({known.tickets[3]}).\n"
        f"- Remarks in the remote list are skipped ({known.tickets[4]}).\n\n{known.heading}"
    )
    yield do(
        "Version and changelog.",
        *(edit(file, f'"{known.version}"', f'"{version}"') for file in files),
        edit("CHANGELOG.md", known.heading, entry),
    )
    yield do(
        "Last look at what goes out.",
        read("CHANGELOG.md"),
        read("parcelrate/surcharge.py"),
        read("parcelrate/zones.py"),
    )
    tests, compared, _ = yield do(
        "The whole suite, the invoice and the quotes once more.",
        shell("python3 run_tests.py | tail -n 1"),
        shell(COMPARE),
        shell("python3 -m parcelrate.cli quote data/shipments.csv"),
    )
    return (
        f"parcelrate {version} is ready. {tests}; {compared}. Closed: {', '.join(known.tickets)}. "
        "The fifth cause was the remote list: its remarks were read as part of the postcode, and "
        f"a code such as {code.zfill(5)} was not found where a sender kept its zero."
    )


SCENARIO = Scenario("Code", "bug-fixing", TASK, build, policy, check)
