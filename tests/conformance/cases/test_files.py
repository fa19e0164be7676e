"""Files and answers that once went wrong: ACLs, resources, clusters, and what masters answered."""

import json
import re
from typing import Any

import httpx
import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import read_cluster
from fake_master.state.flags import MasterFlags
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.version_profile import DOCUMENTS
from tests.conformance.cases import text
from tests.fake_master.allocator.reference.allocator import Reference
from tests.fake_master.allocator.reference.events import START
from tests.fake_master.allocator.reference.history import History
from tests.helpers.lab import CommandLine, Lab

# --- ACLs -----------------------------------------------------------------------------------------------


def test_a_path_that_cannot_be_authorized_stops_the_start() -> None:
    with pytest.raises(BadInput, match="Path: '/flags' is not an authorizable path"):
        MasterFlags.parse({"acls": text("acls/endpoint-path.json")})


@pytest.mark.parametrize("version", ["documents", "1.11"])
def test_actions_that_ended_with_1_3_are_ignored(version: str) -> None:
    lab = Lab(version=version, flags={"acls": text("acls/removed-quota-actions.json")})
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]
    assert lab.post("/quota", {"role": "dev", "guarantee": guarantee}) == 200


def test_a_star_is_warned_about_because_it_is_only_a_name() -> None:
    commands = CommandLine(Lab())
    ran = commands.run("acls", "check", "-", "--strict", "-o", "json", stdin=text("acls/star-is-no-wildcard.json"))
    found = [(one["rule"], one["field"]) for one in ran.json["findings"]]
    assert ran.status == 1
    assert found == [
        ("acls.no-wildcard", "register_frameworks[0].roles"),
        ("acls.no-wildcard", "run_tasks[0].users"),
    ]


# --- Resources ------------------------------------------------------------------------------------------


def test_an_agent_has_resources_in_json_with_disks_of_a_kind() -> None:
    lab = Lab(AgentSpec(text("resources/agent-resources.json"), "a"))
    (agent,) = lab.agents
    assert agent["resources"]["disk"] == 1210.0
    sources = [entry["disk"]["source"]["type"] for entry in agent["unreserved_resources_full"] if "disk" in entry]
    assert sources == ["MOUNT", "PATH"]


def test_a_mounted_disk_is_reserved_and_shown_with_its_source() -> None:
    lab = Lab(AgentSpec(text("resources/agent-resources.json"), "a"))
    commands = CommandLine(lab)
    ran = commands.run("reserve", "-f", "-", "a", stdin=text("resources/mount-disk-reservation.json"))
    assert ran.status == 0, ran.err
    shown = commands.run("reservations")
    assert "/dev/shm" in shown.out  # a name, as in the file


# --- Quota ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "role"), [("request-force", "team-b"), ("set-quota-call", "team-a")])
def test_a_request_in_a_file_sets_no_limit_and_it_is_said_that_a_master_would(file: str, role: str) -> None:
    def quota_of(lab: Lab) -> Any:
        (shown,) = (entry for entry in CommandLine(lab).run("quota", "list", "-o", "json").json["quotas"])
        return shown["guarantee"], shown["limit"]

    for version, is_limited in (("documents", False), ("1.11", True)):
        lab, direct = Lab(version=version), Lab(version=version)
        commands = CommandLine(lab)
        ran = commands.run("quota", "set", "-f", "-", stdin=text(f"quota/{file}.json"))
        assert ran.status == 0, ran.err
        assert quota_of(lab)[1] == {}
        assert (f"512MiB mem, as mesosctl quota update {role}" in ran.err) is is_limited
        request = json.loads(text(f"quota/{file}.json"))
        assert direct.post("/api/v1" if "type" in request else "/quota", request) == 200
        if is_limited:
            assert quota_of(direct) != quota_of(lab)
            assert commands.run("quota", "update", role, "--limit", "cpus:1;mem:512").status == 0
        assert quota_of(direct) == quota_of(lab)


# --- Maintenance ----------------------------------------------------------------------------------------


def test_a_machine_that_a_schedule_names_by_its_host_name_is_none_with_an_agent() -> None:
    lab = Lab(AgentSpec("cpus:4;mem:4096", "agent-1"), version="1.11")
    commands = CommandLine(lab)
    ran = commands.run("maintenance", "schedule", "-f", "-", stdin=text("maintenance/schedule-by-host-name.json"))
    assert ran.status == 0
    assert "no agent is registered as exactly machine 'agent-1' without an address" in ran.err
    ran = commands.run("maintenance", "down", "agent-1", "--yes")
    assert ran.status == 0, ran.err
    assert "no agent is registered as exactly machine 'agent-1'" in ran.err
    assert [agent["hostname"] for agent in lab.agents] == ["agent-1"]
    assert commands.run("maintenance", "list", "-o", "json").json["machines"][0]["mode"] == "down"
    assert commands.run("maintenance", "up", "agent-1").status == 0


# --- Clusters -------------------------------------------------------------------------------------------


