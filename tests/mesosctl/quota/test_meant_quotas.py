"""Notes on what quotas mean on a master: a guarantee that caps its role, and a role with frameworks only below it."""

from pathlib import Path

import pytest

from mesosctl.mesos.rules.version_profile import VERSIONS, check_profile_named
from tests.helpers.lab import CommandLine, Lab, Scheduler

CAPS = "limits each role to its guarantee"
SERVES_NOBODY = "neither serves nor caps"
WISHES = """
[quotas.ads]
guarantee = "cpus:1"
[quotas.web]
guarantee = "cpus:2"
"""


def notes(lab: Lab, *words: str) -> list[str]:
    return [line for line in CommandLine(lab).run(*words).err.splitlines() if "note: " in line]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_guarantee_that_caps_its_role_is_told_once(version: str, tmp_path: Path):
    lab, file = Lab("cpus:8;mem:2048", version=version), tmp_path / "wishes.toml"
    file.write_text(WISHES)
    given = [
        ("quota", "check", "web", "cpus:2"),
        ("diff", "-f", str(file)),
        ("plan", "-f", str(file)),
        ("whatif", "quota:web=cpus:2"),
        ("apply", "-f", str(file), "--yes"),
        ("quota", "update", "web", "cpus:3"),
        ("quota", "set", "ops", "cpus:1"),
    ]
    expected = int(check_profile_named(version, "version").guarantee_is_limit)
    assert {words[:2]: sum(CAPS in note for note in notes(lab, *words)) for words in given} == {
        words[:2]: expected for words in given
    }


def test_a_limit_alone_is_no_guarantee_that_caps():
    lab = Lab("cpus:8;mem:2048", version="1.11")
    assert notes(lab, "quota", "set", "web", "--limit", "cpus:2") == []


@pytest.mark.parametrize(
    ("roles", "told"),
    [(["web/a"], True), (["web/a", "web"], False), (["web"], False), (["webs/a"], False), ([], False)],
)
@pytest.mark.parametrize("version", ["documents", "1.4", "1.11"])
def test_frameworks_that_are_only_below_the_role_are_told(version: str, roles: list[str], told: bool):
    lab = Lab("cpus:8;mem:2048", version=version)
    for role in roles:
        Scheduler(lab, name=role.replace("/", "-"), roles=[role])
    said = [note for note in notes(lab, "quota", "set", "web", "cpus:2") if SERVES_NOBODY in note]
    assert len(said) == told
    assert all("(web/a)" in note for note in said)


def test_nothing_is_read_for_these_notes_with_quiet():
    lab = Lab("cpus:8;mem:2048", version="1.4")
    Scheduler(lab, name="f", roles=["web/a"])
    assert notes(lab, "quota", "set", "web", "cpus:2", "--quiet") == []
