"""The site builds without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT

_LOADED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(https?:)?//|<link(?![^>]*canonical)[^>]*https?://"""
)
_LINK = re.compile(r"\]\(([^)#]+)")
_IMPORTED = re.compile(r"""@import|url\(["']?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").is_file()
    assert (site / "hooks" / "lifecycle" / "index.html").is_file()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if _LOADED.search(page.read_text(encoding="utf-8"))]
    sheets = [sheet for sheet in site.rglob("*.css") if _IMPORTED.search(sheet.read_text(encoding="utf-8"))]
    assert (pages, sheets) == ([], [])


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_the_pages_outside_the_site_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [target for target in _LINK.findall(text) if not target.startswith("http")]
    assert [target for target in targets if not (ROOT / target).exists()] == []
