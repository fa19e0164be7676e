"""The JSON in which endpoints show agents and roles (Mesos documentation, "HTTP Endpoints")."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any

from fake_master.http.request_response import Written, dumps
from fake_master.http.response_cache import Parts, texts
from fake_master.services import descriptions
from fake_master.state import roles
from fake_master.state.agents import Agent
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.master_state import MasterState
from fake_master.state.roles import RoleView, Sees
from fake_master.state.tasks import SUMMARY_STATES
from mesosctl.api.resources import list_to_json, summary
from mesosctl.model.quantities import Quantities, to_shown
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

# GET_ROLES tells of these alone, whatever else agents have.
_KNOWN_SCALARS = frozenset({"cpus", "gpus", "mem", "disk"})
_revision = attrgetter("revision")
_holdings = attrgetter("total", "used")
View = Callable[[MasterState, Agent, Sees], Mapping[str, Any]]


def agent(state: MasterState, of: Agent, sees: Sees) -> dict[str, Any]:
    """An agent as /state shows it to somebody."""
    shown = {
        "id": of.id,
        "hostname": of.hostname,
        "port": of.port,
        "attributes": dict(of.attributes),
        **({} if of.domain is None else {"domain": of.domain.message()}),
        "pid": of.pid,
        "registered_time": of.registered_time,
        **({} if of.reregistered_time is None else {"reregistered_time": of.reregistered_time}),
        "resources": summary(of.whole),
        "used_resources": summary(state.used_on(of.id)),
        "offered_resources": summary(state.offered_on(of.id)),
        "reserved_resources": {role: summary(owned) for role, owned in of.total.by_owner().items() if sees(role)},
        "unreserved_resources": summary(of.whole.unreserved()),
        "active": of.active,
        "deactivated": of.deactivated,
        "version": of.version,
        "capabilities": list(of.capabilities),
    }
    if of.drain_info is not None:
        shown |= {"drain_info": dict(of.drain_info), "estimated_drain_start_time_seconds": of.drain_start}
    return shown


def agents(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as /state shows it: a JSON array."""
    return _array(state, runtime, "state", agent, principal)


