"""Where files of a user are looked for."""

from __future__ import annotations

from statecomp.config.places import data_folder, store_url


def test_the_store_is_what_is_said_then_the_environment_then_the_data_folder() -> None:
    environ = {"STATECOMP_STORE": "/b", "XDG_DATA_HOME": "/data"}
    assert store_url("/a", environ) == "/a"
    assert store_url("", environ) == "/b"
    assert store_url("", {"XDG_DATA_HOME": "/data"}) == "/data/statecomp/ledger.sqlite"
    assert data_folder({"XDG_DATA_HOME": "relative"}).is_absolute()
