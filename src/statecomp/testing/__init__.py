"""Parts to test with, ours and yours: real ones, that follow a script.

- `words`: histories drawn as words, `"prrkrr"`, and read back, `"ps"`.
- `chat.ScriptedChat`: a chat that gives the answers it was told to give, or fails as it was told.
- `provider`: an HTTP server that speaks three protocols, refuses what the real ones refuse, meters
  what is cached, and fails when told to; it does not use `statecomp.wire`, so that a mistake there
  shows here.  It needs `statecomp[proxy]`.

Nothing in them is random, and nothing leaves the machine.
"""
