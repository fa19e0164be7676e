"""The page of a forecast: amounts on one scale, and the master that was asked."""

import re

import pytest

from tests.mesosctl.program.mistakes.mistake import typed
from tests.mesosctl.show.reports import CLUSTER


@pytest.fixture
def page(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    assert typed("context set prod --master http://elsewhere:5050", tmp_path, "").status == 0
    ran = typed("whatif --lose-agent agent-1 --report page.html", tmp_path, "fake:c.toml")
    assert (tmp_path / "page.html").exists(), ran.err
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_loss_is_half_a_bar_although_the_share_stays(page):
    assert "100% (16 of 16) → 100% (8 of 8) cpus" in page
    widths = [float(width) for width in re.findall(r'<rect class="offered" [^>]*width="([0-9.]+)"', page)]
    assert widths[1] == pytest.approx(widths[0] / 2)


def test_the_master_that_was_asked_is_named_and_no_context(page):
    assert "<dt>Master</dt><dd>fake:c.toml</dd>" in page
    assert "context prod" not in page
