"""What a command shows and loads when it is asked for help."""

from __future__ import annotations

import subprocess
import sys


def help_of(package: str) -> tuple[str, set[str]]:
    """The help of a package's command, in a process of its own, and the modules loaded for it."""
    code = (
        f"import sys; from {package}.cli.app import app; "
        "app.main(['--help'], standalone_mode=False); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown, _, loaded = done.stdout.rstrip().rpartition("\n")
    return shown, set(loaded.split())
