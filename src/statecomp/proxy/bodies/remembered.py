"""The bodies that came last: an agent sends nearly the same one again and again."""

from __future__ import annotations

from statecomp.proxy.bodies.documents import Document, parsed, read
from statecomp.recent import LruCache, Weighed

OPENING = 3
"""Messages that a conversation is known by: with the task and the first step."""
TAIL = 64
ROW = 64
KNOWN = 256
"""Bodies that are remembered, and openings of different lengths of one tenant."""


class Documents:
    """The last bodies of many conversations; a tenant's are recognised in its own alone."""

    def __init__(self) -> None:
        self._known: Weighed[tuple[str, str, int, str], Document] = Weighed(KNOWN, _weight)
        self._lengths: LruCache[tuple[str, str], tuple[int, ...]] = LruCache(KNOWN)

    def read(self, tenant: str, key: str, body: bytes) -> Document:
        """Raises Unreadable."""
        try:
            text = body.decode()
        except UnicodeDecodeError:
            marked = body.find(b'"cache_control"')
            return Document("", parsed(body), news=len(body), marked=marked)
        document = read(text, key, self._like(tenant, key, text))
        if len(document.ends) >= OPENING:
            length = document.array[0] + document.ends[OPENING - 1]
            lengths = self._lengths.get((tenant, key)) or ()
            if lengths[:1] != (length,):
                others = (other for other in lengths if other != length)
                self._lengths.put((tenant, key), (length, *others)[:ROW])
            self._known.put((tenant, key, length, _tail(text, length)), document)
        return document

    def _like(self, tenant: str, key: str, text: str) -> Document | None:
        """A body that may begin as this one does: reading finds out how far."""
        lengths = self._lengths.get((tenant, key)) or ()
        names = [(tenant, key, length, _tail(text, length)) for length in lengths]
        found = self._known.get_all(names)
        return next(iter(found.values()), None)


def _tail(text: str, length: int) -> str:
    return text[max(0, length - TAIL) : length]


def _weight(document: Document) -> int:
    """Bytes of the text; what was read from it is weighed where conversations are kept."""
    return 2000 + 2 * len(document.text) + 100 * len(document.ends)
