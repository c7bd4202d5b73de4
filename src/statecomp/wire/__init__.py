"""The protocols of the providers: messages to histories and back, without changing what is kept."""
