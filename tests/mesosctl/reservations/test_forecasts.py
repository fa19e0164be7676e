"""One change has one forecast, whether it is a command with --dry-run or a word of `mesosctl whatif`."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_of_agents
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

CHOSEN = "the agents are those with the most room now; without --dry-run, they are chosen again"
PRINCIPALS: Sequence[dict[str, str]] = ({}, {"MESOSCTL_PRINCIPAL": "me", "MESOSCTL_SECRET": "secret"})

AGENTS = st.lists(
    st.builds(
        lambda cpus, mem, reserved, rack, active: (f"cpus:{cpus};mem:{mem}{reserved}", rack, active),
        st.sampled_from([2, 4, 4, 8]),
        st.sampled_from([1024, 2048, 4096]),
        st.sampled_from(["", ";cpus(ads):2"]),
        st.sampled_from(["r1", "r2"]),
        st.sampled_from([True, True, False]),
    ),
    min_size=1,
    max_size=5,
)
FRAMEWORKS = st.lists(
    st.builds(
        lambda role, answer, tasks: (role, answer, tasks),
        st.sampled_from(["ads", "web"]),
        st.sampled_from(["hold", "accept", "decline"]),
        st.integers(0, 6),
    ),
    max_size=3,
)


def cluster(agents: list[tuple[str, str, bool]], frameworks: list[tuple[str, str, int]]) -> CommandLine:
    task = Resources(parse_of_agents("cpus:0.5;mem:128"))
    lab = Lab(
        *(
            AgentSpec(text, f"agent-{number}", {"rack": rack}, active=active)
            for number, (text, rack, active) in enumerate(agents)
        ),
        frameworks=tuple(
            SimulatedFrameworkSpec(f"framework-{number}", (role,), answer=answer, task=task, tasks=tasks)  # type: ignore[arg-type]
            for number, (role, answer, tasks) in enumerate(frameworks)
        ),
    )
    lab.wait(2.0)
    return CommandLine(lab)


def effects(forecast: dict[str, Any]) -> dict[str, Any]:
    """All but the time, the names of the requests, which a command chooses itself, and the ids of new offers."""
    others = ("changes", "answers", "would", "taken_at")
    return {name: value for name, value in forecast.items() if name not in others} | {
        "rescinded": [offer | {"offer_id": None} for offer in forecast["rescinded"]],
        "statuses": [answer["status"] for answer in forecast["answers"]],
    }


@settings(max_examples=examples(75), deadline=None)
@given(
    agents=AGENTS,
    frameworks=FRAMEWORKS,
    count=st.integers(1, 3),
    role=st.sampled_from(["db", "web"]),
    rack=st.sampled_from([(), ("--attribute", "rack=r1")]),
    principal=st.sampled_from(PRINCIPALS),
)
def test_the_agents_of_a_dry_run_are_those_that_are_chosen(agents, frameworks, count, role, rack, principal):
    live = cluster(agents, frameworks)
    words = ("reserve", "--count", str(count), "cpus:1", "mem:256", "--role", role, *rack)
    dry = live.run(*words, "--dry-run", "-o", "json", **principal)
    would = [report["changes"] for report in dry.json["would"]]
    assert (CHOSEN in dry.err) == bool(would)
    names = [change["agent"]["hostname"] for changes in would for change in changes]
    if names:
        changes = [f"reserve:{name}=cpus({role}):1;mem({role}):256" for name in names]
        assert effects(live.run("whatif", *changes, "-o", "json", **principal).json) == effects(dry.json)
    done = live.run(*words, "-o", "json", **principal)
    assert (done.status == 0) == bool(names)
    if names:
        assert [change["agent"]["hostname"] for change in done.json["changes"]] == names
        assert CHOSEN not in done.err


@pytest.mark.parametrize("principal", PRINCIPALS)
@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("reserve agent-0 cpus:1 --role db", "reserve:agent-0=cpus(db):1"),
        ("reserve agent-0 cpus:1 --role db/x --under db", "reserve:agent-0=cpus(db>db/x):1"),
        ("unreserve agent-0 cpus:1 --role db", "unreserve:agent-0=cpus(db):1"),
        ("unreserve agent-0 cpus:9 --role db", "unreserve:agent-0=cpus(db):9"),
        ("volumes create agent-0 v2 disk:100 --role db", "create:agent-0=v2:disk(db):100"),
        ("volumes destroy agent-0 v1", "destroy:agent-0=v1"),
    ],
)
def test_a_command_and_the_word_of_a_what_if_have_one_forecast(command, change, principal):
    live = cluster([("cpus:4;mem:1024;disk:1000", "r1", True)] * 2, [("web", "hold", 0)])
    for words in ("reserve agent-0 cpus:2 disk:500 --role db", "volumes create agent-0 v1 disk:100 --role db"):
        assert live.run(*words.split(), **principal).status == 0
    dry = live.run(*command.split(), "--dry-run", "-o", "json", **principal)
    assert effects(live.run("whatif", change, "-o", "json", **principal).json) == effects(dry.json)
    assert CHOSEN not in dry.err
