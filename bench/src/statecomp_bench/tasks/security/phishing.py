"""A queue of reported mails: verdicts, tickets, and indicators for the blocklists.

The shape: many items that look alike and are easily mixed up, fan-in of their values at the end,
and a notice that arrives in the middle and overrides what was read at the beginning.
"""

from __future__ import annotations

import hashlib
from base64 import encodebytes
from dataclasses import dataclass
from functools import partial
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, inside, joined, nouns, outside, people
from statecomp_bench.tasks.security.estate import defanged, revisions, swap, table

SITES = ("north", "south", "harbour", "airfield", "campus")
PLATFORM = "pages-platform.example"
TRIAGE = """# Triage of reported mail

## Verdicts
- A mail of a campaign that is listed as running in docs/drills.md is a drill.
- A mail from a domain of docs/partners.csv is legitimate.
- But a partner's mail whose Reply-To leads to another domain is phishing.
- Everything else is phishing, unless the desk has cleared it by telephone; a cleared mail is
  legitimate.

## Tickets
- Links and senders are defanged in tickets: every dot is written as [.] without exception.
- A digest is written as sha256: followed by its digits.
- The desk is the one of the site where the mail was reported.

## Blocklists
- Only phishing goes to a blocklist; the files for the gateway are not defanged.
- Domains are listed as registered, that is their last two labels.
- Hosts below {platform} are listed in full, because others live there too.
"""
HEADERS = "cat mail/NAME.eml | sed 's/^/NAME | /' | head -n {lines}"
DECODE = """
    # decode an attachment
    import base64
    text = open('mail/report-01.eml').read().split('document.pdf"')[1].split('--')[0]
    print(base64.b64decode(text).decode())
"""
PARTS = """
    # parts of NAME
    import email, hashlib, re
    mail = email.message_from_file(open('mail/NAME.eml'))
    for piece in mail.walk():
        if piece.is_multipart():
            continue
        data = piece.get_payload(decode=True)
        if piece.get_filename():
            print('NAME attachment', piece.get_filename(), len(data), 'bytes')
            print('NAME attachment digest:', hashlib.sha256(data).hexdigest())
            print(data[:160].hex(' ', 4))
        else:
            text = data.decode()
            print(text)
            print('NAME button leads to:', re.findall('class=button href=.https://([^/]+)', text))
"""
TICKET = """
    # ticket for NAME
    import csv, json, os
    os.makedirs('tickets', exist_ok=True)
    partners = {row['domain'] for row in csv.DictReader(open('docs/partners.csv'))}
    sender, reply = '{sender_N}', '{reply_N}'
    verdict = 'phishing'
    if '{campaign_N}' in '{drills}'.split(', '):
        verdict = 'drill'
    elif sender in partners{strict}:
        verdict = 'legitimate'
    elif 'NAME' == '{cleared}':
        verdict = 'legitimate'
    desks = {DESKS}
    ticket = {'report': 'NAME', 'verdict': verdict, 'parent': '{parent}',
              'sender': sender{defang}, 'link': '{link_N}'{defang},
              'attachment': {digest_form}'{digest_N}', 'desk': desks.get('{site_N}', '')}
    json.dump(ticket, open('tickets/NAME.json', 'w'), indent=1)
    print(json.dumps(ticket, indent=1))
"""
LISTING = """
    # blocklist of KIND
    import glob, json, os
    found = {FOUND}
    bad = [t['report'] for t in map(json.load, map(open, glob.glob('tickets/*.json')))
           if t['verdict'] == 'phishing']
    values = [found[name] for name in bad]
    os.makedirs('blocklist', exist_ok=True)
    REFINE
    open('blocklist/KIND.txt', 'w').write(''.join(v + '\\n' for v in sorted(set(values))))
    print(open('blocklist/KIND.txt').read())
"""
REFINE = "values = [{whole}'.'.join(v.split('.')[-2:]){registered} for v in values]"  # by two rules


