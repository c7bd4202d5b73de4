"""The closed-loop bench: real tools, tasks with checkers, any strategy before each request.

What it raises on purpose are errors of `statecomp.errors`:

StateCompError
├── ModelFailed           models: the acting model gave no message to act on
├── RunFailed             agent: a run cannot go on, and is scored 0
└── SandboxFailed         sandbox: no sandbox, or it could not go on
"""

__version__ = "0.3.0"
