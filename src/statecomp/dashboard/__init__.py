"""The pages that show what the proxy did: totals, live sessions, every commit with its reasons."""