@dataclass(frozen=True)
class Mail:
    name: str
    sender: str
    reply: str
    campaign: str
    site: str
    link: str
    attachment: bytes
    verdict: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.attachment).hexdigest()

    @property
    def listed(self) -> str:
        return self.link if self.link.endswith(PLATFORM) else ".".join(self.link.split(".")[-2:])


def queue(rng: Random, count: int, partners: list[str], drills: list[str]) -> list[Mail]:
    """Every kind of mail at least once, in any order; the third kind is what a call clears."""
    kinds = ["partner", "forged", "cleared", "drill", "forged", "partner", "hosted"]
    kinds += rng.choices(("plain", "hosted", "drill"), k=count - len(kinds))
    rng.shuffle(kinds)
    mails = []
    for number, kind in enumerate(kinds, 1):
        strange = f"{'-'.join(nouns(rng, 2))}{rng.randrange(10, 99)}.example"
        sender = rng.choice(partners) if kind in ("partner", "forged") else strange
        reply = sender if kind == "partner" else f"{'-'.join(nouns(rng, 2))}-post.example"
        word = f"{rng.choice(('login', 'files', 'pay', 'doc'))}{rng.randrange(100, 999)}"
        link = f"{word}.{PLATFORM if kind == 'hosted' else reply}"
        campaign = rng.choice(drills) if kind == "drill" else f"C-{rng.randrange(5000, 9999)}"
        verdict = {"partner": "legitimate", "cleared": "legitimate", "drill": "drill"}
        mails.append(
            Mail(f"report-{number:02d}", sender, reply, campaign, rng.choice(SITES), link,
                 rng.randbytes(900), verdict.get(kind, "phishing"))
        )  # fmt: skip
    return mails


def eml(rng: Random, mail: Mail) -> str:
    who, other = people(rng, 2)
    mark = hexadecimal(rng, 20)
    hops = [
        f"Received: from mx{n}.{rng.choice(nouns(rng, 4))}.example ({outside(rng)}) by relay{n} "
        f"({inside(rng)}) with ESMTPS id {hexadecimal(rng, 16)};\n"
        f"  Tue, 6 May 2025 0{n}:14:0{n} +0000"
        for n in range(1, 9)
    ]
    signed = rng.choice(("pass", "none"))
    head = [*hops, f"Authentication-Results: mx.example; spf=pass; dkim={signed}",
            f"Message-ID: <{hexadecimal(rng, 24)}@{mail.sender}>",
            f"From: {who} <billing@{mail.sender}>", f"Reply-To: <office@{mail.reply}>",
            f"To: {other} <staff@northgate.example>", f"X-Site: {mail.site}",
            f"X-Campaign: {mail.campaign}", f"Subject: Your document {rng.randrange(1000, 9999)}",
            "MIME-Version: 1.0",
            f'Content-Type: multipart/mixed; boundary="{mark}"', ""]  # fmt: skip
    rows = "\n".join(f"<tr><td>{noun}</td><td>{rng.randrange(10, 900)}.00</td></tr>"
                     for noun in nouns(rng, 14))  # fmt: skip
    links = "\n".join(f"<a href='https://www.{n}.example/help'>{n}</a>" for n in nouns(rng, 9))
    page = (f"<html><body><p>Dear {other}, your items are below.</p>\n<table>{rows}</table>\n"
            f"<a class=button href='https://{mail.link}/v/{hexadecimal(rng, 9)}'>Open</a>\n"
            f"{links}\n"
            f"<p>Kind regards, {who}</p></body></html>")  # fmt: skip
    blob = encodebytes(mail.attachment).decode()
    body = [f"--{mark}", "Content-Type: text/html; charset=utf-8", "", page, f"--{mark}",
            "Content-Type: application/octet-stream", "Content-Transfer-Encoding: base64",
            'Content-Disposition: attachment; filename="document.pdf"', "", blob,
            f"--{mark}--"]  # fmt: skip
    return joined([*head, *body])


