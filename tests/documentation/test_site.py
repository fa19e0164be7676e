"""The site is built without a warning, and a reader's browser loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

pytestmark = pytest.mark.process

LOADED = re.compile(r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="((?:https?:)?//[^"]*)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet: it hides the warnings that --strict counts.
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
        timeout=120,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return folder


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 5
    assert {page.name: found for page in pages if (found := LOADED.findall(page.read_text(encoding="utf-8")))} == {}
