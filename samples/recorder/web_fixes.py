"""The repairs of the web run, by what the audit printed."""

from __future__ import annotations

import re

from samples.recorder.agent import Steps, do, edit, first, inspect, python, read, shell

AUDIT = "python3 tools/audit.py"
CONTRAST = r"""import re
css = open('css/site.css').read()
token = dict(re.findall(r'--([\w-]+): (#[0-9a-f]{6})', css))

def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

def ratio(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)

PAIRS = [('text', 'background'), ('muted', 'background'), ('link', 'background'),
         ('button', 'button-text')]
"""
SHOW = "for one, other in PAIRS:\n    print(f'{one}={ratio(token[one], token[other]):.2f}')\n"
DARKEN = """
for one, other in PAIRS:
    colour, percent = token[one], 100
    while ratio(colour, token[other]) < 4.5:
        percent -= 1
        parts = [int(token[one][i:i + 2], 16) * percent // 100 for i in (1, 3, 5)]
        colour = '#%02x%02x%02x' % tuple(parts)
    print(one, token[one], '->', colour, f'{percent}%')
"""


def alternatives(field: str) -> str:
    """A script that gives each product image the given field of its product."""
    return (
        "import json, pathlib, re\n"
        "products = {p['id']: p for p in json.load(open('data/products.json'))}\n"
        "page = pathlib.Path('catalog.html')\n"
        "text, count = page.read_text(), 0\n"
        "for ident, product in products.items():\n"
        f"    alt = product['{field}']\n"
        '    image = f\'<img src="img/{ident}.svg" alt="{alt}">\'\n'
        "    text, found = re.subn(rf'<img src=\"img/{ident}\\.svg\"[^>]*>', image, text)\n"
        "    count += found\n"
        "page.write_text(text)\nprint(count, 'images')\n"
    )


def escaped(name: str) -> str:
    """A name as sed must be given it to write it into markup."""
    return name.replace("&", r"\&amp;")


def fix_alternatives(name: str) -> Steps[None]:
    yield do(
        "Product images first; their text comes from products.json.",
        python(alternatives("title")),
    )
    yield do(
        "No such field. Which fields are there?",
        python("import json\nprint(list(json.load(open('data/products.json'))[0]))\n"),
    )
    _, output = yield do(
        "I take the id, which is certainly unique.",
        python(alternatives("id")),
        shell(AUDIT),
    )
    wrong = re.findall(r"alt is '(p-\d+)', product is '([^']+)'", output)
    yield do(
        f"W2 wants the name: {wrong[0][1]!r} and not {wrong[0][0]!r}, for all {len(wrong)}.",
        python(alternatives("name")),
        shell(f"{AUDIT} | grep W2"),
    )
    yield do(
        "The logo says the name of the shop; the picture of the workshop says what it shows.",
        shell(
            'sed -i.bak \'s|<img src="img/logo.svg">|<img src="img/logo.svg" '
            f'alt="{escaped(name)}">|\' '
            "index.html about.html contact.html && rm *.bak"
        ),
        edit(
            "about.html",
            '<img src="img/workshop.svg">',
            '<img src="img/workshop.svg" alt="A lathe in a barn">',
        ),
        shell("grep -n '<img' index.html about.html contact.html"),
    )


def fix_headings() -> Steps[None]:
    (output,) = yield do("Headings next.", shell(f"{AUDIT} | grep W4"))
    pages = sorted(set(re.findall(r"^(\w+\.html):\d+: W4 h4 after h2", output, re.MULTILINE)))
    yield do(
        f"In {' and '.join(pages)} an h4 follows an h2; they all become h3.",
        shell(f"sed -i.bak 's|h4>|h3>|g' {' '.join(pages)} && rm *.bak"),
        edit("index.html", "<h3>New this month</h3>", "<h2>New this month</h2>"),
        inspect("contact.html", "outline"),
    )
    yield do(
        "The second h1 of the contact page is a section.",
        edit("contact.html", "<h1>Where we are</h1>", "<h2>Where we are</h2>"),
        shell(f"{AUDIT} | grep -c W4"),
    )


