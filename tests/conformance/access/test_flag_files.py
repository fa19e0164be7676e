"""Files of --credentials and --acls, and a percentage: with which of them a master starts, and with which not."""

import json
from pathlib import Path
from typing import Any

import pytest

from mesosctl.mesos.errors import BadInput
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier
from tests.conformance.masters.cluster import Setup

ANY = {"type": "ANY"}
ENTRY = {"principal": "p", "secret": "s"}
CREDENTIALS: dict[str, tuple[Any, bool]] = {
    "one": ({"credentials": [ENTRY]}, True),
    "none": ({}, True),
    "not in a list": ({"credentials": ENTRY}, True),
    "no secret": ({"credentials": [{"principal": "p"}]}, True),
    "twice": ({"credentials": [ENTRY, ENTRY | {"secret": "t"}]}, True),
    "unknown keys": ({"credentials": [ENTRY | {"x": 1}], "y": 2}, True),
    "no principal": ({"credentials": [{"secret": "s"}]}, False),
    "a number": ({"credentials": [ENTRY | {"principal": 1}]}, False),
    "a text": ({"credentials": "p s"}, False),
    "an array": ([ENTRY], False),
    "empty": ("", False),
    "broken": ('{"credentials":[', False),
    "half a line": ("p\n", False),
    "the older lines": ("p s\nq\tt\n", False),
    "one older line": ("p s", False),
    "blanks": (" \n", False),
}
BOTH = {"principals": ANY, "roles": ANY}
ACLS: dict[str, tuple[Any, bool]] = {
    "empty object": ({}, True),
    "unknown action": ({"fly": [{"principals": ANY}]}, True),
    "unknown type": ({"update_quotas": [BOTH | {"principals": {"type": "ALL"}}]}, True),
    "not in a list": ({"update_quotas": BOTH}, True),
    "null": ({"update_quotas": None}, True),
    "empty entities": ({"update_quotas": [{"principals": {}, "roles": {}}]}, True),
    "permissive in quotes": ({"permissive": "false", "register_agents": [{"principals": ANY, "agents": ANY}]}, True),
    "a name where there are names": ({"mark_agents_gone": [{"principals": ANY, "agents": {"values": ["x"]}}]}, True),
    "empty": ("", False),
    "an array": ([], False),
    "broken": ("{", False),
    "more after the end": ("{} x", False),
    "deep": ("[" * 5000, False),
    "permissive a number": ({"permissive": 1}, False),
    "permissive a word": ({"permissive": "yes"}, False),
    "no object": ({"update_quotas": [{"principals": ANY}]}, False),
    "no principals": ({"update_quotas": [{"roles": ANY}]}, False),
    "another's object": ({"view_flags": [BOTH]}, False),
    "a text in the list": ({"update_quotas": ["x"]}, False),
    "a number among the names": ({"update_quotas": [BOTH | {"principals": {"values": [1]}}]}, False),
    "no object of what nobody serves": ({"run_tasks": [{"principals": ANY}]}, False),
    **{
        f"a name for {action}": ({action: [{"principals": ANY, of: {"values": ["x"]}}]}, False)
        for action, of in (("view_flags", "flags"), ("start_maintenances", "machines"), ("drain_agents", "agents"))
    },
}
FILES = [("credentials", name, *row) for name, row in CREDENTIALS.items()]
FILES += [("acls", name, *row) for name, row in ACLS.items()]


@pytest.fixture(params=[REAL, IN_PROCESS], ids=str)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    """Each start is a master of its own, so that not every carrier takes part."""
    return request.param


def starts(carrier: Carrier, flag: str, value: Path | str, folder: Path) -> bool:
    """Whether a master does with this file, or other value; one that does is stopped again."""
    try:
        cluster = carrier.start(Setup(agents=("cpus:1",), flags={flag: str(value)}), folder)
    except (AssertionError, BadInput) as refusal:  # a process that ended, or a sentence
        told = str(refusal)
    else:
        cluster.stop()
        return True
    assert f"--{flag}" in told or (carrier.name == "real" and "ended before it was ready" in told)
    assert "Traceback" not in told
    return False


@pytest.mark.parametrize(
    ("flag", "name", "content", "fine"), FILES, ids=[f"{flag}: {name}" for flag, name, *_ in FILES]
)
def test_a_master_starts_or_refuses(
    carrier: Carrier, tmp_path: Path, flag: str, name: str, content: Any, fine: bool
) -> None:
    path = tmp_path / "file"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    assert starts(carrier, flag, path, tmp_path) is fine


@pytest.mark.parametrize(
    ("limit", "fine"),
    [("50.5%", True), ("+0%", True), ("1e1%", True), ("nan%", True)]
    + [(limit, False) for limit in ("50", "abc%", "101%", "-1%", " 50%", "50%%", "%", "")],
)
def test_a_master_starts_with_a_percentage_or_refuses(carrier: Carrier, tmp_path: Path, limit: str, fine: bool) -> None:
    assert starts(carrier, "recovery_agent_removal_limit", limit, tmp_path) is fine
