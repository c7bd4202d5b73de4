"""How many tokens a text or a message costs, and whether that number is exact.

A counter says what it is: `name` for reports, `exact` for whoever decides on the number.

- `ESTIMATE` needs nothing but the text.  It counts what makes a byte-pair tokenizer begin a new
  token (words, case changes, digits, punctuation, line breaks, scripts) with weights fitted
  midway between OpenAI's cl100k_base and o200k_base; `benchmarks/token_estimate.py` measures it.
- `counter_for` gives an exact counter where the tokenizer of a model lies on this machine already.
  Nothing here ever opens a connection, and nothing is read or imported before it is asked for.

The estimate is good for English, code, JSON, logs and other machine text.  On scripts other than
Latin the two encodings differ from each other by a factor of up to five, so no single number can
be right for both; it then stands between them.
"""

from statecomp.tokens.counter import TokenCounter
from statecomp.tokens.estimate import ESTIMATE
from statecomp.tokens.exact import counter_for
from statecomp.tokens.message import count_message

__all__ = ["ESTIMATE", "TokenCounter", "count_message", "counter_for"]
