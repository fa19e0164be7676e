"""One home of the rules for reservations: whoever checks an operation gives the verdict of the master."""

import ast
import json
from collections.abc import Callable, Sequence
from functools import partial

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from fake_master.sources.cluster_file import read_cluster
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings, Credentials
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.values import Ranges, Value
from mesosctl.mesos.cluster.holdings import OperationKind, RegisteredAgent
from mesosctl.mesos.messages.protobuf_json.resource_lists import resource_at
from mesosctl.reading.targets import Owner, check_owner, read_agents
from mesosctl.reservations.send import Operation
from mesosctl.reservations.work import (
    plan_create,
    plan_destroy_all,
    plan_reserve,
    plan_unreserve,
)
from tests import ROOT
from tests.conformance.test_agreement import ADDRESS
from tests.conformance.test_quota_verdicts import rule_of
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

NOT_THERE = {"operation.contained", "operation.available", "operation.last-copy"}
"""The agent lacks something, or tasks use it: whoever notices it first names it."""
PRINCIPALS = st.sampled_from(["ops", "ops", "ops", "other", None])
PLANS: dict[OperationKind, Callable[[LeadingMaster, RegisteredAgent, Sequence[Resource]], Operation]]
PLANS = {
    "reserved": plan_reserve,
    "unreserved": plan_unreserve,
    "created": plan_create,
    "destroyed": plan_destroy_all,
}
STACKS = [(), ("web",), ("web",), ("batch",), ("web", "web/shop"), ("batch", "batch/a/b"), ("web", "web/a", "web/a/b")]


OWNED = (Reservation("DYNAMIC", "web", "ops"),)
VOLUME = Disk("v1", principal="ops", container_path="data", mode="RW")
PLAIN = {
    "reserved": [Resource("cpus", 1000, OWNED), Resource("disk", 100_000, OWNED), Resource("disk", 50_000, OWNED)],
    "created": [Resource("disk", 50_000, OWNED, disk=VOLUME)],
}
PLAIN |= {"unreserved": PLAIN["reserved"], "destroyed": PLAIN["created"]}
"""Entries that break no rule by themselves."""


@st.composite
def entries(draw: st.DrawFn, action: OperationKind) -> Resource:
    if draw(st.booleans()):
        return draw(st.sampled_from(PLAIN[action]))
    levels = draw(st.sampled_from(STACKS))
    stack = tuple(Reservation("DYNAMIC", role, draw(PRINCIPALS)) for role in levels)
    if stack and draw(st.sampled_from([False, False, True])):
        stack = (stack[0]._replace(type="STATIC"), *stack[1:])
    wants_volume = action in ("created", "destroyed")
    name = "disk" if wants_volume else draw(st.sampled_from(["cpus", "cpus", "mem", "gpus", "ports", "disk"]))
    values: dict[str, st.SearchStrategy[Value]] = {
        "cpus": st.sampled_from([0, 1000, 2000, 9000]),
        "mem": st.sampled_from([100_000, 700_000]),
        "gpus": st.sampled_from([1000, 1500]),
        "ports": st.sampled_from([Ranges.of([(1, 2)]), Ranges.of([(2, 5)]), Ranges.of([])]),
        "disk": st.sampled_from([50_000, 100_000]),
    }
    disk = None
    if name == "disk" and draw(st.sampled_from([wants_volume, wants_volume, not wants_volume])):
        disk = Disk(
            persistence_id=draw(st.sampled_from(["v1", "v1", "v2", "a/b", None])),
            principal=draw(PRINCIPALS),
            container_path=draw(st.sampled_from(["data", "data", "data", None])),
            mode=draw(st.sampled_from(["RW", "RW", "RW", "RO"])),
        )
    return Resource(
        name,
        draw(values[name]),
        reservations=stack,
        disk=disk,
        revocable=draw(st.sampled_from([False] * 9 + [True])),
        shared=disk is not None and draw(st.sampled_from([False, False, True])),
    )


@st.composite
def operations(draw: st.DrawFn) -> tuple[OperationKind, list[Resource]]:
    action: OperationKind = draw(st.sampled_from(["reserved", "reserved", "unreserved", "created", "destroyed"]))
    return action, draw(st.lists(entries(action), min_size=draw(st.sampled_from([1, 1, 0])), max_size=3))


def small_cluster(version: str) -> Lab:
    """One agent, of which a task uses something reserved and something that is not."""
    lab = Lab(
        "cpus:6;mem:800;disk:400;gpus:2;ports:[1-10];cpus(web):1;mem(web):50",
        version=version,
        frameworks=(SimulatedFrameworkSpec("f", ("web",), parse_resources("cpus:2;mem:100"), tasks=1),),
    )
    lab.wait(2.0)
    return lab


