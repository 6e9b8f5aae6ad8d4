"""Debian's Chromium, installed if it is missing, and how the tests start it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

_TOOL = Path(__file__).parents[2] / "tools" / "debian-command"
_ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@cache
def _executable() -> tuple[str | None, str]:
    """The path of Chromium, or why there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            return path, ""
    done = subprocess.run([_TOOL, "chromium", "chromium"], capture_output=True, text=True, timeout=280, check=False)
    return (done.stdout.strip(), "") if done.returncode == 0 else (None, done.stderr.strip())


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium; the test is skipped if there is none and none can be installed."""
    executable, reason = _executable()
    if executable is None:
        pytest.skip(f"no Chromium: {reason}")
    # Chromium's sandbox does not start as root.
    sandbox = os.geteuid() != 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=_ARGUMENTS, chromium_sandbox=sandbox, headless=True
        )
        try:
            yield browser
        finally:
            browser.close()
