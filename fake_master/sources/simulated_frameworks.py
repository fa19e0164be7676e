"""Simulated frameworks inside the fake master, which compete for resources.

A simulated framework subscribes like any other and gets the same events, without a connection. It answers at the same
time, but never during an allocation: its answers are due at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from fake_master.allocator.interface import ResourceRequest
from fake_master.master import Master
from fake_master.sources.initial_tasks import RunningTasks, SnapshotTasks, usage_of
from fake_master.state.agents import Agent
from fake_master.state.frameworks import Framework
from fake_master.state.offers import Offer
from fake_master.state.streams import EventStream
from fake_master.state.subscription import Subscription
from mesosctl.api.resources import list_to_json
from mesosctl.model.errors import BadInput, RuleViolation
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.snapshot import Lending

# It asks for no more at once; the others when these are met.
_MOST_REQUESTS = 1000

Answer = Literal["accept", "decline", "hold"]


@dataclass(frozen=True, slots=True)
class SimulatedFrameworkSpec:
    """The behaviour of a simulated framework."""

    name: str
    roles: tuple[str, ...]
    task: Resources = field(default_factory=Resources)
    """The resources of each of its tasks: scalars."""
    tasks: int | None = None
    """The number of tasks that it wants to run at once; None means as many as there is room for."""
    per_offer: int | None = None
    """The number of tasks that it launches from one offer; None means as many as fit."""
    answer: Answer = "accept"
    """Its answer to offers: launch tasks, decline every one, or hold them unanswered."""
    refuse_seconds: float = 5.0
    """The filter on offers that it cannot use."""
    after: float = 0.0
    """Seconds until it subscribes."""
    principal: str | None = None
    capabilities: tuple[str, ...] = ("MULTI_ROLE", "RESERVATION_REFINEMENT")
    suppressed: tuple[str, ...] = ()
    """Roles in which it wants no offers."""
    connected: bool = True
    """Whether its scheduler is there; else it keeps its tasks and is offered nothing."""
    running: tuple[RunningTasks, ...] = ()
    where: str = field(default="frameworks", compare=False)
    """The place of its table in the cluster file."""


Launched = Callable[[Framework, Offer, int], None]
"""Called after each ACCEPT with the framework, the offer and the number of tasks."""


class _ListeningStream(EventStream):
    """A stream whose events are handed over as they are, instead of being written down."""

    def __init__(self, listen: Callable[[Mapping[str, Any]], None]) -> None:
        super().__init__()
        self._listen = listen

    def send(self, event: Mapping[str, Any]) -> None:
        if not self.closed:
            self._listen(event)


class SimulatedFramework:
    """One framework of a cluster file."""

    def __init__(self, master: Master, spec: SimulatedFrameworkSpec, on_launch: Launched | None = None) -> None:
        self._master = master
        self._spec = spec
        self._on_launch = on_launch
        self._launched = 0
        self._under_way = 0
        """Tasks in ACCEPT calls that the master has not processed."""
        self._asked_for = 0
        self._framework: Framework | None = None

    def join(self, hosts: Mapping[str, Agent]) -> None:
        """Subscribe, now or after its delay; `hosts` has the agents by hostname, for the tasks that run.

        Raises BadInput if the master refuses it.
        """
        try:
            wanted = self._subscription()
            wanted.check(self._master.state.flags)
        except RuleViolation as error:
            raise BadInput(
                f"framework '{self._spec.name}': {error.message}", field=f"{self._spec.where}.role"
            ) from error
        if self._spec.running or not self._spec.connected:
            self._restore(wanted, hosts)
        elif self._spec.after:
            self._master.state.timers.at(self._master.state.now + self._spec.after, self.subscribe)
        else:
            self.subscribe()

    def _subscription(self) -> Subscription:
        spec = self._spec
        info: dict[str, Any] = {
            "user": "resident",
            "name": spec.name,
            "capabilities": [{"type": name} for name in spec.capabilities],
        }
        if "MULTI_ROLE" in spec.capabilities:
            info["roles"] = list(spec.roles)
        elif spec.roles:
            info["role"] = spec.roles[0]
        if spec.principal is not None:
            info["principal"] = spec.principal
        return Subscription(info, suppressed=frozenset(spec.suppressed))

    def _restore(self, wanted: Subscription, hosts: Mapping[str, Agent]) -> None:
        """Enter the framework as one that subscribed before this master started, with its tasks.  Raises BadInput."""
        master, spec = self._master, self._spec
        framework = Framework(
            id=master.subscriptions.new_id(),
            info=wanted.info,
            registered_time=master.state.wall_time,
            suppressed=wanted.suppressed,
            connected=spec.connected,
            active=spec.connected,
            stream=_ListeningStream(self._hear) if spec.connected else None,
        )
        framework.info = {**wanted.info, "id": {"value": framework.id}}
        tasks = SnapshotTasks(master, Lending(), master.state.now)
        for number, running in enumerate(spec.running):
            usage = usage_of(running, framework, hosts)
            held = usage.resources.allocated_to(usage.role)
            framework.hold(master.state.agents[usage.agent_id], held)
            tasks.hold(framework, usage, held, number)
        self._take_part(framework)
        master.subscriptions.restore(framework)
        for task in list(framework.all_tasks().values()):
            master.task_runner.go_on(framework, task, None)
        self._ask_for_the_rest()

    def subscribe(self) -> None:
        """Subscribe now.  Raises BadInput if the master refuses it."""
        refused: list[str] = []

        def listen(event: Mapping[str, Any]) -> None:
            if event["type"] == "ERROR":
                refused.append(event["error"]["message"])
            self._hear(event)

        stream = self._master.subscriptions.subscribe(self._subscription(), _ListeningStream(listen))
        if refused:
            raise BadInput(f"framework '{self._spec.name}': {refused[0]}", field="frameworks")
        self._take_part(next(known for known in self._master.state.frameworks.values() if known.stream is stream))
        self._ask_for_the_rest()

    def _take_part(self, framework: Framework) -> None:
        self._framework = framework
        framework.is_simulated = True

    def _call(self, action: Callable[[], None]) -> None:
        """Make a call, which the master throttles and counts as those of any other framework."""
        if self._framework is not None and self._framework.stream is not None:
            self._master.rate_limiting.receive(self._framework, action)

    def _hear(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "OFFERS" and self._spec.answer != "hold":
            offer_ids = [offer["id"]["value"] for offer in event["offers"]["offers"]]
            self._soon(lambda: self._answer(offer_ids))
        elif event["type"] == "UPDATE" and "uuid" in event["update"]["status"]:
            status = event["update"]["status"]
            self._soon(lambda: self._acknowledge(status["task_id"]["value"], status["uuid"]))
            if status["state"] in TERMINAL_STATES:
                self._soon(self._ask_for_the_rest)

    def _soon(self, action: Callable[[], None]) -> None:
        self._master.state.timers.at(self._master.state.now, action)

    def _acknowledge(self, task_id: str, uuid: str) -> None:
        framework = self._framework
        if framework is not None:
            self._call(lambda: self._master.task_updates.acknowledge(framework, task_id, uuid))

    def _answer(self, offer_ids: list[str]) -> None:
        framework = self._framework
        if framework is None or not framework.active:
            return
        for offer_id in offer_ids:
            offer = framework.offers.get(offer_id)
            if offer is None:
                continue
            tasks = self._launches(framework, offer) if self._spec.answer == "accept" else []
            if tasks:
                self._under_way += len(tasks)
                self._call(partial(self._accept, framework, offer, tasks))
            else:
                refused = self._spec.refuse_seconds
                self._call(partial(self._master.offer_answers.decline, framework, [offer_id], refused))

    def _accept(self, framework: Framework, offer: Offer, tasks: list[dict[str, Any]]) -> None:
        """The master processes an ACCEPT; the rest of the offer can be offered again at once."""
        self._under_way -= len(tasks)
        is_valid = offer.id in framework.offers
        self._master.offer_answers.accept(framework, [offer.id], [_launch(tasks)], 0.0)
        self._ask_for_the_rest()
        if self._on_launch is not None and is_valid:
            self._on_launch(framework, offer, len(tasks))

    def _ask_for_the_rest(self) -> None:
        """Send REQUEST for the resources that it still needs, whenever they change; not every allocator uses it."""
        framework, spec = self._framework, self._spec
        if framework is None or not framework.active or spec.tasks is None or spec.answer != "accept":
            return
        lacking = spec.tasks - self._running(framework)
        if lacking != self._asked_for:
            self._asked_for = lacking
            wanted = [ResourceRequest(spec.task.scalar_quantities())] * min(lacking, _MOST_REQUESTS)
            self._call(lambda: self._master.allocator.request_resources(framework.id, wanted))

    @staticmethod
    def _running(framework: Framework) -> int:
        return sum(not task.is_terminal for task in framework.all_tasks().values())

    def _launches(self, framework: Framework, offer: Offer) -> list[dict[str, Any]]:
        """TaskInfo of every task that this offer is used for."""
        spec = self._spec
        room = spec.per_offer
        if spec.tasks is not None:
            wanted = max(0, spec.tasks - self._running(framework) - self._under_way)
            room = wanted if room is None else min(room, wanted)
        left = offer.resources.allocated_to(None)
        infos: list[dict[str, Any]] = []
        while (room is None or len(infos) < room) and (part := _part_of(left, spec.task)) is not None:
            left -= part
            self._launched += 1
            infos.append(
                {
                    "name": f"task-{self._launched}",
                    "task_id": {"value": f"task-{self._launched}"},
                    "agent_id": {"value": offer.agent_id},
                    "command": {"value": "true"},
                    "resources": list_to_json(part, "POST"),
                }
            )
        return infos


def _launch(infos: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "LAUNCH", "launch": {"task_infos": infos}}


def _part_of(offered: Resources, task: Resources) -> Resources | None:
    """The entries of an offer that make up one task, reserved ones first; None if it is too little."""
    found: list[Resource] = []
    ordered = sorted((entry for entry in offered if entry.disk is None), key=lambda entry: not entry.is_reserved)
    for name, needed in task.scalar_quantities().items():
        missing = needed
        for entry in ordered:
            if entry.name == name and isinstance(entry.value, int) and missing > 0:
                taken = min(missing, entry.value)
                found.append(replace(entry, value=taken))
                missing -= taken
        if missing > 0:
            return None
    return Resources(found) if found else None
