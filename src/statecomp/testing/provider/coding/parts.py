"""The modules of the project: where each is from, what is wrong with it, what its test checks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodingPart:
    """A module of Python's library; `right` is a line of it that stands there as `wrong`.

    `symptom` and `cause` are what somebody says who has seen the test fail, then the code.
    Checks are (name, expression, what it must equal).
    """

    source: str
    names: str  # what its test imports
    right: str
    wrong: str
    symptom: str
    cause: str
    beside: str  # a module one looks at too
    checks: tuple[tuple[str, str, str], ...]

    @property
    def name(self) -> str:
        package, _, module = self.source.rpartition("/")
        return package if module == "__init__" else module


EXTRA = ("glob", "copy", "linecache", "filecmp")
"""Modules that are there and are in order."""

PARTS = (
    CodingPart(
        "fnmatch",
        "filter, fnmatch, fnmatchcase",
        "            if j < n and pat[j] == '!':",
        "            if j < n and pat[j] == '^':",
        "a set negated with ! that begins with a bracket is read to its first bracket only",
        "translate() looks for '^' where shell patterns negate with '!'",
        "glob",
        (
            ("star", "fnmatchcase('report.txt', '*.txt')", "True"),
            ("question_mark", "fnmatchcase('a.c', '?.c')", "True"),
            ("set", "fnmatchcase('b', '[abc]')", "True"),
            ("negated_set", "fnmatchcase('b', '[!abc]')", "False"),
            ("negated_bracket", "fnmatchcase('a', '[!]b]')", "True"),
            ("negated_bracket_itself", "fnmatchcase(']', '[!]b]')", "False"),
            ("filter", "filter(['a.py', 'b.txt', 'c.py'], '*.py')", "['a.py', 'c.py']"),
        ),
    ),
    CodingPart(
        "getopt",
        "getopt, gnu_getopt",
        "            return shortopts.startswith(':', i+1)",
        "            return shortopts.startswith(':', i)",
        "-o with an argument is read as a flag, and its argument ends the options",
        "short_has_arg() looks for the colon at the letter itself, not behind it",
        "shlex",
        (
            ("flag", "getopt(['-v', 'x'], 'v')", "([('-v', '')], ['x'])"),
            ("joined_flags", "getopt(['-ab'], 'ab')", "([('-a', ''), ('-b', '')], [])"),
            ("argument", "getopt(['-o', 'out', 'in'], 'o:')", "([('-o', 'out')], ['in'])"),
            ("glued_argument", "getopt(['-oout'], 'o:')", "([('-o', 'out')], [])"),
            ("long", "getopt(['--name', 'x'], '', ['name='])", "([('--name', 'x')], [])"),
            ("long_prefix", "getopt(['--na=x'], '', ['name='])", "([('--name', 'x')], [])"),
            ("two_dashes", "getopt(['--', '-v'], 'v')", "([], ['-v'])"),
            ("mixed", "gnu_getopt(['a', '-v', 'b'], 'v')", "([('-v', '')], ['a', 'b'])"),
        ),
    ),
    CodingPart(
        "graphlib",
        "TopologicalSorter",
        "                if successor_info.npredecessors == 0:",
        "                if successor_info.npredecessors == 1:",
        "static_order() stops after the first nodes of a chain and gives some twice",
        "done() passes a node on while one of its predecessors is still missing",
        "copy",
        (
            ("single", "list(TopologicalSorter({'a': []}).static_order())", "['a']"),
            (
                "chain",
                "list(TopologicalSorter({'b': 'a', 'c': 'b'}).static_order())",
                "list('abc')",
            ),
            (
                "diamond",
                "list(TopologicalSorter({'d': 'bc', 'b': 'a', 'c': 'a'}).static_order())[-1]",
                "'d'",
            ),
            ("empty", "list(TopologicalSorter().static_order())", "[]"),
            ("inactive", "bool(sorter({}))", "False"),
            ("ready", "sorter({'b': 'a'}).get_ready()", "('a',)"),
        ),
    ),
    CodingPart(
        "string",
        "Formatter, Template, capwords",
        "                ids.append(named)",
        "                ids.insert(0, named)",
        "get_identifiers() names the placeholders from the last to the first",
        "get_identifiers() puts each name in front of those before it",
        "reprlib",
        (
            ("substitute", "Template('$a ${b}').substitute(a=1, b=2)", "'1 2'"),
            ("escaped", "Template('$$a').substitute()", "'$a'"),
            ("safe", "Template('$a $b').safe_substitute(a=1)", "'1 $b'"),
            ("valid", "Template('$a $').is_valid()", "False"),
            ("identifiers", "Template('$a $b').get_identifiers()", "['a', 'b']"),
            ("identifiers_once", "Template('$a $a').get_identifiers()", "['a']"),
            ("format", "Formatter().format('{0}-{x}', 1, x=2)", "'1-2'"),
            ("capwords", "capwords('two words')", "'Two Words'"),
        ),
    ),
    CodingPart(
        "wsgiref/headers",
        "Headers",
        "        if quote or tspecials.search(value):",
        "        if quote and tspecials.search(value):",
        "a parameter without special characters loses its quotes",
        "_formatparam() asks for both conditions where either is enough",
        "util",
        (
            ("get", "Headers([('A', '1')])['a']", "'1'"),
            ("missing", "Headers([])['a']", "None"),
            ("all", "Headers([('A', '1'), ('a', '2')]).get_all('A')", "['1', '2']"),
            ("length", "len(Headers([('A', '1'), ('B', '2')]))", "2"),
            ("text", "str(Headers([('A', '1')]))", "'A: 1\\r\\n\\r\\n'"),
            (
                "parameter",
                "added('Content-Disposition', 'attachment', filename='bud.gif')",
                "'attachment; filename=\"bud.gif\"'",
            ),
            ("special", "added('X', 'y', title='a b')", "'y; title=\"a b\"'"),
        ),
    ),
    CodingPart(
        "urllib/robotparser",
        "RobotFileParser",
        '        useragent = useragent.split("/")[0].lower()',
        '        useragent = useragent.split("/")[0]',
        "a robot named in capitals is not recognised, so it may fetch everything",
        "applies_to() compares a lower-case name with the user agent as it was sent",
        "linecache",
        (
            ("unread", "RobotFileParser().can_fetch('bot', '/')", "False"),
            ("allowed", "parsed('User-agent: *\\nDisallow: /x').can_fetch('bot', '/y')", "True"),
            ("forbidden", "parsed('User-agent: *\\nDisallow: /x').can_fetch('bot', '/x')", "False"),
            ("named", "parsed('User-agent: bot\\nDisallow: /').can_fetch('bot', '/')", "False"),
            (
                "capitals",
                "parsed('User-agent: Bot\\nDisallow: /').can_fetch('Bot/2', '/')",
                "False",
            ),
            ("delay", "parsed('User-agent: bot\\nCrawl-delay: 3').crawl_delay('bot')", "3"),
            ("delay_capitals", "parsed('User-agent: B\\nCrawl-delay: 3').crawl_delay('B')", "3"),
        ),
    ),
    CodingPart(
        "netrc",
        "netrc",
        "                elif tt == 'login' or tt == 'user':",
        "                elif tt == 'login':",
        "'user' in an entry is a parse error, although the format allows it for 'login'",
        "_parse() knows one of the two words for the login",
        "shlex",
        (
            ("login", "read('machine h login l password p').hosts['h']", "('l', '', 'p')"),
            ("account", "read('machine h login l account a').hosts['h']", "('l', 'a', '')"),
            ("user", "read('machine h user u password p').hosts['h']", "('u', '', 'p')"),
            ("default", "read('default login d').authenticators('x')", "('d', '', '')"),
            ("unknown", "read('machine h login l').authenticators('x')", "None"),
            ("quoted", "read('machine h login \"a b\"').hosts['h'][0]", "'a b'"),
        ),
    ),
    CodingPart(
        "html/__init__",
        "escape, unescape",
        "        for x in range(len(s)-1, 1, -1):",
        "        for x in range(len(s)-1, 2, -1):",
        "&gtx stays as it is, where &gt should be found in it",
        "the search for the longest name stops before names of two letters",
        "quoprimime",
        (
            ("escape", "escape('<a>')", "'&lt;a&gt;'"),
            ("quotes", "escape('\"')", "'&quot;'"),
            ("no_quotes", "escape('\"', quote=False)", "'\"'"),
            ("named", "unescape('&lt;&amp;')", "'<&'"),
            ("number", "unescape('&#62;&#x3e;')", "'>>'"),
            ("longest_name", "unescape('&notit')", "'\\xacit'"),
            ("short_name", "unescape('&gtx')", "'>x'"),
            ("unknown", "unescape('&nosuch;')", "'&nosuch;'"),
        ),
    ),
    CodingPart(
        "sched",
        "scheduler",
        "                if time > now:",
        "                if time >= now:",
        "an event that is due now is not run",
        "run() waits for events of this very moment as if they lay ahead",
        "queue",
        (
            ("empty", "scheduler(clock, waited).empty()", "True"),
            ("due", "ran(due=0)", "['a']"),
            ("past", "ran(due=-1)", "['a']"),
            ("future", "ran(due=1)", "[]"),
            ("deadline", "deadline(due=5)", "5"),
            ("order", "ordered(3, 1, 2)", "[1, 2, 3]"),
        ),
    ),
    CodingPart(
        "email/quoprimime",
        "body_encode, decode, header_decode, header_encode, quote, unquote",
        "                decoded += unquote(line[i:i+3])",
        "                decoded += unquote(line[i:i+2])",
        "decode() gives control characters where =41 should be the letter A",
        "decode() hands unquote() one digit of two",
        "html",
        (
            ("quote", "quote('=')", "'=3D'"),
            ("unquote", "unquote('=41')", "'A'"),
            ("header", "header_encode(b'a b')", "'=?iso-8859-1?q?a_b?='"),
            ("header_back", "header_decode('a_b=21')", "'a b!'"),
            ("body", "body_encode('a=b')", "'a=3Db'"),
            ("plain", "decode('abc')", "'abc'"),
            ("escapes", "decode('=41=42')", "'AB'"),
            ("soft_break", "decode('a=\\nb')", "'ab'"),
        ),
    ),
    CodingPart(
        "wsgiref/util",
        "application_uri, guess_scheme, is_hop_by_hop, request_uri, shift_path_info",
        "        url += path_info[1:]",
        "        url += path_info[0:]",
        "an address without a script name has two slashes behind the host",
        "request_uri() adds the path with its slash to a base that ends with one",
        "headers",
        (
            ("scheme", "guess_scheme({'HTTPS': 'on'})", "'https'"),
            ("application", "application_uri(ENVIRON)", "'http://h/'"),
            ("request", "request_uri({**ENVIRON, 'PATH_INFO': '/a'})", "'http://h/a'"),
            (
                "query",
                "request_uri({**ENVIRON, 'PATH_INFO': '/a', 'QUERY_STRING': 'b=1'})",
                "'http://h/a?b=1'",
            ),
            ("shift", "shift_path_info({'PATH_INFO': '/a/b'})", "'a'"),
            ("hop", "is_hop_by_hop('Connection')", "True"),
        ),
    ),
    CodingPart(
        "queue",
        "LifoQueue, PriorityQueue, Queue",
        "            return 0 < self.maxsize <= self._qsize()",
        "            return 0 < self.maxsize < self._qsize()",
        "a queue of two with two items does not say that it is full",
        "full() compares with less-than where it must allow equality",
        "sched",
        (
            ("first_in", "drained(Queue, 2, 1, 3)", "[2, 1, 3]"),
            ("last_in", "drained(LifoQueue, 2, 1, 3)", "[3, 1, 2]"),
            ("smallest", "drained(PriorityQueue, 2, 1, 3)", "[1, 2, 3]"),
            ("empty", "Queue().empty()", "True"),
            ("full", "filled(Queue, 2, 2).full()", "True"),
            ("not_full", "filled(Queue, 2, 1).full()", "False"),
            ("unbounded", "filled(Queue, 0, 9).full()", "False"),
        ),
    ),
    CodingPart(
        "shlex",
        "join, quote, split",
        """    return "'" + s.replace("'", "'\\"'\\"'") + "'\"""",
        """    return "'" + s.replace("'", "'\\"'") + "'\"""",
        "a quoted apostrophe does not survive a round through split()",
        "quote() closes the double quotes around an apostrophe too early",
        "getopt",
        (
            ("split", "split('a b')", "['a', 'b']"),
            ("split_quotes", "split(\"a 'b c'\")", "['a', 'b c']"),
            ("plain", "quote('abc')", "'abc'"),
            ("space", "quote('a b')", "\"'a b'\""),
            ("empty", "quote('')", "\"''\""),
            ("apostrophe", 'split(quote("it\'s"))', '["it\'s"]'),
            ("join", "join(['a', 'b c'])", "\"a 'b c'\""),
        ),
    ),
    CodingPart(
        "colorsys",
        "hls_to_rgb, hsv_to_rgb, rgb_to_hls, rgb_to_hsv, rgb_to_yiq",
        "    if hue < TWO_THIRD:",
        "    if hue < ONE_THIRD:",
        "blue shades lose their green between a half and two thirds of the hue",
        "_v() compares with a third where the falling edge ends at two thirds",
        "filecmp",
        (
            ("grey", "rgb_to_hls(0.5, 0.5, 0.5)", "(0.0, 0.5, 0.0)"),
            ("black", "rgb_to_yiq(0, 0, 0)", "(0.0, 0.0, 0.0)"),
            ("red", "hls_to_rgb(0.0, 0.5, 1.0)", "(1.0, 0.0, 0.0)"),
            ("blue", "rounded(hls_to_rgb(0.6, 0.5, 1.0))", "(0.0, 0.4, 1.0)"),
            ("violet", "rounded(hls_to_rgb(0.9, 0.5, 1.0))", "(1.0, 0.0, 0.6)"),
            ("value", "rgb_to_hsv(0, 0.5, 0)[2]", "0.5"),
            ("hsv", "hsv_to_rgb(0.0, 0.0, 0.3)", "(0.3, 0.3, 0.3)"),
        ),
    ),
    CodingPart(
        "reprlib",
        "Repr, repr",
        "        if n > self.maxdict:",
        "        if n >= self.maxdict:",
        "a dictionary of exactly four entries is shown with three dots",
        "repr_dict() fills up at the limit, not beyond it",
        "string",
        (
            ("list", "repr([1, 2])", "'[1, 2]'"),
            ("long_list", "repr(list(range(9)))", "'[0, 1, 2, 3, 4, 5, ...]'"),
            ("tuple", "repr((1,))", "'(1,)'"),
            ("dict", "repr({1: 2})", "'{1: 2}'"),
            ("dict_at_the_limit", "repr(dict.fromkeys(range(4), 0))", "'{0: 0, 1: 0, 2: 0, 3: 0}'"),
            ("long_text", "len(repr('x' * 99))", "30"),
            ("set", "repr(set())", "'set()'"),
        ),
    ),
)
