"""The record of a dry run: the answer to each change, and the tasks that are evicted for it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from fake_master.extensions.revocation import Revoked, Revoking
from fake_master.http.application import Application
from fake_master.http.request_response import Response
from fake_master.master import Master
from fake_master.state.clock import VirtualClock
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.tasks import KnownTask
from fake_master.transports.connections import DirectConnection
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.forecast import AnsweredChange, Eviction, Rescission
from mesosctl.mesos.roles import display_names

_V1 = "/api/v1"
_SCHEDULER = "/api/v1/scheduler"
_READING = ("GET_", "LIST_", "READ_", "SUBSCRIBE")
# Of a framework's calls, those that can be refused and those that change more than an offer.
_FRAMEWORKS_CALLS = ("SUBSCRIBE", "ACCEPT")


class Recorder(DirectConnection):
    """Carries requests to a master in virtual time, and reports the answer to each that would change something."""

    def __init__(self, master: Master, clock: VirtualClock, report: Callable[[AnsweredChange], None]) -> None:
        super().__init__(master, clock.sleep)
        self._report = report
        self.label: str | None = None
        """The name of the next changes; without one they are named by method, path and call."""

    def follow(self, master: Master) -> None:
        """Carry requests to another master from now on."""
        self._application = Application(master)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See `DirectConnection.answer`."""
        name = _change(method, target.partition("?")[0], body)
        response = super().answer(method, target, headers, body)
        if name is not None:
            accepted = response.status < 400
            message = "" if accepted else response.body.decode(errors="replace").strip()
            self._report(AnsweredChange(self.label or name, response.status, accepted, message))
        return response


def _change(method: str, path: str, body: bytes) -> str | None:
    """Return in short what a request would change; None if it only reads."""
    if method in ("GET", "HEAD"):
        return None
    if path not in (_V1, _SCHEDULER):
        return f"{method} {path}"
    try:
        call = str(json.loads(body)["type"])
    except (ValueError, KeyError, TypeError):
        return f"{method} {path}"
    if path == _SCHEDULER:
        return call if call in _FRAMEWORKS_CALLS else None
    return None if call.startswith(_READING) else call


class AgentNames:
    """The names of all agents that a master has had since this was made; worked out once, and again after `grown`."""

    def __init__(self, state: MasterState) -> None:
        self._state = state
        self._names: dict[str, str] = {}
        self._hostnames: dict[str, str] = {}
        self.grown()

    def grown(self) -> None:
        """Look at the agents again: some have registered."""
        self._hostnames |= {agent.id: agent.hostname for agent in self._state.agents.values()}
        self._names = display_names(self._hostnames)

    def of(self, agent_id: str) -> str:
        """Return the name of the agent in sentences."""
        return self._names[agent_id]


class RescindedOffers:
    """The offers that the present master rescinds; `watch` follows the next one after a restart."""

    _state: MasterState
    _names: AgentNames
    """Of the master that is watched."""

    def __init__(self, before: MasterState) -> None:
        self._out = {offer.id for offer in before.offers}
        self._found: list[Rescission] = []

    def watch(self, master: Master, names: AgentNames) -> None:
        """Note every offer that this master rescinds from now on."""
        self._state, self._names = master.state, names
        master.offers.on_rescind = self._note

    def found(self) -> tuple[Rescission, ...]:
        """Return them, oldest rescission first."""
        return tuple(self._found)

    def _note(self, offer: OutstandingOffer) -> None:
        framework = self._state.frameworks.get(offer.framework_id)
        self._found.append(
            Rescission(
                offer_id=offer.id,
                framework_id=offer.framework_id,
                framework=offer.framework_id if framework is None else framework.name,
                role=offer.role,
                hostname=self._state.agents[offer.agent_id].hostname,
                resources=offer.resources,
                agent_id=offer.agent_id,
                agent=self._names.of(offer.agent_id),
                out_now=offer.id in self._out,
            )
        )


_Name = tuple[str, str]


class Evictions:
    """The tasks that one master evicts from `begin` on, and those that it might have to evict."""

    def __init__(self, state: MasterState, runtime: AgentRuntime, revoking: Revoking, names: AgentNames) -> None:
        self._state = state
        self._runtime = runtime
        self._revoking = revoking
        self._names = names
        self._present = {(framework.id, task.id) for framework, task in self._tasks()} if self.are_possible else set()
        self._before: set[_Name] = set()
        self._happened: dict[_Name, Eviction] = {}

    @property
    def are_possible(self) -> bool:
        """Whether this master ever ends a task for another."""
        return self._runtime.evicts or self._state.flags.revocation_grace_seconds is not None

    @property
    def longest_grace(self) -> float:
        """The longest time that an eviction takes, in seconds."""
        return self._grace() if self.are_possible else 0.0

    def begin(self) -> None:
        """Count evictions from now on as the change's doing; tasks that were at risk before are not."""
        self._before = {(framework.id, task.id) for framework, task in at_risk(self._state, self._runtime)}
        self._runtime.on_eviction = self._evicted
        self._revoking.on_revoked = self._revoked

    def found(self) -> tuple[Eviction, ...]:
        """Return the tasks that were evicted, in that order, and then those that might be."""
        might = [
            self._value(framework, task, happens=False)
            for framework, task in at_risk(self._state, self._runtime)
            if (framework.id, task.id) not in self._happened
        ]
        return (*self._happened.values(), *might)

    def _evicted(self, framework: KnownFramework, task: KnownTask) -> None:
        self._note(framework, task)

    def _revoked(self, what: Revoked) -> None:
        task = what.framework.all_tasks().get(what.id)
        if what.kind != "rescinded" and task is not None:
            self._note(what.framework, task)

    def _note(self, framework: KnownFramework, task: KnownTask) -> None:
        self._happened.setdefault((framework.id, task.id), self._value(framework, task, happens=True))

    def _value(self, framework: KnownFramework, task: KnownTask, *, happens: bool) -> Eviction:
        name = (framework.id, task.id)
        return Eviction(
            task_id=task.id,
            framework_id=framework.id,
            framework=framework.name,
            role=task.role,
            hostname=self._state.agents[task.agent_id].hostname,
            resources=task.resources.allocated_to(None),
            agent_id=task.agent_id,
            agent=self._names.of(task.agent_id),
            grace_seconds=0.0 if task.is_staging else self._grace(),
            happens=happens,
            caused=happens or name not in self._before,
            runs_now=name in self._present,
        )

    def _grace(self) -> float:
        revocation = self._state.flags.revocation_grace_seconds
        return self._state.task_outcome.stop_seconds if revocation is None else revocation

    def _tasks(self) -> Iterator[tuple[KnownFramework, KnownTask]]:
        for framework in self._state.frameworks.values():
            for task in framework.all_tasks().values():
                if not task.is_terminal:
                    yield framework, task


def at_risk(state: MasterState, runtime: AgentRuntime) -> Iterator[tuple[KnownFramework, KnownTask]]:
    """Yield the tasks that would be evicted, agent by agent, if all regular offers were used."""
    if not runtime.evicts:
        return
    for agent in state.agents.values():
        offered = _sum(offer.resources for offer in state.offers.on_agent(agent.id) if offer.kind == "regular")
        yield from runtime.would_be_evicted(agent, offered)


def _sum(parts: Iterable[Resources]) -> Resources:
    whole = Resources()
    for part in parts:
        whole += part
    return whole