def facts_of(mails: list[Mail]) -> list[Fact]:
    facts = [
        Fact("drills", "drills that run", r"running now: ([\w-]+(?:, [\w-]+)*)", "drills"),
        Fact("parent", "parent ticket", r"parent ticket[^\n]*? is (TKT-\d+)", "notice"),
        Fact("cleared", "cleared report", r"cleared by telephone: (report-\d+)", "notice"),
        *(
            Fact(f"desk_{s}", f"desk of {s}", rf"\b{s},([a-z0-9-]+@[\w.]+),", "desks")
            for s in SITES
        ),
    ]
    for n, mail in enumerate(mails):
        line, head, body = rf"{mail.name} \| ", f"headers_{n:02d}", f"parts_{n:02d}"
        facts += [
            Fact(f"sender_{n:02d}", f"sender domain of {mail.name}", rf"{line}From: .*@([\w.-]+)>",
                 head),
            Fact(f"reply_{n:02d}", f"reply domain of {mail.name}",
                 rf"{line}Reply-To: <\w+@([\w.-]+)>", head),
            Fact(f"site_{n:02d}", f"site of {mail.name}", rf"{line}X-Site: (\w+)", head),
            Fact(f"campaign_{n:02d}", f"campaign of {mail.name}", rf"{line}X-Campaign: ([\w-]+)",
                 head),
            Fact(f"link_{n:02d}", f"link in {mail.name}",
                 rf"{mail.name} button leads to: \['([\w.-]+)'\]", body),
            Fact(f"digest_{n:02d}", f"digest in {mail.name}",
                 rf"{mail.name} attachment digest: (\w+)", body),
        ]  # fmt: skip
    return facts


RULES = (
    Norm("strict", "foreign reply addresses are phishing", "whose Reply-To leads to another",
         " and reply == sender", "", "triage"),
    Norm("defang", "tickets are defanged", "every dot is written as", ".replace('.', '[.]')", "",
         "triage"),
    Norm("digest_form", "digests begin with their kind", "is written as sha256. followed by its",
         "'sha256:' + ", "", "triage"),
    Norm("registered", "domains are listed as registered", "that is their last two labels",
         "", " if False else v", "triage"),
    Norm("whole", "hosts of the platform are listed in full", "are listed in full, because others",
         f"v if v.endswith('{PLATFORM}') else ", "", "triage"),
)  # fmt: skip


def plan_of(mails: list[Mail]) -> Plan:
    looks: list[Step] = []
    tickets = []
    desks = ", ".join(f"'{site}': '{{desk_{site}}}'" for site in SITES)
    for n, mail in enumerate(mails):
        fill = partial(swap, NAME=mail.name, DESKS=desks, _N=f"_{n:02d}")
        looks += [
            shell(f"headers_{n:02d}", fill(HEADERS), f"look at the headers of {mail.name}"),
            python(f"parts_{n:02d}", fill(PARTS), f"take {mail.name} apart without opening it"),
        ]  # fmt: skip
        title = f"write the ticket for {mail.name}"
        tickets.append(python(f"ticket_{n:02d}", fill(TICKET), title, group="tickets", leaves=True))
    half = len(looks) // 2
    found = {kind: ", ".join(f"'{m.name}': '{{{kind}_{n:02d}}}'" for n, m in enumerate(mails))
             for kind in ("link", "digest")}  # fmt: skip
    domains = swap(LISTING, KIND="domains", FOUND=found["link"], REFINE=REFINE)
    digests = swap(LISTING, KIND="digests", FOUND=found["digest"], REFINE="")
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("triage", "docs/triage.md", "read how triage works", group="docs"),
        read("drills", "docs/drills.md", "look up the drills", group="docs"),
        read("desks", "docs/desks.csv", "read the list of desks", group="docs"),
        python("decode", DECODE, "try to read an attachment as text"),
        *looks[:half],
        read("notice", "docs/notice.txt", "read the notice of the desk"),
        *looks[half:],
        *tickets,
        python("domains", domains, "list the domains to block", leaves=True),
        python("digests", digests, "list the files to block", leaves=True),
        shell("proof", "cat blocklist/*; head -n 20 tickets/*", "read the results again"),
    ]  # fmt: skip
    return Plan(tuple(facts_of(mails)), RULES, tuple(steps), "Tickets and blocklists are written.")


