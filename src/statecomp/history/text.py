"""Identifiers in text: the strings that cannot be reworded, guessed or looked up again.

A path, an id or an amount is lost when a summary drops it; a plain English word is not.  One lexer
cuts the text into tokens in a single left-to-right pass, and each distinct token is classified
once, so the cost is linear in the text and small for text that repeats itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

from statecomp.history.given import NotGiven, given
from statecomp.history.windows import WINDOW
from statecomp.history.windows import found as found_in


class Kind(StrEnum):
    """What an identifier looks like."""

    PATH = "path"
    URL = "url"
    ID = "id"
    NUMBER = "number"
    SYMBOL = "symbol"
    QUOTED = "quoted"
    ERROR = "error"


_EVERYWHERE = """
    python python3 python2 python3.10 python3.11 python3.12 pip3 utf8 utf-8 UTF-8 ascii latin-1
    /dev/null /dev/stdin /dev/stdout /dev/stderr /tmp /tmp/ / /bin/bash /bin/sh /bin /usr/bin
    /usr/bin/env /usr/bin/python3 /usr/bin/python /usr/local/bin /usr/local /usr/lib /usr /etc /home
    /root /var /opt /proc /mnt bash.sh
    True False None self null true false nil undefined NaN
    __init__ __main__ __name__ __file__ __init__.py __str__ __repr__ __dict__ __class__ __call__
    localhost 127.0.0.1 0.0.0.0 localhost:8080 http:// https:// stdin stdout stderr
    sys.argv sys.exit sys.path sys.stdin sys.stdout sys.stderr os.path os.path.join os.path.exists
    os.environ os.listdir os.getcwd json.loads json.dumps json.load json.dump re.sub re.compile
    re.findall re.search re.match str.join time.sleep __future__ print() main() len() str() open()
    input() init() get() run() test() self.assertEqual console.log e.g i.e vs. a.m p.m etc.
    application/json text/html text/plain application/x-www-form-urlencoded multipart/form-data
    and/or his/her he/she him/her yes/no true/false input/output read/write I/O n/a N/A TCP/IP
    GitHub JavaScript TypeScript OpenAI YouTube LinkedIn iPhone macOS PyPI PyTorch NumPy GitLab
    tool_call tool_calls tool_use tool_result function_call call_id tool_call_id is_error
    file_path file_name filename content_type max_tokens exit_code returncode return_code
    0.0 1.0 0.00 00:00 00:00:00 100% 0% 50% 0.5 1.5 2.0 0.1 x86_64 README.md ISO-8859-1
