"""The JSON in which agents are shown (Mesos documentation, "HTTP Endpoints"; "Operator HTTP API", "GET_AGENTS")."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from fake_master.http.json_text import (
    AnswerPart,
    Fragment,
    JsonPieces,
    ResourceTexts,
    dumps,
    listed_in_json,
    text_of,
    to_bytes,
)
from fake_master.http.views.response_cache import Parts, texts_seen
from fake_master.services import v1_messages
from fake_master.state import roles
from fake_master.state.agents import KnownAgent
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.master_state import MasterState
from fake_master.state.roles import Sees
from fake_master.state.shown_since import has_member
from fake_master.state.tasks import SUMMARY_STATES, count_of
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.defaults import as_shown
from mesosctl.mesos.messages.resources import list_to_json, summary

_revision = attrgetter("revision")
_place = attrgetter("agent_id", "state")


class ShownAgent(NamedTuple):
    """An agent and what is offered of it."""

    agent: KnownAgent
    offered: Resources


_NOTHING = Resources()


def _together(*offered: Resources) -> Resources:
    return Resources(entry for resources in offered for entry in resources)


class AgentViews:
    """Agents as a principal sees them in one answer."""

    def __init__(self, state: MasterState, runtime: AgentRuntime, sees: Sees) -> None:
        self._state = state
        self._runtime = runtime
        self._sees = sees
        self._shows_deactivated = has_member(state.profile.release, "agent deactivated")
        self._texts = ResourceTexts()
        self._message = state.message("mesos.v1.master.Response.GetAgents.Agent")
        self._sum = IdentityCache(_together, most=None).of

    def short(self, shown_agent: ShownAgent) -> dict[str, Any]:
        """An agent as /state shows it."""
        (of, offered), summed = shown_agent, self._texts.summed
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
            "used_resources": summed(of.used),
            "offered_resources": summed(offered),
            "reserved_resources": self._texts.of(of.total, self._reserved),
            "unreserved_resources": self._texts.of(of.whole, _unreserved),
            "active": of.active,
            **({"deactivated": of.deactivated} if self._shows_deactivated else {}),
            "version": of.version,
            "capabilities": list(of.capabilities),
        }
        if of.drain_info is not None:
            shown |= {"drain_info": dict(of.drain_info), "estimated_drain_start_time_seconds": of.drain_start}
        return shown

    def in_full(self, shown_agent: ShownAgent) -> dict[str, Any]:
        """An agent as in /slaves: every resource in full, in addition to the summaries."""
        (of, offered), shown = shown_agent, self.short(shown_agent)
        slack = self._runtime.allocation_slack(of)
        if slack is not None:
            shown["allocation_slack"] = summary(Resources(Resource(name, milli) for name, milli in slack.items()))
        return shown | {
            "reserved_resources_full": self._texts.of(of.total, self._reserved_in_full),
            "unreserved_resources_full": self._texts.of(of.whole, _unreserved_in_full),
            "used_resources_full": self._listed(of.used),
            "offered_resources_full": self._listed(offered),
        }

    def described(self, shown_agent: ShownAgent, listed: v1_messages.Listing | None = None) -> dict[str, Any]:
        """An agent as GET_AGENTS shows it; `listed` shows its resources, by default as text."""
        of, offered = shown_agent
        added = self._runtime.describe_agent(of)
        return v1_messages.agent(of, offered, self._sees, added, listed or self._texts.listed)

    def described_in_json(self, shown_agent: ShownAgent) -> dict[str, Any]:
        """The same in JSON, as the release of the master has it; the newest has all of it."""
        described = self.described(shown_agent)
        if self._message.release is None:
            return described
        shown: dict[str, Any] = as_shown(self._message, described)
        return shown

    def shown(self, of: KnownAgent) -> ShownAgent:
        """Return an agent with what is offered of it: one object for all with the same offers."""
        offers = self._state.offers.on_agent(of.id)
        if not offers:
            return ShownAgent(of, _NOTHING)
        if len(offers) == 1:
            return ShownAgent(of, offers[0].resources)
        return ShownAgent(of, self._sum(*(offer.resources for offer in offers)))

    def _listed(self, resources: Resources) -> Fragment:
        return self._texts.listed(roles.seen(resources, self._sees), "ENDPOINT")

    def _reserved(self, total: Resources) -> dict[str, Any]:
        return {role: summary(owned) for role, owned in total.by_owner().items() if self._sees(role)}

    def _reserved_in_full(self, total: Resources) -> dict[str, Any]:
        return {
            role: listed_in_json(roles.seen(owned, self._sees), "ENDPOINT")
            for role, owned in total.by_owner().items()
            if self._sees(role)
        }


def _unreserved(whole: Resources) -> dict[str, Any]:
    return summary(whole.unreserved())


def _unreserved_in_full(whole: Resources) -> list[dict[str, Any]]:
    return listed_in_json(whole.unreserved(), "ENDPOINT")


def agents(state: MasterState, runtime: AgentRuntime, principal: str | None) -> JsonPieces:
    """Every agent as /state shows it: a JSON array."""
    return _array(state, runtime, "state", AgentViews.short, principal)


def agents_in_full(state: MasterState, runtime: AgentRuntime, principal: str | None) -> JsonPieces:
    """Every agent as /slaves shows it: a JSON array."""
    return _array(state, runtime, "slaves", AgentViews.in_full, principal)


def agents_described(state: MasterState, runtime: AgentRuntime, principal: str | None) -> AnswerPart:
    """Every agent as GET_AGENTS shows it."""

    def views() -> AgentViews:
        return AgentViews(state, runtime, roles.sees(state, principal))

    def values() -> list[dict[str, Any]]:
        described = views()
        return [described.described(described.shown(of), list_to_json) for of in state.agents.values()]

    def pieces() -> JsonPieces:
        if not runtime.shows_more:
            return _array(state, runtime, "described", AgentViews.described_in_json, principal)
        # Loans can change while the agent's own parts stay the same.
        described = views()
        texts = [described.described_in_json(described.shown(of)) for of in state.agents.values()]
        return JsonPieces((dumps(texts),))

    return AnswerPart(pieces, values)


def _array(
    state: MasterState,
    runtime: AgentRuntime,
    kind: str,
    view: Callable[[AgentViews, ShownAgent], Mapping[str, Any]],
    principal: str | None,
) -> JsonPieces:
    sees = roles.sees(state, principal)
    agents, offers, kept = state.agents.values(), state.offers, texts_seen(state, kind, principal, "view_roles")

    def parts(of: KnownAgent) -> Parts:
        # Idle reservations are calculated for each request.
        return (of.revision, *offers.on_agent(of.id), runtime.allocation_slack(of))

    def everything() -> Iterable[Any]:
        return chain((offers.revision,), map(_revision, agents))

    def make() -> JsonPieces:
        shown = AgentViews(state, runtime, sees)
        return kept.array(agents, parts, lambda of: view(shown, shown.shown(of)))

    # To find that nothing changed is many times faster for all together.
    return make() if runtime.shows_more else kept.whole(everything, make)


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
        for info in v1_messages.recovered_agents(state)
        if wanted in (None, info["id"]["value"])
    ]


def _attribute_value(entry: Mapping[str, Any]) -> str | float:
    value: str | float = entry[entry["type"].lower()]["value"]
    return value


def agents_in_summary(state: MasterState, runtime: AgentRuntime, principal: str | None) -> JsonPieces:
    """Every agent as /state-summary shows it, with task counts: a JSON array."""
    sees = roles.sees(state, principal)
    agents, offers, kept = state.agents.values(), state.offers, texts_seen(state, "summary", principal, "view_roles")

    def everything() -> Iterable[Any]:
        yield from chain((offers.revision,), map(_revision, agents))
        for framework in state.frameworks.values():
            yield framework
            yield from framework.task_groups()
            yield from chain.from_iterable(map(_place, framework.all_tasks_or_groups()))

    def make() -> JsonPieces:
        counts: dict[str, Counter[str]] = {}
        present: dict[str, dict[str, None]] = {}
        for framework in state.frameworks.values():
            for task in framework.all_tasks_or_groups():
                counts.setdefault(task.agent_id, Counter())[task.state] += count_of(task)
                present.setdefault(task.agent_id, {})[framework.id] = None
        shown = AgentViews(state, runtime, sees)

        def parts(of: KnownAgent) -> Parts:
            tasks = (*chain(*counts[of.id].items()), *present[of.id]) if of.id in present else ()
            return (of.revision, *offers.on_agent(of.id), *tasks)

        def counts_of(counted: Mapping[str, int], framework_ids: list[str]) -> str:
            return text_of({**dict.fromkeys(SUMMARY_STATES, 0), **counted, "framework_ids": framework_ids})[1:]

        without_tasks = counts_of({}, [])

        def text(of: KnownAgent) -> bytes:
            counted = counts_of(counts[of.id], list(present[of.id])) if of.id in present else without_tasks
            return to_bytes(f"{text_of(shown.short(shown.shown(of)))[:-1]},{counted}")

        return kept.array_of_texts(agents, parts, text)

    return kept.whole(everything, make)