def agents_in_full(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as /slaves shows it: a JSON array."""

    def view(state: MasterState, of: Agent, sees: Sees) -> dict[str, Any]:
        return agent_in_full(state, runtime, of, sees)

    return _array(state, runtime, "slaves", view, principal)


def agents_described(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as GET_AGENTS shows it: a JSON array."""

    def view(state: MasterState, of: Agent, sees: Sees) -> dict[str, Any]:
        return descriptions.agent(state, of, sees, runtime.describe_agent(of))

    if not runtime.shows_more:
        return _array(state, runtime, "described", view, principal)
    # What is lent can change while the agent's own parts are the same.
    sees = roles.sees(state, principal)
    return Written((dumps([view(state, of, sees) for of in state.agents.values()]),))


def _array(
    state: MasterState,
    runtime: AgentRuntime,
    kind: str,
    view: View,
    principal: str | None,
) -> Written:
    sees = roles.sees(state, principal)
    whose = "" if sees is roles.everything else f" that {principal!r} sees"
    agents, offers, kept = state.agents.values(), state.offers, texts(state, kind + whose)

    def parts(of: Agent) -> Parts:
        # What lies idle of reservations is worked out anew whenever somebody asks.
        return (of.revision, *offers.on_agent(of.id), runtime.allocation_slack(of))

    def everything() -> Iterable[Any]:
        return chain(map(_revision, agents), offers)

    def written() -> Written:
        return kept.array(agents, parts, lambda of: view(state, of, sees))

    # To find that nothing changed is many times faster for all together.
    return written() if runtime.shows_more else kept.whole(everything, written)


def recovered_agents(state: MasterState, wanted: str | None = None) -> list[dict[str, Any]]:
    """Return the agents that a former leader knew and that are awaited, or the one with the id `wanted`."""
    return [
        {
            "id": info["id"]["value"],
            "hostname": info["hostname"],
            "port": info["port"],
            "attributes": {entry["name"]: _attribute_value(entry) for entry in info.get("attributes", ())},
            **({"domain": info["domain"]} if "domain" in info else {}),
        }
        for info in descriptions.recovered_agents(state)
        if wanted in (None, info["id"]["value"])
    ]


def _attribute_value(entry: Mapping[str, Any]) -> str | float:
    value: str | float = entry[entry["type"].lower()]["value"]
    return value


def agent_in_full(state: MasterState, runtime: AgentRuntime, of: Agent, sees: Sees) -> dict[str, Any]:
    """An agent as /slaves shows it to somebody: every resource spelled out beside the summaries."""
    shown = agent(state, of, sees)
    slack = runtime.allocation_slack(of)
    if slack is not None:
        shown["allocation_slack"] = summary(Resources(Resource(name, milli) for name, milli in slack.items()))
    return shown | {
        "reserved_resources_full": {
            role: list_to_json(roles.seen(owned, sees), "ENDPOINT")
            for role, owned in of.total.by_owner().items()
            if sees(role)
        },
        "unreserved_resources_full": list_to_json(of.whole.unreserved(), "ENDPOINT"),
        "used_resources_full": list_to_json(roles.seen(state.used_on(of.id), sees), "ENDPOINT"),
        "offered_resources_full": list_to_json(roles.seen(state.offered_on(of.id), sees), "ENDPOINT"),
    }


def agents_in_summary(state: MasterState, principal: str | None) -> list[dict[str, Any]]:
    """Every agent as /state-summary shows it: with task counts."""
    sees = roles.sees(state, principal)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    present: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for framework in state.frameworks.values():
        for task in (*framework.tasks.values(), *framework.unreachable_tasks.values(), *framework.completed_tasks):
            counts[task.agent_id][task.state] += 1
            present[task.agent_id][framework.id] = None
    return [
        {
            **agent(state, of, sees),
            **dict.fromkeys(SUMMARY_STATES, 0),
            **counts[of.id],
            "framework_ids": list(present[of.id]),
        }
        for of in state.agents.values()
    ]


def role(state: MasterState, of: RoleView) -> dict[str, Any]:
    """A role as /roles shows it."""
    stored = state.quotas.get(of.name)
    return {
        "name": of.name,
        "weight": of.weight,
        "quota": {
            "role": of.name,
            "guarantee": dict(stored.guarantees) if stored else {},
            "limit": dict(stored.limits) if stored else {},
            "consumed": amounts(of.consumed),
        },
        "resources": amounts(of.allocated + of.offered),
        "allocated": amounts(of.allocated),
        "offered": amounts(of.offered),
        "reserved": amounts(of.reserved),
        "frameworks": list(of.frameworks),
    }


def roles_in_full(state: MasterState, principal: str | None) -> Written:
    """Every role that a principal may see, as /roles shows it: a JSON array."""

    def everything() -> Iterable[Any]:
        yield from chain.from_iterable(map(_holdings, state.agents.values()))
        for framework in state.frameworks.values():
            yield from (framework.info, framework.used(), framework.offered())
        yield from chain.from_iterable((*state.weights.items(), *state.quotas.items()))

    def written() -> Written:
        return Written([dumps([role(state, of) for of in visible_roles(state, principal)])])

    return texts(state, f"roles that {principal!r} sees").whole(everything, written)


def role_message(of: RoleView) -> dict[str, Any]:
    """A role as GET_ROLES shows it: of resources the sums of those that every master knows."""
    message: dict[str, Any] = {"name": of.name, "weight": of.weight}
    if of.frameworks:
        message["frameworks"] = [{"value": framework_id} for framework_id in of.frameworks]
    held = {name: milli for name, milli in (of.allocated + of.offered).items() if name in _KNOWN_SCALARS}
    if held:
        message["resources"] = [
            {"name": name, "type": "SCALAR", "scalar": {"value": to_shown(milli)}} for name, milli in held.items()
        ]
    return message


def visible_roles(state: MasterState, principal: str | None) -> list[RoleView]:
    """The roles that a principal may see, by name."""
    return roles.views(state, filter(roles.sees(state, principal), roles.known_roles(state)))


def amounts(quantities: Quantities) -> dict[str, float]:
    """Quantities as an object of doubles."""
    return {name: to_shown(milli) for name, milli in quantities.items()}
