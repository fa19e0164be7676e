"""A folder in which commands are typed, with a cluster file of agents that share a host."""

import re
from pathlib import Path

import pytest

from tests.mesosctl.program.mistakes.mistake import typed


@pytest.fixture(scope="session")
def one_host(tmp_path_factory) -> str:
    """What `fake:one-host.json` names: a snapshot, as a cluster file has every agent on a host of its own."""
    folder = tmp_path_factory.mktemp("one-host")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        ran = typed("snapshot -f -", folder)
    names = {'"agent-1"': '"host-1"', '"agent-2"': '"host-1"', '"agent-3"': '"host-2"'}
    return re.sub("|".join(names), lambda found: names[found[0]], ran.out)


@pytest.fixture
def folder(tmp_path, monkeypatch, one_host) -> Path:
    """Where a mistake is made, with a state of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "one-host.json").write_text(one_host, encoding="utf-8")
    return tmp_path