def fix_forms() -> Steps[None]:
    (output,) = yield do("Forms and what the script looks up.", shell(f"{AUDIT} | grep -E 'W3|W7'"))
    wanted = first(r"W7 script wants #([\w-]+)", output)
    (output,) = yield do(
        "I start with the label of the mail field, which points to an id that does not exist.",
        edit("contact.html", 'for="mail">Mail<', 'for="email">E-mail<'),
    )
    outputs = yield do(
        "The fields without a label.",
        edit("contact.html", "<p>Name <input", '<p><label for="name">Name</label> <input'),
        edit("contact.html", "<p>Topic<select", '<p><label for="topic">Topic</label> <select'),
        edit("index.html", "<input id=", '<label for="query">Search</label> <input id='),
    )
    assert outputs[1].startswith("error")
    (output,) = yield do("One did not match; how is it written?", shell("grep -n select *.html"))
    old = first(r"(<p>Topic\s*<select)", output)
    _, forms, ids = yield do(
        "With a space.",
        edit("contact.html", old, '<p><label for="topic">Topic</label> <select'),
        inspect("contact.html", "forms"),
        inspect("contact.html", "ids"),
    )
    nameless = first(r'<button type="submit" id="([\w-]+)"> name: \(none\)', forms)
    counter = first(r"p#(basket-[\w-]+)", ids)
    yield do(
        f"The button #{nameless} has no name, which my script misses; so has the search button. "
        f"And the page says #{counter} where the script wants #{wanted}.",
        edit("contact.html", f'id="{nameless}"></button>', f'id="{nameless}">Send</button>'),
        edit("index.html", '<button type="submit">', '<button type="submit" aria-label="Search">'),
        edit("contact.html", f'id="{counter}"', f'id="{wanted}"'),
        shell(f"{AUDIT} | grep -v W5"),
    )


def fix_links(team: str) -> Steps[None]:
    (output,) = yield do("Links and ids.", shell(f"{AUDIT} | grep W5"))
    bad = first(r"no such anchor: product\.html#(p-\d+x)", output)
    twice = first(r"id used twice: (p-\d+)", output)
    missing = first(r"no such anchor: product\.html#(p-\d+)$", output)
    line = int(first(r"product\.html:(\d+): W5 id used twice", output))
    _, names, _ = yield do(
        f"#{twice} is there twice and #{missing} not at all. I compare names before I rename.",
        read("product.html", line - 6, line + 5),
        shell(f"grep -n -E '\"({twice}|{missing})\"' data/products.json catalog.html"),
        shell("ls css *.html"),
    )
    name = first(rf'"{missing}", "name": "([^"]+)"', names)
    yield do(
        f"The second one is {name}, so it is {missing}. The other targets are plain mistakes.",
        shell(f"sed -i.bak '{line}s/{twice}/{missing}/' product.html && rm *.bak"),
        edit("catalog.html", f"#{bad}", f"#{bad.removesuffix('x')}"),
        edit("product.html", "css/main.css", "css/site.css"),
        edit("index.html", "catalogue.html", "catalog.html"),
        edit("index.html", "about.html#team", f"about.html#{team}"),
        edit("contact.html", ' <a href="map.html">Map</a>', ""),
    )
    yield do(
        "Checked, with the ids of both pages side by side.",
        shell(AUDIT),
        inspect("product.html", "ids"),
        inspect("catalog.html", "links"),
    )


def fix_colours() -> Steps[str]:
    """Returns the ratios as measured at the end."""
    (output,) = yield do("Contrast, by the formula of W6.", python(CONTRAST + SHOW))
    low = [name for name, value in re.findall(r"([\w-]+)=([\d.]+)", output) if float(value) < 4.5]
    (css,) = yield do(
        f"{', '.join(low)} are too low. I darken them by a tenth and measure.",
        read("css/site.css", 1, 9),
    )
    old = {name: first(rf"--{name}: (#\w+);", css) for name in low}
    yield from recolour({name: (colour, darker(colour, 90)) for name, colour in old.items()})
    yield do("Enough?", python(CONTRAST + SHOW))
    (output,) = yield do(
        "Not nearly. I search for the least change that is enough.",
        python(CONTRAST + DARKEN),
    )
    found = re.findall(r"^([\w-]+) (#\w+) -> (#\w+)", output, re.MULTILINE)
    yield from recolour({name: (before, after) for name, before, after in found if before != after})
    (ratios,) = yield do("Measured again.", python(CONTRAST + SHOW))
    return ratios


def darker(colour: str, percent: int) -> str:
    parts = (int(colour[i : i + 2], 16) * percent // 100 for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


def recolour(changes: dict[str, tuple[str, str]]) -> Steps[None]:
    yield do(
        f"New values for {', '.join(changes)}.",
        *(
            edit("css/site.css", f"--{name}: {before};", f"--{name}: {after};")
            for name, (before, after) in changes.items()
        ),
    )