"""
COMMON: frozenset[str] = frozenset(_EVERYWHERE.split())
"""Identifiers of many tasks: finding one of these in a history says nothing about it."""

LONGEST = 240
"""A longer token is an encoded blob; nobody retypes one from a summary."""

Names: TypeAlias = tuple[tuple[str, Kind], ...]

# Possessive quantifiers and bounded repeats: no token is ever scanned again from its middle.
_WORD = re.compile(r"\w{3,}")
_COMMON_TOKEN = r"[$€£¥]?[\w./@\#~:&%+-]++(?:\(\))?"
_PLAIN_LEXER = re.compile(_COMMON_TOKEN)
_BLANKED, _WORDS_ALONE = (
    bytes(byte if re.match(kept, chr(byte), re.ASCII) else 32 for byte in range(256))
    for kept in (r"[\w./@#~:&%+-]", r"\w")
)
"""Tables by which every character that no token, or no word, holds becomes a blank."""
_LEXER = re.compile(
    rf"""
      (?=[\w./@\#~:&%+\\$€£¥-])(?:
      [A-Za-z][A-Za-z0-9+]{{1,11}}+://[^\s"'`<>\\|{{}}^\]]++        # url
    | [A-Za-z]:(?:\\{{1,2}}[\w.$@~+-]++)+                           # windows path
    | \\[nrt]                        # an escaped line break would stick to the next word
    | [$€£¥]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d++)?%?                   # 1,234,567.89
    | {_COMMON_TOKEN})                                             # everything else
    """,
    re.VERBOSE,
)
# Each begins with its mark: what may begin with any character is tried at every one.
_QUOTED = re.compile(
    r"""
      "(?<!\w")(?=[\w/.\#@$<+-])([^"\n\\]{3,60})(?<=[\w)>.%!?+])"(?!\w)
    | '(?<!\w')(?=[\w/.\#@$<+-])([^'\n\\]{3,60})(?<=[\w)>.%!?+])'(?!\w)
    | `(?<![\w`]`)(?=[^\s`])([^`\n]{2,60})(?<=[^\s`])`(?![\w`])
    """,
    re.VERBOSE,
)

_EXTENSIONS = (
    "py|pyi|pyc|ipynb|js|jsx|mjs|cjs|ts|tsx|java|class|jar|kt|go|rs|c|cc|cpp|cxx|h|hh|hpp|cs|rb|php|"
    "pl|lua|swift|scala|sh|bash|zsh|ps1|bat|sql|db|sqlite|sqlite3|html|htm|css|scss|svg|xml|json|"
    "jsonl|yaml|yml|toml|ini|cfg|conf|env|lock|md|rst|txt|log|csv|tsv|xls|xlsx|doc|docx|ppt|pptx|"
    "pdf|png|jpg|jpeg|gif|bmp|webp|mp3|mp4|wav|avi|mov|zip|tar|gz|tgz|bz2|xz|7z|rar|bin|exe|dll|so|"
    "dylib|o|a|elf|pcap|pcapng|pem|key|crt|enc|bak|tmp|out|diff|patch|parquet|npy|npz|pkl|pt|onnx|"
    "tf|tex|bib|vue|svelte|gradle|properties|proto|sage|pub|eml|ics|dat|img|iso|apk|wasm|rules"
)
_FOLDERS = (
    "src|lib|libs|test|tests|bin|docs|doc|app|apps|pkg|cmd|config|configs|data|assets|scripts|"
    "static|templates|build|dist|include|internal|packages|node_modules|examples|tools|utils|"
    "core|api|server|client|home|usr|etc|var|opt|tmp|workspace|output|outputs|input|inputs|main"
)
_DATE = r"\d{4}-\d\d-\d\d|\d{4}/\d\d?/\d\d?|\d\d?[/.]\d\d?[/.]\d{4}|\d{4}\.\d\d\.\d\d"
_TIME = r"\d\d?:\d\d(?::\d\d(?:[.]\d+)?)?(?:Z|am|pm|AM|PM)?"
_HOST = r"(?:[\w-]+\.)+(?:com|org|net|io|edu|gov|dev|ai|co|uk|de|eu|fr|cn|jp|info|me|app|local)"

_TOKEN = re.compile(
    rf"""(?:
      (?P<url>[A-Za-z][A-Za-z0-9+]+://.+|www\..+\..+|{_HOST}(?:/.*)?|{_HOST}:\d+(?:/.*)?)
    | (?P<error>(?:[A-Z]\w*[a-z]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault|Panic)
        |(?:\w+\.)+\w+(?:Error|Exception)
        |E(?:NOENT|ACCES|EXIST|PERM|INVAL|PIPE|ADDRINUSE|CONNREFUSED|CONNRESET|TIMEDOUT|NOTFOUND
          |ISDIR|NOTDIR|NOTEMPTY|BUSY|AGAIN|NOSPC|RESOLVE|MFILE)
        |SIG(?:SEGV|ABRT|KILL|TERM|INT|FPE|ILL|BUS|PIPE)
        |(?:E|W|F|TS|CS|LNK|ERR|ORA-|SQLSTATE)\d{{3,5}})
    | (?P<number>[+-]?[$€£¥]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?%?|[+-]?[$€£¥]\d+(?:\.\d+)?[kKmMbB]?
        |[+-]?\d+\.\d+(?:[eE][+-]?\d+)?(?:%|[a-zA-Z]{{1,3}})?|[+-]?\d+%|[+-]?\d+[eE][+-]?\d+
        |(?:{_DATE})(?:T.*)?|{_TIME}|[+-]?\d{{3,}}(?:[a-zA-Z]{{1,3}})?)
    | (?P<id>[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d+|/\d+)?
        |v?\d+(?:\.\d+){{2,}}[\w.+-]*|\#\d+|0x[0-9a-fA-F]+|[A-Z][A-Z0-9]+-\d+
        |[A-Z]{{1,3}}\d+:[A-Z]{{1,3}}\d+|@\w[\w.-]+(?:/[\w.-]+)?
        |(?=[^/]*\d)(?=[^/]*[A-Za-z])(?!\d+(?:st|nd|rd|th)$)[A-Za-z0-9]{{5,}}
        |(?=.*\d)(?=.*[A-Za-z])(?!\d{{1,2}}-[a-z]+$)(?![A-Za-z]+-\d{{1,2}}$)
          [A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+)
    | (?P<path>~?(?:/[\w.@+~%\#&-]+)+/?|\.{{1,2}}(?:/[\w.@+~%-]+)+/?|\.{{1,2}}/
        |[A-Za-z]:\\.+|\.[a-z]\w{{2,}}(?:\.\w+)*
        |[\w.@+~-]+(?:/[\w.@+~-]+)*\.(?:{_EXTENSIONS})
        |[\w.@+~-]+(?:/[\w.@+~-]+){{2,}}/?|(?:{_FOLDERS})/[\w.@+~-]*
        |[\w.@+-]*[_.\d][\w.@+-]*/[\w.@+-]+|[\w.@+-]+/[\w.@+-]*[_.\d][\w.@+-]*)
    | (?P<symbol>[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]+)+
        |[A-Za-z]\w*_\w+|_+[A-Za-z]\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{{2,}}[a-z]+[A-Z]\w*
        |[A-Za-z_][\w.]*\(\))
    )\Z""",
    re.VERBOSE,
)
_LINE_NUMBER = re.compile(r"(?P<path>.*?[^:\d]):(?P<line>\d+)(?::\d+)?(?::.*)?\Z")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_LEADING = "([{<\"'`,;:!?&%+-"
_TRAILING = ")]}>\"'`,;:!?&.+-#@"


def identifiers(text: str) -> Mapping[str, Kind]:
    """The distinct identifiers of `text` in order of first appearance, each with its kind."""
    found: dict[str, Kind] = {}
    tokens: Iterable[str] = dict.fromkeys(_tokens(text))
    if len(text) > LONGEST:
        tokens = [token for token in tokens if len(token) <= LONGEST]
    for names in filter(None, map(_classified, tokens)):
        for name, kind in names:
            found.setdefault(name, kind)
    if '"' in text or "'" in text or "`" in text:
        for groups in found_in(_QUOTED, text):
            quoted = groups[0] or groups[1] or groups[2]
            plain = quoted.isalpha() and quoted.islower() and not groups[2]
            if not plain and quoted.isprintable():
                found.setdefault(quoted, Kind.QUOTED)
    return found


def _tokens(text: str) -> Iterable[str]:
    if len(text) > WINDOW:
        return found_in(_LEXER, text)
    if "\n" not in text:
        return _tokens_of_line(text)
    return chain.from_iterable(map(_tokens_of_line, text.split("\n")))


def _tokens_of_line(line: str) -> Iterable[str]:
    """The tokens of a line, which no token goes beyond."""
    # Behind a comma and a blank no number goes on.
    bare = line.replace(", ", "  ").rstrip(",") if "," in line else line
    plain = "," not in bare and "\\" not in line and "://" not in line
    if plain and "$" not in line and "()" not in line and line.isascii():
        # What the pattern finds are then the runs of a few characters, and they are found in a
        # tenth of the time.
        return _runs(bare, _BLANKED)
    return found_in(_PLAIN_LEXER if plain and "," not in line else _LEXER, line)


def _runs(text: str, table: bytes) -> list[str]:
    """What stands between the blanks that a table makes of a text in ASCII."""
    return text.encode("ascii").translate(table).decode("ascii").split()


def identifier_set(text: str) -> frozenset[str]:
    """The identifiers of `text` that say something: unordered, without the common ones."""
    return frozenset(identifiers(text).keys() - COMMON)


def words_of(text: str) -> list[str]:
    """The words of some length, in lower case, in order."""
    if text.isascii() and len(text) <= WINDOW:
        return [word for word in _runs(text.lower(), _WORDS_ALONE) if len(word) > 2]
    return list(found_in(_WORD, text.lower()))


def argument_text(arguments: str) -> str:
    """A call's arguments as `key: value` lines: what the agent meant, without JSON's escapes."""
    try:
        decoded = given(arguments)
    except NotGiven:
        return arguments
    return "\n".join(_leaves(decoded, ""))


def _leaves(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    else:
        shown = value if isinstance(value, str) else json.dumps(value)
        yield f"{key}: {shown}" if key else shown


@lru_cache(maxsize=65_536)
def _classified(token: str) -> Names:
    """The identifiers of one token; mostly none or one."""
    name = _trimmed(token)
    # A plain word is by far the commonest token, and never worth the long pattern.
    if (len(name) < 3 and name.isalnum()) or (name.isalpha() and name[1:].islower()):
        return ()
    match = _TOKEN.match(name)
    if match:
        kind = Kind(str(match.lastgroup))
        return ((_canonical(name, kind), kind),) if _is_telling(name, kind) else ()
    located = _LINE_NUMBER.match(name)
    if located and "." in located["path"]:
        return _classified(located["path"])
    return _pieces(name)


def _pieces(name: str) -> Names:
    """`key:value`, `A&B` and `x--y` are several tokens glued together."""
    parts = [part for part in re.split(r"[:&%#]+|--+|\.{2,}", name) if part]
    if len(parts) < 2:
        return ()
    return tuple(found for part in parts for found in _classified(part))


def _trimmed(token: str) -> str:
    """Without the punctuation of the sentence around it."""
    if token.endswith("()"):
        return token.lstrip(_LEADING)
    name = token.lstrip(_LEADING) if token[0] in _LEADING else token
    # `20%` keeps its sign, `foo%` was in a sentence; a closing bracket may belong to a url.
    if "://" in name and name.endswith(")") and "(" in name:
        return name
    return name.rstrip(_TRAILING)


def _canonical(name: str, kind: Kind) -> str:
    if kind is Kind.SYMBOL and name.endswith("()") and _TOKEN.match(name[:-2]):
        return name[:-2]
    return name


def _is_telling(name: str, kind: Kind) -> bool:
    """Whether the number is more than a count, a year or a round figure."""
    if kind is not Kind.NUMBER or not name.isdigit():
        return True
    if _YEAR.match(name):
        return False
    return len(name.strip("0")) >= 2
