"""A fake and a real master given the same random operations: same statuses, same resources after each.

Nothing is sent that ends a real master or its agents (scenarios/lethal.py): no zero amount anywhere, no TEXT, no
static reservation that comes or goes.
"""

import json
import os
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from mesosctl.core.scalars import to_double, to_milli

from .carriers import IN_PROCESS, REAL, Pool
from .cluster import Cluster
from .scenarios.reserving import cpus, disk, dynamic, mem, ports, static
from .scenarios.setups import STANDARD

STEPS_EACH = 50
RUNS = int(os.environ.get("CONFORMANCE_RUNS", "20"))

ONE_LEVEL = (
    [dynamic("r")],
    [dynamic("r", "p")],
    [dynamic("r", k="v")],
    [dynamic("r", a="1", b="2")],
    [dynamic("r", b="2", a="1")],
    [dynamic("q")],
    [dynamic("a/b")],
)
REFINED = (
    [dynamic("r"), dynamic("r/x")],
    [dynamic("r"), dynamic("r/x/y", "p")],
    [dynamic("r"), dynamic("r/x"), dynamic("r/x/y", k="v")],
    [dynamic("r", "p"), dynamic("r/x")],
    [static("ads"), dynamic("ads/x")],
)
ILLEGAL = (
    [],
    [static("r")],
    [static("ads")],
    [dynamic("*")],
    [dynamic("a b")],
    [{"type": "DYNAMIC"}],
    [{"role": "r"}],
    [dynamic("r"), dynamic("s")],
    [dynamic("r"), dynamic("r")],
    [dynamic("r"), static("r/x")],
)
STACKS = st.sampled_from(ONE_LEVEL) | st.sampled_from(REFINED) | st.sampled_from((*ONE_LEVEL, *ILLEGAL))
AMOUNTS = st.sampled_from([0.5, 1, 1, 2, 3.001, 0.0015, 5]) | st.sampled_from([1, 100, 7000, -1, 0.0004])
SPANS = st.tuples(st.integers(31000, 31020), st.integers(0, 5)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))


def written(entry: dict[str, Any], form: str) -> dict[str, Any]:
    """An entry in another format; one that a format cannot say is written wrongly on purpose."""
    stack = entry.get("reservations", [])
    if form == "POST" or not stack or "role" not in stack[-1]:
        return entry
    rest = {key: value for key, value in stack[-1].items() if key not in ("type", "role")}
    before = {"role": stack[-1]["role"], **({"reservation": rest} if stack[-1].get("type") == "DYNAMIC" else {})}
    if form == "BOTH":
        return {**entry, **before}
    if form == "BOTH, DIFFERENT":
        return {**entry, **before, "role": "other"}
    return {key: value for key, value in entry.items() if key != "reservations"} | before


def bottom(entry: dict[str, Any]) -> str | None:
    """The role of a static reservation at the bottom of a stack."""
    stack = entry.get("reservations") or [{"type": "DYNAMIC" if "reservation" in entry else "STATIC", **entry}]
    return stack[0].get("role") if stack[0].get("type") == "STATIC" else None


def rounded(entry: dict[str, Any]) -> dict[str, Any]:
    if "scalar" not in entry:
        return entry
    return {**entry, "scalar": {"value": to_double(to_milli(entry["scalar"]["value"]))}}


FORMATS = st.sampled_from(["POST", "POST", "POST", "PRE", "BOTH", "BOTH, DIFFERENT"])
PLAIN = st.one_of(
    st.builds(lambda amount, stack: cpus(amount, *stack), AMOUNTS, STACKS),
    st.builds(lambda amount, stack: mem(amount, *stack), AMOUNTS, STACKS),
    st.builds(lambda amount, stack: disk(amount, *stack), AMOUNTS, STACKS),
    st.builds(lambda span, stack: {**ports(span, by={}), "reservations": stack}, SPANS, STACKS),
)
ENTRIES = st.builds(written, PLAIN, FORMATS)
SOME = st.lists(ENTRIES, min_size=1, max_size=3)
SAME_STACK = st.builds(
    lambda amount, before, after, form: ([cpus(amount, *before)], [written(cpus(amount, *after), form)]),
    AMOUNTS,
    STACKS,
    STACKS,
    FORMATS,
)
VOLUMES = st.builds(
    lambda amount, stack, name, mode: disk(
        amount, *stack, persistence={"id": name}, volume={"mode": mode, "container_path": "data"}
    ),
    AMOUNTS,
    STACKS,
    st.sampled_from(["v1", "v2"]),
    st.sampled_from(["RW", "RW", "RW", "RO"]),
)
PICKS = st.integers(0, 30)  # of what there is; drawn so that nothing drawn depends on the masters
AGENTS = st.sampled_from([0, 0, 1])


