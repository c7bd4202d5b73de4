"""OpenAI's Responses API: `provider.py` says all that it is, the other files how."""
