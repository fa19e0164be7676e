"""`can-i`: what is tried, what a file judges, and what cannot be told."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.can_i.command_permissions import LOCAL, VERBS
from mesosctl.can_i.completion import permissions
from mesosctl.can_i.work import CAN_BE_TRIED
from mesosctl.mesos.messages.acls import OBJECT_FIELDS
from mesosctl.program.main import app
from tests.conformance.histories.random_acls import AclDice
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine
from tests.helpers.profiles import examples

ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
PRINCIPALS = ("ops", "dev")
ACLS = {
    "permissive": False,
    "register_agents": [{"principals": ANY, "agents": ANY}],
    "get_quotas": [{"principals": ANY, "roles": ANY}],
    "drain_agents": [{"principals": {"values": ["ops"]}, "agents": ANY}],
    "view_flags": [{"principals": {"values": ["ops"]}, "flags": ANY}],
    "update_weights": [{"principals": {"values": ["ops"]}, "roles": ANY}],
    "reserve_resources": [
        {"principals": {"values": ["ops"]}, "roles": ANY},
        {"principals": {"values": ["dev"]}, "roles": {"values": ["dev", "dev/%"]}},
    ],
}


@pytest.fixture
def typed(tmp_path: Path) -> Callable[..., Any]:
    """Type a command as a principal at a master with these ACLs; the state of the master must stay as it was."""
    credentials, acls = tmp_path / "credentials.json", tmp_path / "acls.json"
    pairs = [{"principal": name, "secret": "s"} for name in PRINCIPALS]
    credentials.write_text(json.dumps({"credentials": pairs}), encoding="utf-8")
    acls.write_text(json.dumps(ACLS), encoding="utf-8")
    flags = {"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"}
    lab = Lab(
        "cpus:4;mem:2048;disk:100", version="1.11", flags={**flags, "credentials": str(credentials), "acls": str(acls)}
    )

    def run(principal: str, *words: str) -> Any:
        line: Any = CommandLine(lab)
        variables = {"MESOSCTL_PRINCIPAL": principal, "MESOSCTL_SECRET": "s", "HOME": str(tmp_path)}
        seeing = variables | {"MESOSCTL_PRINCIPAL": "ops"}
        before = line.run("snapshot", **seeing).out
        ran = line.run("can-i", *words, **variables)
        assert without_times(line.run("snapshot", **seeing).out) == without_times(before)
        return ran

    return run


def without_times(snapshot: str) -> Any:
    document = json.loads(snapshot)
    return {key: value for key, value in document.items() if key not in ("taken_at", "metrics")}


@pytest.mark.parametrize(
    ("principal", "words", "status", "allowed"),
    [
        ("ops", "agents drain", 0, True),
        ("dev", "agents drain", 1, False),
        ("dev", "drain", 1, False),
        ("ops", "reserve --role web", 0, True),
        ("dev", "reserve --role web", 1, False),
        ("dev", "reserve dev/x", 0, True),
        ("dev", "quota list", 0, True),
        ("dev", "quota list web", 1, None),
        ("dev", "ratelimit show", 1, False),
        ("ops", "quota set web", 1, False),
        ("ops", "weights set web=2", 0, True),
        ("dev", "weights set web", 1, None),
        ("ops", "teardown dev", 1, False),
        ("ops", "maintenance down", 1, False),
        ("ops", "maintenance plan agent-1 --at 2030-01-01T00:00Z", 1, False),
        ("ops", "reserve", 0, True),
        ("ops", "quota set a/b", 1, False),
        ("dev", "quota set a/b cpus:1 --limit cpus:2", 1, None),
        ("dev", "reserve agent-1 cpus:1 --role dev/x --label a=b", 0, True),
        ("ops", "quota list web", 0, True),
        ("ops", "top", 0, True),
        ("ops", "apply -f x.toml", 1, None),
        ("dev", "context use prod", 0, True),
    ],
)
def test_what_a_master_says(typed, principal: str, words: str, status: int, allowed: bool | None):
    ran = typed(principal, *words.split(), "-o", "json")
    said = json.loads(ran.out)
    assert (ran.status, said["known"], said["allowed"]) == (status, allowed is not None, allowed), said
    assert said["principal"] == principal
    assert said["permission"]["by"] == (None if allowed is None or words.startswith("context") else "master")
    assert said["permission"] == said["permissions"][0]


def test_a_file_judges_what_cannot_be_tried(typed, tmp_path: Path):
    file = str(tmp_path / "acls.json")
    assert json.loads(typed("ops", "weights", "set", "web", "--acls", file, "-o", "json").out)["allowed"] is True
    said = json.loads(typed("dev", "weights", "set", "web", "--acls", file, "-o", "json").out)
    assert (said["allowed"], said["permission"]["by"]) == (False, "acls")
    assert json.loads(typed("ops", "weights", "set", "web", "--acls", file, "--as", "dev", "-o", "json").out) == said


@pytest.mark.parametrize(
    ("words", "is_noted"),
    [
        ("quota set dev cpus:1", True),  # tried, whatever the file says
        ("weights set dev", False),
        ("quota set dev cpus:1 --as ops", False),
    ],
)
def test_a_file_that_did_not_count_is_noted(typed, tmp_path: Path, words: str, is_noted: bool):
    ran = typed("ops", *words.split(), "--acls", str(tmp_path / "acls.json"))
    assert ("the master itself answered" in ran.err) is is_noted


def test_a_file_judges_a_read_about_one_role(typed, tmp_path: Path):
    """A master answers every list, and leaves out what is not for this principal."""
    file = tmp_path / "none.json"
    file.write_text(json.dumps({"get_quotas": [{"principals": ANY, "roles": NONE}]}), encoding="utf-8")
    words = ("quota", "list", "web", "--acls", str(file), "-o", "json")
    ran = typed("ops", *words)
    assert (ran.status, json.loads(ran.out)["permission"]["by"]) == (1, "acls")
    assert json.loads(typed("ops", *words, "--as", "ops").out)["allowed"] is False


def test_with_wrong_credentials_nothing_is_told(typed):
    ran = typed("nobody", "reserve", "web")
    assert (ran.status, ran.out) == (4, "")


def test_about_everything_at_once(typed):
    listed = json.loads(typed("dev", "--list", "--role", "dev", "-o", "json").out)["permissions"]
    assert [one["command"] for one in listed] == [name for name, verb in VERBS.items() if verb.listed]
    allowed = {one["command"]: one["allowed"] for one in listed}
    assert allowed["reserve"] is True
    assert allowed["agents drain"] is False
    assert allowed["weights set"] is None
    assert {name for name, verb in VERBS.items() if verb.changes} <= {one["command"] for one in listed}
    assert {one["command"] for one in listed if one["known"]} <= CAN_BE_TRIED | {
        name for name, verb in VERBS.items() if not verb.changes
    }
    assert "reserve dev" in typed("dev", "--list", "--role", "dev", "-o", "name").out.splitlines()


@given(st.integers(0, 10**9), st.sampled_from(("p", "q", "root")), st.sampled_from(("r", "r/x", "q")))
@settings(max_examples=examples(15))
def test_it_agrees_with_acls_check(seed: int, principal: str, role: str):
    text = json.dumps(AclDice(seed).file(odd=False))
    line = CommandLine(Lab())
    access = json.loads(line.run("acls", "check", "-", "--as", principal, "-o", "json", stdin=text).out)["access"] or []
    words = ("can-i", "--list", "--role", role, "--acls", "-", "--as", principal, "-o", "json")
    judged = line.run(*words, stdin=text)
    if judged.status:  # set_quotas is no action
        assert (judged.status, access) == (3, [])
        return
    decisions = {one["action"]: one["decisions"] for one in access}
    for one in json.loads(judged.out)["permissions"]:
        if one["name"] == role and one["command"] != "offers unreserve":  # that needs two kinds of objects
            assert one["allowed"] == all(decided(decisions[action], role) for action in one["actions"]), one


def decided(decisions: list[dict[str, Any]], role: str) -> bool:
    for one in decisions:
        names = one["names"]
        if names is None or any(role == name or (name.endswith("/%") and role.startswith(name[:-1])) for name in names):
            return bool(one["allowed"])
    raise AssertionError("the last decision is about everything")


def leaves(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from leaves(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def test_every_change_is_known():
    found = dict(leaves(typer.main.get_command(app)))
    assert VERBS.keys() | LOCAL == found.keys()
    assert not VERBS.keys() & LOCAL
    # These are changes of a framework, which they become; a snapshot of it has none, so they cannot be rehearsed.
    as_framework = {"offers reserve", "offers unreserve"}
    changes = {name for name, command in found.items() if command.changes} | as_framework
    assert changes == {name for name, verb in VERBS.items() if verb.changes}
    assert all(verb.listed for verb in VERBS.values() if verb.changes)
    for name, verb in VERBS.items():
        assert verb.named_by in ("", *(parameter.name for parameter in found[name].params))
    assert {action for verb in VERBS.values() for action in verb.actions} <= OBJECT_FIELDS.keys()


def test_the_next_word_is_completed():
    def words(*typed: str) -> list[str]:
        return permissions(SimpleNamespace(params={"words": list(typed)}))  # type: ignore[arg-type]

    assert {"quota", "reserve", "agents"} <= set(words())
    assert {"check", "list", "remove", "room", "set", "show", "update"} == set(words("quota"))
    assert words("agents", "drain") == []


def test_the_same_is_not_asked_twice():
    line: Any = CommandLine(Lab("cpus:4;mem:2048;disk:100", version="1.11"))
    bodies: list[bytes] = []
    answer = line.handle_request

    def heard(request: Any) -> Any:
        bodies.append(request.method.encode() + request.url.raw_path + request.read())
        return answer(request)

    line.handle_request = heard
    assert line.run("can-i", "--list", "--role", "dev").status == 0
    assert len(bodies) > 10
    assert [body for body, count in Counter(bodies).items() if count > 1] == []


def test_everything_is_asked_without_a_change():
    line: Any = CommandLine(Lab("cpus:4;mem:2048;disk:100", version="1.11"))
    before = line.run("snapshot").out
    ran = line.run("can-i", "--list", "--role", "web", "-o", "json")
    assert ran.status == 0, ran.err
    assert {one["allowed"] for one in json.loads(ran.out)["permissions"]} == {True}
    assert without_times(line.run("snapshot").out) == without_times(before)