def test_a_drain_says_that_it_waits_for_a_framework_that_is_disconnected() -> None:
    lab = Lab()
    file = "clusters/drain-disconnected-framework.toml"
    lab.start(read_cluster(text(file), file), takes_over=False)
    commands = CommandLine(lab)
    drain = ["agents", "drain", "node-2", "--wait", "--timeout", "10s", "--yes"]
    ran = commands.run(*drain)
    assert ran.status == 9
    assert "old-spark, which is disconnected, to acknowledge that 2 tasks" in ran.err
    assert commands.run("frameworks", "teardown", "old-spark", "--yes").status == 0
    assert commands.run(*drain).status == 0


def explained(file: str, framework: str, *options: str, **replaced: str) -> str:
    """`offers explain` in a cluster file; the keys that are given replace those of the file."""
    written = text(file)
    for old, new in replaced.items():
        written = re.sub(rf"^{old} = .*", f"{old} = {new}", written, flags=re.MULTILINE)
    lab = Lab()
    lab.start(read_cluster(written, file), takes_over=False)
    lab.wait(6)
    ran = CommandLine(lab).run("offers", "explain", framework, *options)
    assert ran.status == 0, ran.err
    return ran.out


def test_who_shares_the_role_with_the_holder_is_not_advised_to_cap_it() -> None:
    said = explained("clusters/explain-hold-same-role.toml", "marathon")
    assert "limit" not in said
    assert "cap" not in said.replace("capab", "")


def test_whole_agents_that_are_kept_for_a_guarantee_are_the_reason() -> None:
    said = explained("clusters/explain-quota-whole-agents.toml", "spark")
    assert "smallest offer" not in said
    assert "big" in said


def test_a_crowd_is_added_up() -> None:
    """The count of the agents is replaced too."""
    file = "clusters/many-frameworks-in-a-role.toml"
    few, many = (explained(file, "role:*", count=count) for count in ("20", "200"))
    assert len(few.splitlines()) == len(many.splitlines()) < 30
    assert "each of 200 frameworks (jenkins-1, jenkins-2, jenkins-3 and 197 more) in role * has suppressed" in many
    rows = {tuple(re.split("  +", line)[:3]) for line in many.splitlines()}
    assert ("jenkins-1 and 199 more", "*", "used by 199 frameworks in role *") in rows
    assert ("marathon", "*", "used by 200 frameworks in role *") in rows
    assert ("jenkins-1 and 199 more", "*", "used by marathon in role *") in rows


def test_each_of_a_crowd_is_shown_wide() -> None:
    wide = explained("clusters/many-frameworks-in-a-role.toml", "role:*", "-o", "wide", count="5")
    for number in range(1, 6):
        assert f"jenkins-{number} in role * has suppressed offers" in wide
        assert f"agent by agent, for jenkins-{number} in role *" in wide
        assert wide.count(f"used by jenkins-{number} in role *") == 2 * 5, "in the tables of all others"


# --- Answers --------------------------------------------------------------------------------------------


class Answering(CommandLine):
    """A master that answers some paths with what a file says."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(Lab())
        self.answers = answers

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/master")
        if path in self.answers:
            return httpx.Response(200, json=self.answers[path])
        return super().handle_request(request)


def test_a_master_of_0_19_is_too_old() -> None:
    slaves = json.loads(text("answers/old-master-slaves.json"))
    ran = Answering({"/slaves": slaves, "/version": {"version": "0.19.1"}}).run("agents")
    assert ran.status != 0
    assert "Mesos 0.19.1 is too old" in ran.err


def test_an_agent_that_is_not_back_yet_has_a_line() -> None:
    shown = Answering({"/slaves": json.loads(text("answers/recovered-agent.json"))}).run("agents")
    assert shown.status == 0, shown.err
    assert "b.example" in shown.out


def test_a_weight_of_infinity_is_read_shown_and_exported() -> None:
    weights = json.loads(text("answers/weight-infinity-answer.json"))
    commands = Answering({"/weights": weights})
    shown = commands.run("weights", "-o", "csv")
    assert shown.status == 0, shown.err
    exported = commands.run("export")
    assert exported.status == 0, exported.err
    assert 'c = "Infinity"' in exported.out


# --- Commands -------------------------------------------------------------------------------------------


def test_a_limit_alone_is_set_checked_and_updated() -> None:
    commands = CommandLine(Lab())
    assert commands.run("quota", "check", "fresh", "--limit", "cpus:3").status == 0
    ran = commands.run("quota", "update", "fresh", "--limit", "cpus:3")
    assert ran.status == 5
    assert "quota set" in ran.err or "--create" in ran.err
    ran = commands.run("quota", "set", "fresh", "--limit", "cpus:3")
    assert ran.status == 0, ran.err
    assert commands.run("quota", "show", "fresh", "-o", "json").json["quota"]["limit"] == {"cpus": 3.0}


# --- Histories of the allocator -------------------------------------------------------------------------

WHOLE_AGENTS: list[tuple[Any, ...]] = [
    ("framework", 4, 0),
    ("agent", 3),
    ("decline_all", 3),
    ("decline_all", 3),
    ("decline_all", 3),
    ("quota", 0, 1),
    ("suppress", 38),
    ("tick", 0),
    ("decline_all", 3),
    ("framework", 0, 0),
]


def test_a_history_of_whole_agents_is_that_of_the_reference() -> None:
    history = History(reference=Reference(DOCUMENTS))
    for word, *numbers in [*START, *WHOLE_AGENTS]:
        history.play(word, *numbers)
