"""What the tasks of the Web domain must hold beside what `test_tasks.py` asks of every task."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.tests.running import TaskFinished, values
from statecomp_bench.tasks import tasks_like

# For each part of a checker a change that must cost it something: where, what, and what instead.
DAMAGE: dict[str, dict[str, tuple[str, str, str]]] = {
    "web-accessibility": {
        "captions": ("pages/*.html", r'(class="lead"[^>]*alt=")A ', r"\1The "),
        "linked pictures": ("pages/*.html", 'alt="Offers', 'alt="Offer'),
        "full stops": ("pages/*.html", r'(class="lead"[^>]*)\."', r'\1"'),
        "ornaments": ("pages/*.html", ' role="presentation"', ""),
        "names of fields": ("pages/*.html", "Your question", "A question"),
        "label elements": ("pages/*.html", "<label", "<span"),
        "headings": ("pages/*.html", "<h2", "<h3"),
        "downloads": ("pages/*.html", r"handbook (\d)", r"handbook 1\1"),
        "formats": ("pages/*.html", r" \(PDF\)", ""),
        "language": ("pages/*.html", "en-IE", "en"),
        "rest untouched": ("pages/*.html", 'class="box b3"', 'class="box"'),
        "signature": ("out/report.json", "WA-", "AW-"),
        "report": ("out/report.json", '"f-', '"g-'),
    },
    "web-events": {
        "times as in the feeds": ("data/events/*.json", r"\.(\d\d\")", r":\1"),
        "times moved once": ("data/events/*.json", r"\.(\d\d\")", r":\1"),
        "times moved twice": ("data/events/*.json", r"\.(\d\d\")", r":\1"),
        "days": ("data/events/*.json", '"start": "2024', '"start": "2023'),
        "titles": ("data/events/*.json", "evening with", "night with"),
        "rooms": ("data/events/*.json", "hall", "room"),
        "floors": ("data/events/*.json", r" \(\d\)", ""),
        "called off": ("data/events/*.json", "Cancelled: ", ""),
        "order of the page": ("site/calendar.html", r"(<tr.*\n)(<tr.*\n)", r"\2\1"),
        "programme": ("site/calendar.html", "Events of", "Dates of"),
        "desk": ("site/calendar.html", "Questions", "Answers"),
    },
    "web-forms": {
        "lengths": ("forms/*.html", 'maxlength="', 'maxlength="9'),
        "room for the checksum": ("forms/*.html", r'maxlength="\d+"', 'maxlength="1"'),
        "patterns": ("forms/*.html", r'pattern="\[', 'pattern="x['),
        "no pattern where optional": ("forms/*.html", "<input ", '<input pattern="x" '),
        "required": ("forms/*.html", " required", ""),
        "said twice": ("forms/*.html", ' aria-required="true"', ""),
        "messages": ("forms/*.html", "Please give", "Give"),
        "in data-message": ("forms/*.html", "data-message", "title"),
        "limits in the map": ("js/limits.js", r": (\d)", r": 9\1"),
        "form of the map": ("js/limits.js", "export const", "const"),
        "all of a field": ("forms/*.html", "<input ", '<input id="x" '),
    },
    "web-navigation": {
        "titles": ("site/crumbs/*.html", ", part", " part"),
        "sections": ("site/crumbs/*.html", "matters", "things"),
        "before": ("site/crumbs/*.html", 'rel="prev"', 'rel="next"'),
        "after": ("site/crumbs/*.html", 'rel="next"', 'rel="prev"'),
        "ordered lists": ("site/crumbs/*.html", "ol>", "ul>"),
        "current page": ("site/crumbs/*.html", ' aria-current="page"', ""),
        "menus": ("site/nav/*.html", r"<ul>\n<li>.*</li>", "<ul>"),
        "no drafts": ("site/nav/*.html", "</ul>", "<li>draft</li></ul>"),
        "changes": ("site/sitemap.xml", "<lastmod>2024", "<lastmod>2023"),
        "days only": ("site/sitemap.xml", "</lastmod>", "T10:00:00Z</lastmod>"),
        "addresses": ("site/sitemap.xml", "</loc>", ".html</loc>"),
    },
    "web-newsletter": {
        "headlines": ("mail/blocks/*.html", "What the", "How the"),
        "teasers": ("mail/blocks/*.html", r"<p>\w+ ", "<p>"),
        "cuts and weights": ("mail/blocks/*.html", r" \.\.\.", ""),
        "tables": ("mail/blocks/*.html", ' role="presentation"', ""),
        "styles": ("mail/blocks/*.html", "style=", "class="),
        "subjects": ("mail/*.html", "<h1>Your", "<h1>Our"),
        "stories in order": ("mail/morning.html", "What the", "How the"),
        "campaigns": ("mail/*.html", r"\?utm=\w+", ""),
        "sponsor and farewell": ("mail/*.html", "is paid for", "is paid"),
        "text versions": ("mail/*.txt", r"\* ", "- "),
        "capitals": ("mail/*.txt", "WHAT", "What"),
    },
    "web-prices": {
        "prices at home": ("site/prices/*.html", r'">(\d)', r'">1\1'),
        "prices for export": ("site/prices/*.html", r'">(\d)', r'">1\1'),
        "prices on product pages": ("site/products/*.html", r'">(\d)', r'">1\1'),
        "amounts as written": ("site/products/*.html", "&nbsp;", " "),
        "classes": ("site/prices/*.html", ' class="amount"', ""),
        "captions": ("site/prices/*.html", "Prices from", "Prices of"),
        "all products in all tables": ("site/prices/*.html", "<th>.*?</th>", "<th></th>"),
    },
    "web-redirects": {
        "targets": ("site/_redirects", r"-(\w{4}/ )", r"-x\1"),
        "written as asked": ("site/_redirects", r"/ (30\d)", r" \1"),
        "permanent": ("site/_redirects", "308", "301"),
        "campaigns, archive, withdrawn": ("site/_redirects", "410", "404"),
        "tickets": ("site/_redirects", "CLEAN-", "TIDY-"),
        "links": ("pages/*.html", r'href="(/\w+/\w+-\w{4}/")', r'href="/x\1'),
        "links with a slash": ("pages/*.html", r'(-\w{4})/">', r'\1">'),
        "one line each": ("site/_redirects", r"\Z", "/old/x.php /x/ 308\n"),
    },
    "web-tokens": {
        "tokens": ("next/*.css", "--ds-", "--dx-"),
        "colours behind them": ("next/*.css", r", #\w+", ""),
        "margins in rem": ("next/*.css", "rem;", "em;"),
        "margins in pixels": ("next/*.css", r"start: (\d+)px", r"start: \1rem"),
        "logical directions": ("next/*.css", "margin-inline-start", "margin-left"),
        "owners": ("next/*.css", "owner:", "team:"),
        "charset": ("next/*.css", '@charset "utf-8";\n', ""),
        "layers": ("next/*.css", "@layer components", "@media all"),
        "selectors": ("next/*.css", r"\.ds-", "."),
        "order of imports": ("next/index.css", r"\A(.*\n)(.*\n)", r"\2\1"),
    },
    "web-translation": {
        "segments": ("de/*.html", "Uhr", "h"),
        "amended terms": ("de/*.html", "<dfn>", "<dfn>Un"),
        "wrapped terms": ("de/*.html", "dfn>", "b>"),
        "no eszett": ("de/*.html", "strasse", "straße"),
        "reviews": ("de/*.html", ' data-review="yes"', ""),
        "language": ("de/*.html", "de-CH", "de"),
        "imprint": ("de/*.html", "TR-", "T-"),
        "all of a page": ("de/*.html", "schliesst", "schließt"),
    },
}
each_task = pytest.mark.parametrize("name", sorted(DAMAGE))


def test_every_task_but_the_pilot_has_its_damage_listed() -> None:
    elsewhere = {"web-brochure", "web-bookings", "web-captions", "web-offers"}
    assert {task.id for task in tasks_like(("web",))} == {*DAMAGE, *elsewhere}


@each_task
def test_every_part_of_a_checker_can_fail(
    name: str, finished: TaskFinished, tmp_path: Path
) -> None:
    done = finished(name)
    done.copied(tmp_path)
    assert values(done.judged(tmp_path)) == dict.fromkeys(DAMAGE[name], 1.0)
    for spoiled, (where, old, new) in DAMAGE[name].items():
        kept = {path: path.read_bytes() for path in tmp_path.glob(where)}
        for path, content in kept.items():
            path.write_text(re.sub(old, new, content.decode()), "utf-8")
        found = values(done.judged(tmp_path))
        assert found[spoiled] < 1, spoiled
        assert len([v for v in found.values() if v == 1]) > len(found) / 3, spoiled
        for path, content in kept.items():
            path.write_bytes(content)


@each_task
def test_lost_and_broken_artefacts_cost_and_do_not_stop_the_checker(
    name: str, finished: TaskFinished, tmp_path: Path
) -> None:
    done = finished(name)
    root = done.copied(tmp_path)
    changed = [root / name for name in done.changed() if not name.startswith("drafts/")]
    changed[0].unlink()
    assert done.judged(root).reward < 1
    for path in changed:
        path.write_bytes(b"\xff\xfe{")
    assert done.judged(root).reward <= 0.1


@each_task
def test_values_can_be_made_out_where_lines_were_joined(name: str, finished: TaskFinished) -> None:
    finished(name).assert_values_stay_clear_where_lines_are_joined()
