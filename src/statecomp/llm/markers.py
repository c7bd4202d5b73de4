"""The words and shapes by which fragments are told apart."""

from __future__ import annotations

import re

ERROR = re.compile(
    r"\b(?:\w*(?:Error|Exception)\b|error\b|fail(?:ed|ure|s)?\b|not found|No such file|denied|"
    r"invalid|cannot|could ?n[o']t|unable to|unknown|unsupported|not (?:defined|supported|allowed|"
    r"recognized|implemented|exist)|does ?n[o']t exist|no module named|undefined|timed? ?out|"
    r"traceback|refused|missing|unexpected|unmatched|forbidden|unauthorized|conflict|exceed(?:s|ed)|"
    r"panic|fatal|segmentation fault|HTTP error|returncode\"?: [1-9]|exit code:? [1-9])",
    re.IGNORECASE,
)
CONCLUSION = re.compile(
    r"\b(?:found|confirm(?:s|ed)|fixed|pass(?:es|ed)|works?\b|worked|success(?:ful|fully)?|"
    r"the (?:issue|problem|cause|reason|answer|result|fix|bug|key|flag) (?:is|was)|because|"
    r"means|shows?|indicates?|suggests?|appears?|seems?|contains?|there (?:is|are)|it is|I see|"
    r"has been|have been|completed?|done|created|identified|determined|root cause|so the|"
    r"therefore|turns out|is (?:in|at|on|located|now|already|not)|are (?:in|at|all|not))\b",
    re.IGNORECASE,
)
INTENT = re.compile(
    r"\b(?:I(?:'ll| will| need to| should| want to|'m going to| can| could| might)|"
    r"let(?:'s| me| us)|next,?|now,? |first,|we (?:need|should|can|will)|try(?:ing)?\b|"
    r"going to|plan(?: is|:)|start by|to do this)",
    re.IGNORECASE,
)
CREATED = re.compile(
    r"\b(?:created?|saved?|written|wrote|added|updated?|uploaded|deleted|inserted|generated|sent|"
    r"successfully|installed|copied|moved|renamed|committed|merged|modified)\b",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"\b(?:total|count|number of|found|sum|average|mean|size|length|rows?|columns?|lines?|"
    r"results?|items?|version|score|price|amount|status|port|step)\b\W{0,4}\d|"
    r"\b\d+ (?:rows?|results?|files?|lines?|items?|matches|passed|failed|pages?|columns?|runs?)\b",
    re.IGNORECASE,
)
KEYED = re.compile(r"""["']?[\w .$-]{1,40}["']?\s*[:=]\s*\S""")
NAMED_KEY = re.compile(
    r"""["']?(?:\w*[_-])?(?:id|name|title|url|path|email|key|token|type|status|message|value|address|"""
    r"""username|user|date|file|filename|number|subject|sheet_name|label|slug|sku|code)["']?\s*[:=]""",
    re.IGNORECASE,
)
CODE = re.compile(
    r"(?:[;{]|\):|\) \{|=>)\s*\Z|\A\s*(?:\d+[:|]?\s+)?(?:def |class |import |from \w+ import|"
    r"return |if |for |while |try|except|public |private |const |let |var |#include|else|elif |@)"
)
CAPITALS = re.compile(r"\b[A-Z][a-z]+ (?:[a-z]{1,3} )?[A-Z][a-z]+")
HEADER = re.compile(r"\A\s*(?:#+ |\*\*|\[|=+ )|:\s*\Z")
CHOICE = re.compile(r"""\A\W*\w+["']?\s*:\s*["']?[a-z_]+["']?\W*\Z""")
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
OFF = re.compile(r""":\s*["']?(?:false|0|none|default|n/a)["']?\W*\Z""", re.IGNORECASE)
STORED = re.compile(
    r"\b(?:saved|written|stored|moved|copied|uploaded|downloaded)\b.{0,40}\b(?:to|as|in|at)\b"
)
RAISED = re.compile(r"\A[\w.]*(?:Error|Exception)\b")
ROW = re.compile(r"\A\s*(?:[-*|]|\d+[.)|:]|\[\w+\])\s?")
FAILURE = re.compile(
    r"\A\W*(?:error|traceback|fatal|exception|usage:|failed)|\A[\w.]*(?:Error|Exception)\b|"
    r"command not found|No such file|HTTP error|Permission denied|"
    r"\"(?:returncode|exit_code)\": [1-9]",
    re.IGNORECASE,
)
CONSTRAINT = re.compile(
    r"\b(?:must(?: not)?|should(?: not|n't)?|never|always|only|required|do not|don't|mandatory|"
    r"at (?:most|least)|no more than|not allowed|forbidden|limited to)\b",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"\?\s*\Z|\b(?:TODO|FIXME|still (?:need|have|must|missing)|remain(?:s|ing)|not yet|left to do|"
    r"unclear|unresolved|pending|need to (?:check|verify|find|fix))\b",
    re.IGNORECASE,
)
# Text that gives orders to its reader would be obeyed by some; a record must not relay it.
ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your |of )*(?:previous|prior|above|earlier)|"
    r"\byou (?:are now|must now)\b|\bsystem prompt\b|\bnew instructions?\b",
    re.IGNORECASE,
)
