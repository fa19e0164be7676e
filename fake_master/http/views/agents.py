"""The JSON in which agents are shown (Mesos documentation, "HTTP Endpoints"; Mesos operator HTTP API, "GET_AGENTS")."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any

from fake_master.http.json_text import Fragment, ResourceTexts, Written, dumps
from fake_master.http.views.response_cache import Parts, texts
from fake_master.services import descriptions
from fake_master.state import roles
from fake_master.state.agents import Agent
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.master_state import MasterState
from fake_master.state.roles import Sees
from fake_master.state.tasks import SUMMARY_STATES
from mesosctl.api.resources import list_to_json, summary
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

_revision = attrgetter("revision")
_place = attrgetter("agent_id", "state")


class AgentViews:
    """Agents as a principal sees them in one answer."""

    def __init__(self, state: MasterState, runtime: AgentRuntime, sees: Sees) -> None:
        self._state = state
        self._runtime = runtime
        self._sees = sees
        self._texts = ResourceTexts()
        self._sums: dict[tuple[int, ...], Resources] = {}
        """Sums by the ids of their parts, which the offers keep alive."""

    def short(self, of: Agent) -> dict[str, Any]:
        """An agent as /state shows it."""
        state, summed = self._state, self._texts.summed
        shown = {
            "id": of.id,
            "hostname": of.hostname,
            "port": of.port,
            "attributes": dict(of.attributes),
            **({} if of.domain is None else {"domain": of.domain.message()}),
            "pid": of.pid,
            "registered_time": of.registered_time,
            **({} if of.reregistered_time is None else {"reregistered_time": of.reregistered_time}),
            "resources": summed(of.whole),
            "used_resources": summed(state.used_on(of.id)),
            "offered_resources": summed(self._offered(of)),
            "reserved_resources": self._texts.of(of.total, self._reserved),
            "unreserved_resources": self._texts.of(of.whole, _unreserved),
            "active": of.active,
            "deactivated": of.deactivated,
            "version": of.version,
            "capabilities": list(of.capabilities),
        }
        if of.drain_info is not None:
            shown |= {"drain_info": dict(of.drain_info), "estimated_drain_start_time_seconds": of.drain_start}
        return shown

    def in_full(self, of: Agent) -> dict[str, Any]:
        """An agent as in /slaves: every resource in full, in addition to the summaries."""
        state, shown = self._state, self.short(of)
        slack = self._runtime.allocation_slack(of)
        if slack is not None:
            shown["allocation_slack"] = summary(Resources(Resource(name, milli) for name, milli in slack.items()))
        return shown | {
            "reserved_resources_full": self._texts.of(of.total, self._reserved_in_full),
            "unreserved_resources_full": self._texts.of(of.whole, _unreserved_in_full),
            "used_resources_full": self._listed(state.used_on(of.id)),
            "offered_resources_full": self._listed(self._offered(of)),
        }

    def described(self, of: Agent) -> dict[str, Any]:
        """An agent as GET_AGENTS shows it."""
        added = self._runtime.describe_agent(of)
        return descriptions.agent(self._state, of, self._sees, added, self._texts.listed)

    def _offered(self, of: Agent) -> Resources:
        key = tuple([id(offer.resources) for offer in self._state.offers.on_agent(of.id)])
        if key not in self._sums:
            self._sums[key] = self._state.offered_on(of.id)
        return self._sums[key]

    def _listed(self, resources: Resources) -> Fragment:
        return self._texts.listed(roles.seen(resources, self._sees), "ENDPOINT")

    def _reserved(self, total: Resources) -> dict[str, Any]:
        return {role: summary(owned) for role, owned in total.by_owner().items() if self._sees(role)}

    def _reserved_in_full(self, total: Resources) -> dict[str, Any]:
        return {
            role: list_to_json(roles.seen(owned, self._sees), "ENDPOINT")
            for role, owned in total.by_owner().items()
            if self._sees(role)
        }


def _unreserved(whole: Resources) -> dict[str, Any]:
    return summary(whole.unreserved())


def _unreserved_in_full(whole: Resources) -> list[dict[str, Any]]:
    return list_to_json(whole.unreserved(), "ENDPOINT")


def agents(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as /state shows it: a JSON array."""
    return _array(state, runtime, "state", AgentViews.short, principal)


def agents_in_full(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as /slaves shows it: a JSON array."""
    return _array(state, runtime, "slaves", AgentViews.in_full, principal)


def agents_described(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as GET_AGENTS shows it: a JSON array."""
    if not runtime.shows_more:
        return _array(state, runtime, "described", AgentViews.described, principal)
    # Loans can change while the agent's own parts stay the same.
    shown = AgentViews(state, runtime, roles.sees(state, principal))
    return Written((dumps([shown.described(of) for of in state.agents.values()]),))


def _array(
    state: MasterState,
    runtime: AgentRuntime,
    kind: str,
    view: Callable[[AgentViews, Agent], Mapping[str, Any]],
    principal: str | None,
) -> Written:
    sees = roles.sees(state, principal)
    agents, offers, kept = state.agents.values(), state.offers, texts(state, kind + _whose(sees, principal))

    def parts(of: Agent) -> Parts:
        # Idle reservations are calculated for each request.
        return (of.revision, *offers.on_agent(of.id), runtime.allocation_slack(of))

    def everything() -> Iterable[Any]:
        return chain(map(_revision, agents), offers)

    def written() -> Written:
        shown = AgentViews(state, runtime, sees)
        return kept.array(agents, parts, lambda of: view(shown, of))

    # To find that nothing changed is many times faster for all together.
    return written() if runtime.shows_more else kept.whole(everything, written)


def _whose(sees: Sees, principal: str | None) -> str:
    """Distinguish the cached texts of principals who see different things."""
    return "" if sees is roles.everything else f" that {principal!r} sees"


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


def agents_in_summary(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Every agent as /state-summary shows it, with task counts: a JSON array."""
    sees = roles.sees(state, principal)
    agents, offers, kept = state.agents.values(), state.offers, texts(state, "summary" + _whose(sees, principal))

    def everything() -> Iterable[Any]:
        yield from chain(map(_revision, agents), offers)
        for framework in state.frameworks.values():
            yield framework
            yield from chain.from_iterable(map(_place, framework.all_tasks()))

    def written() -> Written:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        present: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for framework in state.frameworks.values():
            for task in framework.all_tasks():
                counts[task.agent_id][task.state] += 1
                present[task.agent_id][framework.id] = None
        shown = AgentViews(state, runtime, sees)

        def parts(of: Agent) -> Parts:
            return (of.revision, *offers.on_agent(of.id), *chain(*counts[of.id].items()), *present[of.id])

        def view(of: Agent) -> dict[str, Any]:
            counted: dict[str, int] = dict.fromkeys(SUMMARY_STATES, 0)
            return {**shown.short(of), **counted, **counts[of.id], "framework_ids": list(present[of.id])}

        return kept.array(agents, parts, view)

    return kept.whole(everything, written)
