"""The checklist of the web workspace, decided on the finished files and not by the agent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from samples.recorder.html_view import FIELDS, Element, elements
from samples.recorder.web_data import products

LEAST_CONTRAST = 4.5


def passes(root: Path) -> bool:
    pages = {path.name: elements(path.read_text(encoding="utf-8")) for path in root.glob("*.html")}
    titles = [e.text for page in pages.values() for e in page if e.tag == "title"]
    return (
        len(pages) == 5
        and len(set(titles)) == len(pages)
        and all(titles)
        and all(page_passes(page) for page in pages.values())
        and all(resolves(root, name, page, pages) for name, page in pages.items())
        and contrasts_pass((root / "css" / "site.css").read_text(encoding="utf-8"))
        and scripts_pass(root, pages)
        and sitemap_passes(root, sorted(pages))
    )


def page_passes(page: Sequence[Element]) -> bool:
    """What can be said of one page alone: W1 to W4, and the ids of W5."""
    names = {f"img/{row.id}.svg": row.name for row in products()}
    images = [e for e in page if e.tag == "img"]
    levels = [int(e.tag[1]) for e in page if re.fullmatch("h[1-6]", e.tag)]
    ids = [e.attributes["id"] for e in page if "id" in e.attributes]
    labels = {e.attributes.get("for") for e in page if e.tag == "label" and e.text}
    return (
        all("alt" in image.attributes for image in images)
        and all(
            image.attributes["alt"] == names.get(image.attributes["src"], image.attributes["alt"])
            for image in images
        )
        and any(e.tag == "html" and e.attributes.get("lang") for e in page)
        and all(e.attributes.get("id") in labels for e in page if e.tag in FIELDS)
        and all(e.text or e.attributes.get("aria-label") for e in page if e.tag == "button")
        and levels.count(1) == 1
        and all(after - before <= 1 for before, after in pairwise(levels))
        and len(ids) == len(set(ids))
    )


def resolves(
    root: Path, name: str, page: Sequence[Element], pages: dict[str, tuple[Element, ...]]
) -> bool:
    for element in page:
        target = element.attributes.get("href") or element.attributes.get("src")
        if not target:
            continue
        file, _, anchor = target.partition("#")
        file = file or name
        if not (root / file).is_file():
            return False
        if anchor and all(e.attributes.get("id") != anchor for e in pages[file]):
            return False
    return True


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrasts_pass(css: str) -> bool:
    token = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))
    pairs = [(token[name], token["background"]) for name in ("text", "muted", "link")]
    for pair in (*pairs, (token["button-text"], token["button"])):
        dark, light = sorted(luminance(colour) for colour in pair)
        if (light + 0.05) / (dark + 0.05) < LEAST_CONTRAST:
            return False
    return True


def scripts_pass(root: Path, pages: dict[str, tuple[Element, ...]]) -> bool:
    code = (root / "js" / "app.js").read_text(encoding="utf-8")
    wanted = set(re.findall(r'getElementById\("([^"]+)"\)', code))
    loading = [page for page in pages.values() if any(e.tag == "script" for e in page)]
    return all(wanted <= {e.attributes.get("id") for e in page} for page in loading)


def sitemap_passes(root: Path, names: list[str]) -> bool:
    address = json.loads((root / "site.json").read_text(encoding="utf-8"))["address"]
    text = (root / "sitemap.xml").read_text(encoding="utf-8")
    return re.findall("<loc>(.*?)</loc>", text) == [f"{address}{name}" for name in names]
