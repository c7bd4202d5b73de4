"""How a chat is named, and opened: any provider that can be asked questions of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from statecomp.errors import BadInput
from statecomp.llm.chat import Chat
from statecomp.wire.providers import PROVIDERS

KINDS = {provider.chat_name: provider for provider in PROVIDERS if provider.chat_name}
PUBLIC_HOSTS = {urlsplit(provider.home).hostname for provider in KINDS.values()}


def open_chat(spec: str, *, environ: Mapping[str, str]) -> Chat:
    """The chat that "openai:MODEL[@BASE_URL]" or "anthropic:MODEL[@BASE_URL]" names.

    Keys and default addresses come from `environ`.  No error repeats the spec: people paste keys
    into the wrong place.
    """
    parts = re.fullmatch(rf"({'|'.join(KINDS)}):(.+?)(?:@(https?://.+))?", spec)
    if parts is None:
        shown = " or ".join(f'"{kind}:MODEL[@BASE_URL]"' for kind in KINDS)
        raise BadInput(f"a chat is named {shown}")
    if find_spec("httpx") is None:
        raise BadInput("a remote chat needs httpx: install statecomp[chat]")
    kind, model, given_url = parts.groups()
    opened = KINDS[kind].chat
    assert opened is not None
    key_name, url_name = f"{kind.upper()}_API_KEY", f"{kind.upper()}_BASE_URL"
    key = environ.get(key_name, "").strip()
    url = given_url or environ.get(url_name, "").strip()
    chat = opened(model, url, key) if url else opened(model, api_key=key)
    host = urlsplit(chat.base_url).hostname
    if not key and host in PUBLIC_HOSTS:
        raise BadInput(f"{key_name} is not set, and {host} asks for it")
    return chat