def check(mails: list[Mail], parent: str, desks: dict[str, str], left: Artefacts) -> Score:
    def ticket(mail: Mail) -> float:
        wanted = {"verdict": mail.verdict, "parent": parent, "sender": defanged(mail.sender),
                  "link": defanged(mail.link), "attachment": f"sha256:{mail.digest}",
                  "desk": desks[mail.site]}  # fmt: skip
        return share(left.json(f"tickets/{mail.name}.json"), wanted)

    def listing(kind: str, wanted: set[str]) -> float:
        """Shared entries over all entries: what is wrongly blocked costs as much as a gap."""
        lines = left.text(f"blocklist/{kind}.txt").split()
        return len(wanted & set(lines)) / len(wanted | set(lines)) if lines == sorted(lines) else 0

    bad = [mail for mail in mails if mail.verdict == "phishing"]
    return grade(
        *(part(f"ticket {m.name}", 1, partial(ticket, m)) for m in mails),
        part("domains", 3, lambda: listing("domains", {m.listed for m in bad})),
        part("digests", 3, lambda: listing("digests", {m.digest for m in bad})),
    )


def build(rng: Random, level: int) -> Case:
    partners = [
        f"{a}-{b}.example" for a in nouns(rng, 9) for b in ("works", "trade", "group", "lines")
    ]
    drills = [f"C-{n}" for n in rng.sample(range(1000, 4999), 9)]
    mails = queue(rng, 9 + 2 * level, partners, drills[:3])
    cleared = next(m for m in mails if m.verdict == "legitimate" and m.sender not in partners)
    desks = {site: f"desk-{rng.randrange(100, 999)}@northgate.example" for site in SITES}
    first, parent = (f"TKT-{n}" for n in rng.sample(range(40000, 99000), 2))
    made = {f"mail/{m.name}.eml": eml(rng, m) for m in mails}
    made |= {
        "docs/triage.md": TRIAGE.replace("{platform}", PLATFORM) + revisions(rng, 14),
        "docs/drills.md": joined([
            "# Drills", "", f"campaigns running now: {', '.join(drills[:3])}", "",
            *(f"- {d} ended in {rng.randrange(2019, 2025)}, run by {w}"
              for d, w in zip(drills[3:], people(rng, 6), strict=True)),
            "", f"The parent ticket of the queue is {first}."]),
        "docs/desks.csv": table(("site", "desk", "lead"), [
            *((s, d, w) for (s, d), w in zip(desks.items(), people(rng, 5), strict=True)),
            *((f"branch{n:02d}", f"branch{n}@northgate.example", "-") for n in range(40))]),
        "docs/partners.csv": table(("domain", "since"), [(p, rng.randrange(2009, 2025))
                                                         for p in partners]),
        "docs/notice.txt": joined([
            "From the service desk, 11.40", "", f"cleared by telephone: {cleared.name}",
            f"The parent ticket was split: from now on the parent ticket is {parent}.", "",
            *(f"{w} has called about a mail, no action." for w in people(rng, 16))]),
    }  # fmt: skip
    told = (
        f"The folder mail/ holds {len(mails)} reported mails (report-01.eml and so on). For each "
        "of them write tickets/NAME.json (NAME is report-01 and so on) with report, verdict "
        "(phishing, legitimate or drill), parent (the parent ticket of the queue), sender (the "
        "domain of From), link (the host behind the button), attachment (its SHA-256) and desk. "
        "Then write blocklist/domains.txt (from the links) and blocklist/digests.txt (64 digits "
        "each), one value a line, sorted, each once. Verdicts and forms: docs/triage.md, with "
        "docs/drills.md, docs/partners.csv and, for the sites north, south, harbour, airfield and "
        "campus, docs/desks.csv. docs/notice.txt, which the desk updates while you work, "
        "overrides them; read it half-way. Never run or open an attachment."
    )
    return Case(made, told, plan_of(mails), lambda left: check(mails, parent, desks, left))


TASK = Task("security-phishing", "Security", "Triage a queue of reported mails", build)
