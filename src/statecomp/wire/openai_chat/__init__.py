"""OpenAI's chat completions, as most servers speak them: `provider.py` says all that it is."""
