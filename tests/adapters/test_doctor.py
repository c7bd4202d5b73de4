"""`statecomp doctor`: what it finds, what it says about it, and that it changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from statecomp.adapters import doctor
from statecomp.adapters.shortener import Shortener
from statecomp.cli.app import app
from statecomp.errors import BadInput
from statecomp.ledger.open import open_ledger
from statecomp.testing.provider.serving import free_port
from tests.adapters.test_shortener import EAGER, conversation, held, shortened
from tests.proxy.serving import proxied

URL = "http://127.0.0.1:8484"


def home(folder: Path, *, claude: str = "", codex: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    if claude:
        (folder / ".claude").mkdir()
        settings = {"env": {"ANTHROPIC_BASE_URL": claude}}
        (folder / ".claude" / "settings.json").write_text(json.dumps(settings))
    if codex:
        (folder / ".codex").mkdir()
        text = f'model_provider = "sc"\n[model_providers.sc]\nbase_url = "{codex}"\n'
        (folder / ".codex" / "config.toml").write_text(text)
    return folder


def found(folder: Path, url: str, **environ: str) -> Mapping[str, doctor.Finding]:
    given = {"PATH": str(folder), **environ}
    seen = doctor.clients(given, folder, url, folder / "project")
    return {finding.name: finding for finding in seen}


def test_a_machine_without_clients_has_none(tmp_path: Path) -> None:
    assert found(home(tmp_path), URL) == {}


def test_a_client_that_is_installed_and_not_connected_gets_its_line(tmp_path: Path) -> None:
    for name in ("claude", "codex"):
        (tmp_path / name).touch(0o755)
    heard = found(home(tmp_path), URL)
    assert heard["Claude Code"].how.startswith("not connected: ANTHROPIC_BASE_URL=")
    assert f'base_url = "{URL}/v1"' in heard["Codex"].how
    assert not any(finding.wrong for finding in heard.values())


def test_a_connected_client_needs_a_proxy_that_answers(tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    place = home(tmp_path, claude=dead, codex=f"{dead}/v1")
    for finding in found(place, dead).values():
        assert finding.wrong
        assert "start `statecomp serve`" in finding.how


def test_a_connected_client_is_fine_where_the_proxy_answers(tmp_path: Path) -> None:
    with proxied() as proxy:
        heard = found(home(tmp_path, claude=proxy.url, codex=f"{proxy.url}/v1"), proxy.url)
        assert doctor.proxy_mode(proxy.url) == "compress"
    assert [finding.wrong for finding in heard.values()] == [False, False]
    assert heard["Claude Code"].how == "connected by ~/.claude/settings.json"
    assert doctor.proxy_mode(proxy.url) == ""


@pytest.mark.parametrize("ending", ["/v1", ""])
def test_a_wrong_ending_of_the_address_is_named(tmp_path: Path, ending: str) -> None:
    heard = found(home(tmp_path, claude=f"{URL}{ending}", codex=f"{URL}{ending}"), URL)
    wrong = "Claude Code" if ending else "Codex"
    assert heard[wrong].wrong
    assert "/v1" in heard[wrong].how


def test_another_gateway_is_named_without_its_secrets(tmp_path: Path) -> None:
    given = {"ANTHROPIC_BASE_URL": "https://me:secret@gateway.test/x?key=1"}
    heard = found(home(tmp_path), URL, **given)
    assert "https://gateway.test by ANTHROPIC_BASE_URL" in heard["Claude Code"].how
    assert "secret" not in heard["Claude Code"].how


def test_the_settings_of_the_project_come_before_those_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    home(tmp_path, claude="https://gateway.test")
    home(tmp_path / "project", claude=URL + "/v1")
    assert ".claude/settings.json must not end with /v1" in found(tmp_path, URL)["Claude Code"].how
    local = tmp_path / "project" / ".claude" / "settings.local.json"
    local.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://elsewhere.test"}}))
    assert (
        "elsewhere.test by .claude/settings.local.json" in found(tmp_path, URL)["Claude Code"].how
    )


def test_folders_of_settings_may_be_elsewhere(tmp_path: Path) -> None:
    place = home(tmp_path / "claude", claude="https://one.test") / ".claude"
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex" / "config.toml").write_text('openai_base_url = "https://two.test/v1"')
    moved = {"CLAUDE_CONFIG_DIR": str(place), "CODEX_HOME": str(tmp_path / "codex")}
    heard = found(tmp_path / "nobody", URL, **moved)
    assert "one.test" in heard["Claude Code"].how
    assert "two.test" in heard["Codex"].how


def test_the_agent_sdk_goes_where_claude_code_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "claude_agent_sdk"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    heard = found(home(tmp_path), URL)
    assert "ClaudeAgentOptions(env=" in heard["Claude Agent SDK"].how
    heard = found(tmp_path, URL, ANTHROPIC_BASE_URL=f"{URL}/v1")
    assert heard["Claude Agent SDK"].wrong


@pytest.mark.parametrize("nowhere", ["127.0.0.1:8484", "http://[::1", "http://host:port", "off"])
def test_what_is_no_address_is_named(tmp_path: Path, nowhere: str) -> None:
    heard = found(home(tmp_path, claude=nowhere), URL)["Claude Code"]
    assert heard.wrong
    assert heard.how.startswith("the address in ~/.claude/settings.json is none: ANTHROPIC_BASE")
    done = CliRunner().invoke(app, ["doctor", "--url", nowhere])
    assert isinstance(done.exception, BadInput)
    assert "write it as http://127.0.0.1:8484" in str(done.exception)


def test_the_vercel_sdk_of_this_project_gets_its_line(tmp_path: Path) -> None:
    place = tmp_path / "project" / "node_modules" / "ai"
    place.mkdir(parents=True)
    (place / "package.json").write_text('{"name": "ai", "version": "6.0.326"}')
    (found_,) = found(tmp_path, URL).values()
    assert found_.name == "Vercel AI SDK 6.0.326"
    assert f'createOpenAI({{baseURL: "{URL}/v1"}})' in found_.how
    (place / "package.json").write_text("[]")
    assert found(tmp_path, URL) == {}


def test_what_was_only_observed_is_said_to_be_so(tmp_path: Path) -> None:
    store = str(tmp_path / "ledger.sqlite")
    shortener = Shortener("drawn", store=store, mode="observe", **EAGER)
    held(shortener, 12)
    shortener.close()
    ledger = open_ledger(store, mask=lambda message, known: message)
    session = doctor.last_session(ledger, ["drawn"])
    assert session is not None
    assert "nothing saved: mode observe changes nothing (" in doctor.describe_session(
        session, session.last_s
    )
    ledger.close()


def test_a_ledger_that_cannot_be_read_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    store = tmp_path / "ledger.sqlite"
    store.write_text("this is no database, whatever it is called" * 50)
    url = f"http://127.0.0.1:{free_port()}"
    done = CliRunner().invoke(app, ["doctor", "--store", str(store), "--url", url])
    assert "cannot be read: " in done.output
    assert "is not there yet" not in done.output


def test_settings_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    for file in (".claude/settings.json", ".codex/config.toml"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text("[[[")
    assert found(tmp_path, URL) == {}


def test_it_says_whether_the_last_requests_were_touched(tmp_path: Path) -> None:
    store = str(tmp_path / "ledger.sqlite")
    saver = Shortener("drawn", store=store, session="one", **EAGER)
    idler = Shortener("idle", store=store, session="another")
    held(saver, 12)
    shortened(idler, conversation(2))
    saver.close()
    idler.close()
    ledger = open_ledger(store, mask=lambda message, known: message)
    touched, untouched = (doctor.last_session(ledger, [name]) for name in ("drawn", "idle"))
    assert touched is not None
    assert untouched is not None
    assert doctor.last_session(ledger, ["nobody"]) is None
    assert "of the tokens saved" in doctor.describe_session(touched, touched.last_s + 200)
    assert "3 minutes ago" in doctor.describe_session(touched, touched.last_s + 200)
    assert "nothing saved: " in doctor.describe_session(untouched, untouched.last_s)
    ledger.close()


def test_the_command_makes_no_ledger_by_looking_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("ANTHROPIC_BASE_URL", "STATECOMP_STORE"):
        monkeypatch.delenv(name, raising=False)
    store = tmp_path / "none.sqlite"
    url = f"http://127.0.0.1:{free_port()}"
    done = CliRunner().invoke(app, ["doctor", "--store", str(store), "--url", url])
    assert done.exit_code == 0, done.output
    assert f"nothing answers at {url}" in done.output
    assert "is not there yet" in done.output
    assert not store.exists()


def test_the_command_fails_where_something_cannot_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("HOME", str(home(tmp_path, claude=dead)))
    store = tmp_path / "ledger.sqlite"
    saver = Shortener("drawn", store=str(store), **EAGER)
    held(saver, 2)
    saver.close()
    done = CliRunner().invoke(app, ["doctor", "--store", str(store), "--url", dead])
    assert done.exit_code == 1, done.output
    assert "no request of it is in the ledger" in done.output