class Alike(RuleBasedStateMachine):
    """One operation after another on both masters."""

    real: Cluster
    fake: Cluster

    def __init__(self) -> None:
        super().__init__()
        for master in (self.real, self.fake):
            master.clear_reservations()
        self.ids = [[agent["id"] for agent in master.agents()] for master in (self.real, self.fake)]
        self.shown = self._shown(self.real)

    @rule(agent=AGENTS, entries=SOME)
    def reserve(self, agent: int, entries: list[Any]) -> None:
        self.both("/reserve", agent, resources=entries)

    @rule(agent=AGENTS, pair=SAME_STACK)
    def reserve_from_source(self, agent: int, pair: tuple[list[Any], list[Any]]) -> None:
        self.rereserve(agent, *pair)

    @rule(agent=AGENTS, pick=PICKS, stack=STACKS)
    def reserve_again(self, agent: int, pick: int, stack: list[Any]) -> None:
        """Something that there is, handed to another owner."""
        present = self.present(agent, pick)
        bare = {key: value for key, value in present.items() if key not in ("role", "reservation", "reservations")}
        source = {**bare, "reservations": present.get("reservations", [])}
        self.rereserve(agent, [source], [{**bare, "reservations": stack}])

    @rule(agent=AGENTS, pick=PICKS, deeper=st.sampled_from(["x", "x/y", "z"]))
    def refine(self, agent: int, pick: int, deeper: str) -> None:
        """Something that is reserved, one level further up."""
        present = self.present(agent, pick)
        stack = present.get("reservations", [])
        role = f"{stack[-1]['role']}/{deeper}" if stack else deeper
        bare = {key: value for key, value in present.items() if key not in ("role", "reservation")}
        self.both("/reserve", agent, resources=[{**bare, "reservations": [*stack, dynamic(role)]}])

    @rule(agent=AGENTS, entries=SOME)
    def unreserve(self, agent: int, entries: list[Any]) -> None:
        self.both("/unreserve", agent, resources=entries)

    @rule(agent=AGENTS, pick=PICKS, part=st.sampled_from([1, 0.5]))
    def unreserve_what_there_is(self, agent: int, pick: int, part: float) -> None:
        present = dict(self.present(agent, pick))
        if "scalar" in present:
            present["scalar"] = {"value": max(0.001, round(present["scalar"]["value"] * part, 3))}
        self.both("/unreserve", agent, resources=[present])

    @rule(agent=AGENTS, volumes=st.lists(VOLUMES, min_size=1, max_size=2))
    def create(self, agent: int, volumes: list[Any]) -> None:
        self.both("/create-volumes", agent, volumes=volumes)

    @rule(agent=AGENTS, pick=PICKS, name=st.sampled_from(["v1", "v2", "v3"]))
    def create_from_what_there_is(self, agent: int, pick: int, name: str) -> None:
        present = self.present(agent, pick)
        info = {"persistence": {"id": name}, "volume": {"mode": "RW", "container_path": "data"}}
        self.both("/create-volumes", agent, volumes=[{**present, "disk": info}])

    @rule(agent=AGENTS, volumes=st.lists(VOLUMES, min_size=1, max_size=2))
    def destroy(self, agent: int, volumes: list[Any]) -> None:
        self.both("/destroy-volumes", agent, volumes=volumes)

    @rule(agent=AGENTS, pick=PICKS)
    def destroy_what_there_is(self, agent: int, pick: int) -> None:
        self.both("/destroy-volumes", agent, volumes=[self.present(agent, pick)])

    @rule(agent=AGENTS, pick=PICKS, addition=AMOUNTS)
    def grow(self, agent: int, pick: int, addition: float) -> None:
        volume = self.present(agent, pick)
        more = disk(addition, *volume.get("reservations", []))
        self.both_call("GROW_VOLUME", agent, volume=volume, addition=more)

    @rule(agent=AGENTS, pick=PICKS, subtract=AMOUNTS)
    def shrink(self, agent: int, pick: int, subtract: float) -> None:
        volume = self.present(agent, pick)
        self.both_call("SHRINK_VOLUME", agent, volume=volume, subtract={"value": subtract})

    def present(self, agent: int, pick: int) -> dict[str, Any]:
        """One of the resources that the agent has now."""
        return self.shown[agent][pick % len(self.shown[agent])]

    def rereserve(self, agent: int, source: list[Any], resources: list[Any]) -> None:
        if bottom(source[0]) == bottom(resources[0]):
            self.both("/reserve", agent, resources=resources, source=source)

    def both(self, path: str, agent: int, **fields: Any) -> None:
        text = {name: json.dumps(value) for name, value in fields.items()}
        answers = [
            master.request("POST", path, content=urlencode({"slaveId": ids[agent], **text}))
            for master, ids in zip((self.real, self.fake), self.ids, strict=True)
        ]
        self._compare(answers, path, fields)

    def both_call(self, kind: str, agent: int, **fields: Any) -> None:
        answers = [
            master.call(kind, **{kind.lower(): {"agent_id": {"value": ids[agent]}, **fields}})
            for master, ids in zip((self.real, self.fake), self.ids, strict=True)
        ]
        self._compare(answers, kind, fields)

    def _compare(self, answers: list[Any], what: str, fields: Any) -> None:
        real, fake = answers
        assert real.status == fake.status, (what, fields, real, fake)
        self.shown = self._shown(self.real)
        assert self.shown == self._shown(self.fake), (what, fields)

    def _shown(self, master: Cluster) -> list[list[Any]]:
        """Every resource of every agent, sorted: the order depends on runs before this one.

        To three decimals: a real master shows an amount as it was sent until it adds to it, 0.0015 for 0.002.
        """
        return [
            sorted(
                (
                    rounded(entry)
                    for entries in (agent["unreserved_resources_full"], *agent["reserved_resources_full"].values())
                    for entry in entries
                ),
                key=json.dumps,
            )
            for agent in master.agents()
        ]


@pytest.fixture
def both(pool: Pool) -> tuple[Cluster, Cluster]:
    reason = REAL.why_not()
    if reason is not None:
        pytest.skip(reason)
    return pool.lend(REAL, STANDARD), pool.lend(IN_PROCESS, STANDARD)


def test_a_thousand_operations_leave_both_masters_alike(both: tuple[Cluster, Cluster]) -> None:
    machine = type("Machine", (Alike,), {"real": both[0], "fake": both[1]})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=RUNS,
            stateful_step_count=STEPS_EACH,
            deadline=None,
            phases=[Phase.generate],  # to make a failure smaller takes minutes here, and the last step tells it
            derandomize=RUNS == 20,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
