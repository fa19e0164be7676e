"""What there is, what is wanted, and the plan between the two."""

from collections import Counter
from dataclasses import replace

from mesosctl.client.master import Master
from mesosctl.core.capacity import AgentCapacity, capacity
from mesosctl.core.holdings import AgentHolding
from mesosctl.core.labels import Labels
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources
from mesosctl.core.wanted import Actual, Difference, Wanted, WantedReservation, differences
from mesosctl.core.wanted_plan import Step, plan
from mesosctl.core.wanted_reservations import ReservationStep
from mesosctl.ops.quota.state import read_quotas, usage_if_allowed
from mesosctl.ops.reservation.agents import find_agent, read_agents
from mesosctl.ops.reservation.making import plan_reserve, requester
from mesosctl.ops.reservation.undoing import plan_unreserve
from mesosctl.ops.weights import read_weights


def read_actual(master: Master, wanted: Wanted | None = None) -> Actual:
    """What there is of the sections that `wanted` has, or of all.  Raises what `Master` raises."""
    asked = wanted or Wanted({}, {}, [])
    # Quotas need the agents too: what can be promised hangs on them.
    agents = asked.reservations is not None or asked.quotas is not None
    return Actual(
        quotas=read_quotas(master) if asked.quotas is not None else {},
        weights=read_weights(master) if asked.weights is not None else {},
        agents={agent.id: agent for agent in read_agents(master)} if agents else {},
    )


def exported(actual: Actual) -> tuple[Wanted, list[str]]:
    """What there is, as wishes; and what cannot be wished for, in sentences."""
    hostnames = Counter(agent.hostname for agent in actual.agents.values())
    reservations: list[WantedReservation] = []
    left_out: list[str] = []
    for agent in actual.agents.values():
        name = agent.hostname if hostnames[agent.hostname] == 1 else agent.id
        found, sentences = _reservations(agent, name)
        reservations += found
        left_out += sentences
    unwritable = [role for role in {**actual.quotas, **actual.weights} if not _is_text(role)]
    left_out += [f"role {role!r}: it is no UTF-8, as TOML has to be" for role in unwritable]
    quotas = {role: quota for role, quota in actual.quotas.items() if _is_text(role) and not quota.is_default}
    weights = {role: weight for role, weight in actual.weights.items() if _is_text(role)}
    return Wanted(quotas, weights, reservations), left_out


def _is_text(*names: str | None) -> bool:
    """Whether they can stand in a file of UTF-8."""
    try:
        "".join(filter(None, names)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _reservations(agent: AgentHolding, name: str) -> tuple[list[WantedReservation], list[str]]:
    sums: dict[tuple[tuple[str, ...], str | None, Labels | None], Resources] = {}
    left_out: list[str] = []
    for entry in agent.total:
        if not entry.is_dynamically_reserved:
            continue
        if entry.disk is not None and entry.disk.source is not None:
            left_out.append(f"{entry} on {name}: a disk of its own cannot be written as an amount")
            continue
        top = entry.reservations[-1]
        if not _is_text(entry.name, top.principal, str(top.labels), *(level.role for level in entry.reservations)):
            left_out.append(f"{str(entry)!r} on {name}: a name is no UTF-8, as TOML has to be")
            continue
        key = (tuple(level.role for level in entry.reservations), top.principal, top.labels)
        plain = Resources([replace(entry, reservations=(), disk=None, shared=False, copies=1)])
        sums[key] = sums.get(key, Resources()) + plain
    wishes = [
        WantedReservation(name, roles[-1], resources, roles[:-1], principal, labels)
        for (roles, principal, labels), resources in sums.items()
    ]
    return wishes, left_out


def resolved(wanted: Wanted, actual: Actual) -> Wanted:
    """With the ids of agents in place of what they are called.  Raises NotFound or UsageError."""
    if wanted.reservations is None:
        return wanted
    everybody = list(actual.agents.values())
    return replace(
        wanted, reservations=[replace(wish, agent=find_agent(everybody, wish.agent).id) for wish in wanted.reservations]
    )


def _consumed(master: Master, wanted: Wanted) -> dict[str, Quantities] | None:
    """By role, where limits are wanted, and a master tells."""
    if not any(quota.limits for quota in (wanted.quotas or {}).values()):
        return None
    usages = usage_if_allowed(master) or {}
    return {role: usage.consumed for role, usage in usages.items() if usage.consumed is not None}


def compare(master: Master, wanted: Wanted, *, prune: bool) -> list[Difference]:
    """Everything that is not as wanted."""
    actual = read_actual(master, wanted)
    return differences(resolved(wanted, actual), actual, prune=prune, principal=requester(master).principal)


def make_plan(master: Master, wanted: Wanted, *, prune: bool) -> list[Step]:
    """The steps, each checked by the rules.  Nothing is sent.  Raises Conflict, RuleViolation, NotFound, UsageError."""
    actual = read_actual(master, wanted)
    profile = master.profile
    steps = plan(
        resolved(wanted, actual),
        actual,
        prune=prune,
        capacity=capacity((AgentCapacity(agent.total, agent.active) for agent in actual.agents.values()), profile),
        whole_updates=profile.knows_update_quota,
        principal=requester(master).principal,
        consumed=_consumed(master, wanted),
    )
    for step in steps:
        if isinstance(step, ReservationStep):
            make = plan_reserve if step.deed == "reserved" else plan_unreserve
            make(master, actual.agents[step.agent_id], list(step.resources))
    return steps
