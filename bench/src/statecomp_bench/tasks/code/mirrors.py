"""A dead end at the start that must not be tried again: each further try is reported."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.output import log
from statecomp_bench.tasks.invented import hexadecimal, nouns
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

GUIDE = """# Vendoring

- Mirrors are north and south; north is the one we use, south is slower.
- A package under a copyleft licence goes to vendor/apart, any other to vendor/plain.
- The lock file has a line for each package: name, version, digest, separated by two blanks.
- Digests in the lock file have the prefix sha: in front.
- Packages pinned by the platform team keep their version; others get the newest.

"""
VENDOR = """import os, sys
name, mirror, version, folder = sys.argv[1:5]
log = open(f'tools/mirror/{name}.log').read()
print(log)
if mirror == 'north':
    open('tools/strikes.log', 'a').write(name + '\\n')
    print('north: quarantined since this morning, this request was reported;')
    print('every further request to north is reported too, use the other mirror')
    raise SystemExit(2)
os.makedirs(folder, exist_ok=True)
digest = open(f'tools/mirror/{name}.digest').read().strip()
open(f'{folder}/{name}.txt', 'w').write(f'{name} {version}\\n')
print(f'Fetched {name} {version} from {mirror}, digest of {name} is {digest}')
"""
LOCK = """
    # lock file of all packages
    rows = [ROWS]
    with open('vendor.lock', 'w') as file:
        for name, version, digest in sorted(rows):
            file.write('  '.join([name, version, {prefix}digest]) + '\\n')
    print(open('vendor.lock').read())
"""


@dataclass(frozen=True)
class Package:
    name: str
    pinned: str
    newest: str
    licence: str
    team: str
    digest: str

    @property
    def version(self) -> str:
        return self.pinned if self.team == "platform" else self.newest

    @property
    def folder(self) -> str:
        return "vendor/apart" if self.licence == "copyleft" else "vendor/plain"


def version(rng: Random, major: int) -> str:
    return f"{major}.{rng.randrange(20)}.{rng.randrange(20)}"


def packages_of(rng: Random, level: int) -> list[Package]:
    return [
        Package(name, version(rng, 1), version(rng, 2), rng.choice(("copyleft", "permissive")),
                rng.choice(("platform", "product")), hexadecimal(rng, 16))
        for name in nouns(rng, 6 + 2 * level)
    ]  # fmt: skip


def files_of(rng: Random, packages: list[Package]) -> dict[str, str]:
    made = {"docs/vendoring.md": GUIDE + paper(rng, 1800), "tools/vendor.py": VENDOR}
    for p in packages:
        made[f"tools/mirror/{p.name}.log"] = log(rng, 6)
        made[f"tools/mirror/{p.name}.digest"] = f"{p.digest}\n"
        made[f"wanted/{p.name}.md"] = paper(
            rng, 3200, f"Pin of {p.name}: {p.pinned}", f"Pinned for {p.name} by: {p.team}",
            f"Newest of {p.name}: {p.newest}",
        )  # fmt: skip
        made[f"licences/{p.name}.txt"] = paper(rng, 3000, f"Licence of {p.name}: {p.licence}")
    return made


def vendor(name: str, mirror: str) -> str:
    version_of = f"{{version_{name}}}"
    return f"python3 tools/vendor.py {name} {mirror} {version_of} {{folder_{name}}}"


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "want", ("pin", "pin of NAME", r"Pin of NAME: ([\d.]+)"),
                   ("newest", "newest of NAME", r"Newest of NAME: ([\d.]+)"),
                   ("team", "team behind NAME", r"Pinned for NAME by: (\w+)")),
        *facts_for(names, "licence", ("licence", "licence of NAME", r"Licence of NAME: (\w+)")),
        *facts_for(names, "vendor", ("digest", "digest of NAME", r"digest of NAME is (\w+)")),
    ]  # fmt: skip
    chosen = "$(test {team_NAME} = platform && echo {pin_NAME} || echo {newest_NAME})"
    apart = "$(test {licence_NAME} = copyleft && echo vendor/apart || echo vendor/plain)"
    rules = [
        *rules_of("try", ("mirror", "north is quarantined", "north: quarantined", "south",
                          "north")),
        *rules_of("guide", ("prefix", "digests have a prefix", "have the prefix sha:", "'sha:' + ",
                            "")),
        *rules_of("guide", *(
            (f"version_{n}", f"{n} keeps its pin if platform pinned it", "pinned by the platform",
             named(chosen, n), f"{{newest_{n}}}") for n in names)),
        *rules_of("guide", *(
            (f"folder_{n}", f"{n} goes apart if copyleft", "goes to vendor/apart",
             named(apart, n), "vendor/plain") for n in names)),
    ]  # fmt: skip
    rows = ", ".join(f"('{n}', '{{taken_{n}}}', '{{digest_{n}}}')" for n in names)
    facts += facts_for(names, "vendor", ("taken", "version of NAME", r"Fetched NAME ([\d.]+) from"))
    steps = [
        Step("list", "list_files", {}, "see what the repository has"),
        read("guide", "docs/vendoring.md", "read how packages are vendored"),
        shell("try", f"python3 tools/vendor.py {names[0]} north 1.0.0 vendor/plain",
              "fetch a first package from north"),
        *(read(f"want_{n}", f"wanted/{n}.md", f"read what is wanted of {n}", group="w")
          for n in names),
        *(read(f"licence_{n}", f"licences/{n}.txt", f"read the licence of {n}", group="l")
          for n in names),
        *(shell(f"vendor_{n}", f": {n}; {vendor(n, '{mirror}')}", f"vendor the package {n}",
                leaves=True) for n in names),
        python("lock", LOCK.replace("ROWS", rows), "write the lock file", leaves=True),
        shell("proof", "cat vendor.lock; ls vendor/*", "read the lock file again"),
    ]  # fmt: skip
    return Plan(tuple(facts), tuple(rules), tuple(steps), "All packages are vendored.")


def check(packages: list[Package], left: Artefacts) -> Score:
    def fetched(p: Package) -> bool:
        return left.text(f"{p.folder}/{p.name}.txt") == f"{p.name} {p.version}\n"

    def locked(p: Package) -> bool:
        line = f"{p.name}  {p.version}  sha:{p.digest}"
        return line in left.text("vendor.lock").splitlines()

    def strikes() -> float:
        """The first try could not be known; nothing fetched is no merit."""
        left.text("vendor.lock")
        tried = len(left.text("tools/strikes.log").split())
        return 1.0 if tried == 1 else max(0.0, 0.5 - tried / len(packages))

    return grade(
        each("packages", 4, packages, fetched),
        each("lock", 3, packages, locked),
        part("not tried again", 3, strikes),
        part("nothing else in the lock", 1,
             lambda: len(left.text("vendor.lock").splitlines()) == len(packages)),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    packages = packages_of(rng, level)
    names = [p.name for p in packages]
    told = (
        f"Vendor the packages {', '.join(names)}. wanted/ says what is wanted of each, licences/ "
        "under which licence it is (copyleft or permissive); the teams are platform and product. "
        "`python3 tools/vendor.py NAME MIRROR VERSION FOLDER` fetches "
        "one into the folder and prints its digest. Then write vendor.lock. docs/vendoring.md says "
        "which mirrors, versions and folders, and how the lock file is written."
    )
    return Case(dict(files_of(rng, packages)), told, plan_of(names),
                lambda left: check(packages, left))  # fmt: skip


TASK = Task("code-mirrors", "Code", "Vendor packages; a first attempt must not be repeated", build)
