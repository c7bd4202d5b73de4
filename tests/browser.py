"""A real Chromium for tests of pages: the system's, driven through playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# The browser's own sandbox needs rights that containers do not give; pages come from loopback only.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage"]
INSTALL_S = 300


@cache
def chromium() -> str:
    """Where the browser is; where there is none, and we may, it is installed once."""
    if found := _found():
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_S)
        except (subprocess.SubprocessError, OSError):
            return ""
    return _found()


@contextmanager
def open_browser() -> Iterator[Browser]:
    """One browser for as long as a block runs; skips the test where there is none to be had."""
    path = chromium()
    if not path:
        pytest.skip("needs Chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _found() -> str:
    return next((path for name in NAMES if (path := shutil.which(name))), "")
