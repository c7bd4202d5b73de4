"""The demo: an agent does a day's work behind the proxy, for fewer tokens, with nothing refused."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_agent_does_all_its_tasks_for_fewer_tokens(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "samples.demo_agent"]
    command += ["--store", str(tmp_path / "ledger.sqlite")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, done.stderr
    requests = [int(n) for n in re.findall(r"(\d+) requests, 5 of 5 tasks done", done.stdout)]
    assert len(requests) == 2
    assert min(requests) > 100
    assert re.search(r"refused +0 requests", done.stdout)
    assert re.search(r"http://127\.0\.0\.1:\d+/statecomp/", done.stdout)
    direct, sent = (int(n.replace(",", "")) for n in re.findall(r"([\d,]+) input", done.stdout)[:2])
    assert sent < direct