def tool(lab: Lab) -> LeadingMaster:
    return LeadingMaster(
        parse_address(ADDRESS), ClientSettings(credentials=Credentials("ops", "secret")), CommandLine(lab)
    )


def by_tool(master: LeadingMaster, action: OperationKind, resources: Sequence[Resource]) -> Callable[[], None]:
    (agent,) = read_agents(master)
    return lambda: PLANS[action](master, agent, resources).check_fits()


def by_master(lab: Lab, action: OperationKind, resources: Sequence[Resource]) -> Callable[[], None]:
    (agent,) = lab.master.state.agents.values()
    service = lab.master.reservations

    def ask() -> None:
        with lab.master.transaction():
            if action == "reserved":
                service.reserve("ops", agent, resources, None)
            else:
                ask_for = {"unreserved": service.unreserve, "created": service.create, "destroyed": service.destroy}
                ask_for[action]("ops", agent, resources)

    return ask


DISK = Resource("disk", 50_000, OWNED)
WHOLE_LIFE: list[tuple[OperationKind, list[Resource]]] = [
    ("reserved", [DISK]),
    ("created", PLAIN["created"]),
    ("unreserved", [DISK]),
    ("destroyed", PLAIN["created"]),
    ("unreserved", [DISK]),
]


@settings(max_examples=examples(100))
@example("1.11", WHOLE_LIFE)
@given(st.sampled_from(["documents", "1.11"]), st.lists(operations(), min_size=1, max_size=8))
def test_every_verb_gives_the_verdict_of_the_master(version, wanted):
    lab = small_cluster(version)
    master = tool(lab)
    for action, resources in wanted:
        verdicts = [rule_of(by_tool(master, action, resources)), rule_of(by_master(lab, action, resources))]
        event(f"{action}: {verdicts[0]}")
        told, real = ("not there" if verdict in NOT_THERE else verdict for verdict in verdicts)
        assert told == real, (action, [str(entry) for entry in resources])


LEVELS = st.lists(st.sampled_from(["web", "web/shop", "web/shop/a", "webshop", "batch", "*", "a b", ""]), max_size=3)


def of_arguments(stack: Sequence[str]) -> None:
    check_owner(Owner(stack[-1], tuple(stack[:-1])))


def of_json(stack: Sequence[str]) -> None:
    levels = [{"type": "DYNAMIC", "role": role} for role in stack]
    resource_at({"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": levels}, "resources[0]")


def of_files(key: str, entry: str) -> Callable[[Sequence[str]], None]:
    """Reads a stack in a table of a cluster file; one of desired state has the same tables."""

    def read(stack: Sequence[str]) -> None:
        under = json.dumps(stack[:-1])
        read_cluster(
            f'[[agents]]\nresources = "cpus:1"\n[[{key}]]\nagent = "a"\n{entry}\n'
            f"role = {json.dumps(stack[-1])}\nunder = {under}\n",
            "a file",
        )

    return read


@settings(max_examples=examples(100))
@given(LEVELS.filter(bool))
def test_a_stack_is_refused_wherever_it_is_read(stack):
    readers = {
        "arguments": of_arguments,
        "JSON": of_json,
        "reservations of a file": of_files("reservations", 'resources = "cpus:1"'),
        "volumes of a file": of_files("volumes", 'id = "v"\nsize = "disk:1GiB"'),
    }
    refused = {name: rule_of(partial(read, stack)) is not None for name, read in readers.items()}
    assert len(set(refused.values())) == 1, (stack, refused)


RULES_OF_OPERATIONS = (
    "reservation.role", "reservation.refinement", "reserve.", "unreserve.", "create.", "destroy.", "grow.", "shrink.",
    "resize.", "volume.", "operation.",
)  # fmt: skip
ENDS_A_MASTER = "operation.role-forgotten"
"""A rule of the master alone: a real 1.4.3 ends if the request meets its allocator in a certain state."""
OF_THE_FORM = {"reserve.one-owner", "operation.format"}
"""Two owners in one command, and a payload that is not what the documentation shows; no master gets either."""


def test_no_other_module_has_a_rule_of_operations():
    elsewhere = []
    for package in ("mesosctl", "fake_master"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.parent == ROOT / "mesosctl/mesos/rules/reservations":
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("RuleViolation"):
                    for keyword in node.keywords:
                        rule = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
                        if keyword.arg == "rule" and str(rule).startswith(RULES_OF_OPERATIONS):
                            elsewhere.append((str(path.relative_to(ROOT)), rule))
    assert {rule for _, rule in elsewhere} == OF_THE_FORM | {ENDS_A_MASTER}, elsewhere
