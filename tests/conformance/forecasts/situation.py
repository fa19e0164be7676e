"""A situation in which a role of a framework is offered less than there is, and the words to build one."""

from dataclasses import dataclass, field
from typing import Any

from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned
from tests.conformance.forecasts.forecasting import FILTERED, Preparation, World, asks
from tests.conformance.masters.cluster import Setup
from tests.conformance.scenarios.scenario import config, form, post_quota, update_quota

AGENT = "cpus:4;mem:4096;disk:1000;ports:[31000-31009]"
SCALARS = "cpus:4;mem:4096;disk:1000"
ONE, TWO, FOUR = quick(AGENT), quick(AGENT, AGENT), quick(*[AGENT] * 4)
LONG = 100_000.0
USUAL = ("MULTI_ROLE", "RESERVATION_REFINEMENT")


@dataclass(frozen=True)
class Situation:
    """A cluster, the steps that prepare it, and the explanation that is expected of it.

    `line` has fields of one line of the account, `open` the names of what could be offered (None: not asked),
    `says` is part of the answer, and `helps` of what would help.
    """

    setup: Setup
    prepared: tuple[Preparation, ...]
    reason: str
    line: dict[str, Any] = field(default_factory=dict)
    says: str = ""
    helps: str = ""
    open: frozenset[str] | None = frozenset()
    subject: str = "ads"
    tasks: bool = False


def framework(name: str, *roles: str, capabilities: tuple[str, ...] = USUAL, **info: Any) -> Preparation:
    """A framework subscribes, and holds what it is offered."""
    more = {key: info.pop(key) for key in ("offer_constraints", "suppressed_roles") if key in info}

    def prepare(world: World) -> None:
        made = world.join(*roles, name=name, capabilities=capabilities, **info)
        world.frameworks.append(made.subscribe(**more))
        world.settle()

    return prepare


ads = framework("ads", "ads")


def declines(seconds: float = LONG) -> Preparation:
    """The last framework declines all that it holds."""

    def prepare(world: World) -> None:
        last = world.frameworks[-1]
        last.decline(list(world.outstanding(last).values()), refuse=seconds)
        world.settle()

    return prepare


def calls(kind: str, **body: Any) -> Preparation:
    """The last framework calls."""

    def prepare(world: World) -> None:
        world.frameworks[-1].ask(kind, **body)
        world.settle()

    return prepare


def hangs_up(world: World) -> None:
    """The connection of the last framework ends."""
    last = world.frameworks.pop()
    last.stream.hang_up()

    def gone() -> bool:
        shown = world.master.read("/frameworks")["frameworks"]
        return not any(one["id"] == last.id and one["connected"] for one in shown)

    assert world.master.subscribers.wait(gone)


def agents_do(kind: str, *numbers: int) -> Preparation:
    """An operator drains or deactivates agents."""

    def prepare(world: World) -> None:
        for number in numbers:
            body = {kind.lower(): {"agent_id": {"value": world.master.agents()[number]["id"]}}}
            assert world.master.call(kind, **body).status == 200
        world.settle()

    return prepare


def reserves(role: str, *numbers: int, **amounts: float) -> Preparation:
    """An operator reserves on agents."""

    def prepare(world: World) -> None:
        for number in numbers:
            agent_id = world.master.agents()[number]["id"]
            answer = world.send(form("/reserve", slaveId=agent_id, resources=owned(role, **amounts)))
            assert answer == 202
        world.settle(FILTERED)

    return prepare


def limits(role: str, **amounts: float) -> Preparation:
    return asks(update_quota(config(role, limits=amounts)))


def guarantees(role: str, **amounts: float) -> Preparation:
    return asks(post_quota(role, **amounts))


def constraints(predicate: dict[str, Any], **selector: str) -> dict[str, Any]:
    one = {"selector": selector, "predicate": predicate}
    return {"role_constraints": {"ads": {"groups": [{"attribute_constraints": [one]}]}}}


NOWHERE = constraints({"text_equals": {"value": "nowhere"}}, pseudoattribute_type="HOSTNAME")
EVERYTHING = frozenset({"cpus", "mem", "disk", "ports"})
ALL = {"cpus": 4, "mem": 4096, "disk": 1000}
