"""`statecomp-bench`: what is printed, recorded and refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.tests.desk.test_server import desk
from bench.tests.running import needs_sandbox
from statecomp.errors import BadInput
from statecomp_bench.cli.app import app
from statecomp_bench.results import read_results


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_tasks_are_listed() -> None:
    shown = run("tasks", "--tasks", "security")
    assert "security-intrusion" in shown
    assert "web-brochure" not in shown


def test_a_bench_goes_on_where_it_stopped(tmp_path: Path) -> None:
    needs_sandbox()
    common = ("--tasks", "office-invoices", "--jobs", "1", "-o", str(tmp_path))
    shown = run("run", *common, "--strategy", "none", "--max-steps", "3")
    assert "a simulation, not a language model" in shown
    shown = run(
        "run", *common, "--strategy", "none", "--strategy", "window:keep=5", "--max-steps", "3"
    )
    assert "1 runs are recorded" in shown
    assert [r.strategy for r in read_results(tmp_path)] == ["none", "window:keep=5"]
    assert len(list((tmp_path / "trajectories").iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--tasks", "nothing-*"), "no task is like"),
        (("--seeds", "one"), "is written 0..4"),
        (("--model", "scripted:lazy"), "is unknown"),
        (("--model", "gpt"), "is named scripted"),
        (("--strategy", "magic"), "is unknown"),
    ],
)
def test_wrong_words_are_refused_before_any_work(
    arguments: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=problem):
        CliRunner().invoke(app, ["run", "-o", str(tmp_path), *arguments], catch_exceptions=False)


class Server(BaseHTTPRequestHandler):
    """Looks around once, then says it is done."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message: dict[str, object] = {"role": "assistant", "content": "All done."}
        if body["messages"][-1]["role"] == "user":
            function = {"name": "list_files", "arguments": "{}"}
            call = {"id": "call_1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        assert {tool["function"]["name"] for tool in body["tools"]} >= {"shell", "python"}
        usage = {"prompt_tokens": 1000, "completion_tokens": 10}
        reply = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server() -> Iterator[str]:
    served = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}/v1"
    served.shutdown()
    served.server_close()
    thread.join()


def test_any_openai_compatible_model_can_act(server: str, tmp_path: Path) -> None:
    needs_sandbox()
    shown = run(
        *("run", "--tasks", "web-brochure", "--strategy", "none", "--jobs", "1"),
        *("--model", "openai:tiny", "--base-url", server, "-o", str(tmp_path)),
    )
    (result,) = read_results(tmp_path)
    assert (result.model, result.steps, result.failed) == ("openai:tiny", 2, False)
    assert (result.input, result.output) == (2000, 20)
    assert result.reward <= 0.1
    assert not result.simulated
    assert "simulation" not in shown


def test_a_desk_nobody_answers_costs_its_runs_one_by_one_and_each_says_why(tmp_path: Path) -> None:
    needs_sandbox()
    with desk(tmp_path / "desk", wait_s=0.0) as (url, queue):
        shown = run(
            *("run", "--tasks", "web-brochure", "--tasks", "code-mirrors", "--strategy", "none"),
            *("--model", "openai:any", "--base-url", f"{url}/v1", "--deadline", "1"),
            *("--jobs", "1", "-o", str(tmp_path)),
        )
        assert len(list(queue.standings())) == 2  # the second was asked, too
    found = read_results(tmp_path)
    assert {result.task for result in found} == {"web-brochure", "code-mirrors"}
    assert all("nobody has answered" in result.reason for result in found)
    assert all((result.failed, result.reward) == (True, 0.0) for result in found)
    assert "runs failed: the model failed" in shown
