"""Short names for the steps of a plan, one for each tool; see `plan.Step` for what they take."""

from __future__ import annotations

from textwrap import dedent

from statecomp_bench.plan import Step


def shell(
    id: str,  # noqa: A002
    command: str,
    title: str,
    *,
    group: str = "",
    leaves: bool = False,
    once: bool = False,
) -> Step:
    return Step(id, "shell", {"command": command}, title, group, leaves, once)


def python(id: str, code: str, title: str, *, group: str = "", leaves: bool = False) -> Step:  # noqa: A002
    """`code` begins with a comment that no other step has; its indentation is taken off."""
    return Step(id, "python", {"code": dedent(code).lstrip("\n")}, title, group, leaves)


def sql(id: str, database: str, query: str, title: str, *, group: str = "") -> Step:  # noqa: A002
    # The query first: it is what tells one step from the next.
    return Step(id, "sqlite", {"query": query, "database": database}, title, group)


def read(id: str, path: str, title: str, *, group: str = "") -> Step:  # noqa: A002
    return Step(id, "read_file", {"path": path}, title, group)


def write(id: str, path: str, content: str, title: str, *, group: str = "") -> Step:  # noqa: A002
    return Step(id, "write_file", {"path": path, "content": content}, title, group)


def edit(id: str, path: str, old: str, new: str, title: str, *, group: str = "") -> Step:  # noqa: A002
    return Step(id, "edit_file", {"path": path, "old": old, "new": new}, title, group)


def inspect(id: str, path: str, view: str, title: str, *, group: str = "") -> Step:  # noqa: A002
    return Step(id, "inspect_html", {"path": path, "view": view}, title, group)


def ask(id: str, question: str, title: str, *, group: str = "") -> Step:  # noqa: A002
    return Step(id, "ask_user", {"question": question}, title, group, once=True)


def http(
    id: str,  # noqa: A002
    method: str,
    url: str,
    title: str,
    *,
    body: str = "",
    group: str = "",
    once: bool = False,
) -> Step:
    # The address first: it is what tells one step from the next.
    given = {"url": url, "method": method, **({"body": body} if body else {})}
    return Step(id, "http", given, title, group, once=once)
