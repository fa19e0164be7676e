"""Simulated frameworks inside the fake master, which compete for resources.

A simulated framework subscribes like any other, without a connection: it is handed offers and updates as values
(`LocalScheduler`), and launches tasks by values. It answers at the same time, but never during an allocation: its
answers are due at once.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from random import Random
from types import MappingProxyType
from typing import Any, Literal

from fake_master.allocator.interface import ResourceRequest
from fake_master.master import Master
from fake_master.sources.demand import Demand, Span, TaskOnAgent, WantedTask, runs_for
from fake_master.sources.initial_tasks import RunningTasks, SnapshotTasks, usage_of
from fake_master.sources.waiting_tasks import Fitting, WaitingTask, WaitingTasks, part_of
from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.local_scheduler import LocalScheduler, LocalStream
from fake_master.state.offers import OutstandingOffer
from fake_master.state.subscription import Subscription
from fake_master.state.tasks import KnownTask, TaskStatus
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import Lending
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

MOST_REQUESTS = 1000
"""The most waiting tasks of which it tells the sizes at once; the others when these are met."""
# Kept for offers of resources that come again.
_MOST_ROOMS = 1000
TASK_INFO: Mapping[str, Any] = MappingProxyType({"command": MappingProxyType({"value": "true"})})
"""The fields of TaskInfo that all tasks of simulated frameworks share."""

_amounts = IdentityCache(Resources.scalar_quantities)
"""The amounts of a task: thousands share their resources."""
_parts = IdentityCache(Resources.allocated_to)
"""The parts of offers that tasks get, with the role: thousands of offers and tasks share a few objects."""

Answer = Literal["accept", "decline", "hold"]


@dataclass(frozen=True, slots=True)
class SimulatedFrameworkSpec:
    """The behaviour of a simulated framework."""

    name: str
    roles: tuple[str, ...]
    task: Resources = field(default_factory=Resources)
    """The resources of each of its tasks: scalars."""
    tasks: int | None = None
    """The number of tasks that it wants to run at once; None means as many as there is room for.

    While they run, it suppresses its roles.
    """
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
    lasts: Span | None = None
    """How long its tasks run; None if the table [tasks] says it."""
    demand: Demand | None = None
    """The tasks that it asks for over time, instead of `tasks` at once: it suppresses its roles while it wants none."""
    seed: int = 0
    """The seed of what is left to chance."""
    where: str = field(default="frameworks", compare=False)
    """The place of its table in the cluster file."""


Launched = Callable[[KnownFramework, OutstandingOffer, int], None]
"""Called after each ACCEPT with the framework, the offer and the number of tasks."""


class _Room:
    """The tasks of one size that fit into the resources of an offer, one after another."""

    def __init__(self, offered: Resources, task: Resources, role: str) -> None:
        self.offered = offered
        self._task = task
        self._role = role
        self._left: Resources | None = offered.allocated_to(None)
        self._parts: list[Resources] = []
        self._sums: dict[int, Resources] = {}

    def parts(self, most: int | None) -> list[Resources]:
        """Return the resources of up to `most` tasks, with the role."""
        while self._left is not None and (most is None or len(self._parts) < most):
            part = part_of(self._left, self._task)
            if part is None:
                self._left = None
            else:
                self._left -= part
                self._parts.append(part.allocated_to(self._role))
        return self._parts[:most]

    def held(self, tasks: int) -> Resources:
        """Return what `tasks` of them hold together."""
        if tasks not in self._sums:
            self._sums[tasks] = Resources(chain.from_iterable(self._parts[:tasks]))
        return self._sums[tasks]


class SimulatedFramework(LocalScheduler):
    """One framework of a cluster file."""

    def __init__(self, master: Master, spec: SimulatedFrameworkSpec, on_launch: Launched | None = None) -> None:
        self._master = master
        self._spec = spec
        self._on_launch = on_launch
        self._launched = 0
        self._under_way = 0
        """Tasks in ACCEPT calls that the master has not processed."""
        self._asked_for = 0
        self._revives_from = 0.0
        """When it may revive its roles for the rest of its tasks, in seconds since the epoch."""
        self._rooms = IdentityCache(self._room_in, most=_MOST_ROOMS)
        """By the id of an offer's resources: thousands of offers share a few objects."""
        self._framework: KnownFramework | None = None
        self._framework_id: str | None = None
        """The id that it has got, also after it was torn down: it never subscribes again."""
        self._refusal: str | None = None
        """The message of the ERROR that the framework got."""
        self._answers_later = False
        """Whether its calls may have to wait for permits, which they get in their order."""
        self.on_start: Callable[[WantedTask, KnownTask], None] | None = None
        """Called with each task of a demand that is launched."""
        self._random = self._new_random()
        self._subscribes = 0.0
        """When it subscribes, if not at once: seconds since the epoch."""
        self._asks: Iterator[WantedTask] = iter(())
        """The tasks that it will ask for."""
        self._named: Collection[str] = ()
        """The ids that they name."""
        self._next: WantedTask | None = None
        """The first of them."""
        self._joined = 0.0
        """When it began to ask, in seconds since the epoch."""
        self._waiting = WaitingTasks()

    def _new_random(self) -> Random:
        spec = self._spec
        return Random(f"{spec.seed}/{spec.where}/{spec.name}")  # noqa: S311  # no secrets here

    @property
    def waiting(self) -> Collection[WantedTask]:
        """The tasks that it has asked for and that have not started."""
        return list(self._waiting)

    @property
    def holds_offers(self) -> bool:
        """Whether it leaves offers unanswered."""
        return self._spec.answer == "hold"

    @property
    def next_ask(self) -> float | None:
        """When it asks for the next task, in seconds since the epoch; None if never."""
        return None if self._next is None else self._joined + self._next.asked

    @property
    def asks_endlessly(self) -> bool:
        """Whether it never stops asking."""
        return self._spec.demand is not None and self._spec.demand.is_endless

    def join(self, hosts: Mapping[str, KnownAgent]) -> None:
        """Subscribe, now or after its delay; `hosts` has the agents by hostname, for the tasks that run.

        Raises BadInput if the master refuses it.
        """
        wanted = self.checked_subscription()
        if self._spec.running or not self._spec.connected:
            self._restore(wanted, hosts)
        elif self._spec.after:
            self._subscribe_at(self._master.state.now + self._spec.after)
        else:
            self.subscribe()

    def _subscribe_at(self, moment: float) -> None:
        self._subscribes = moment
        self._master.state.timers.at(moment, self.subscribe)

    # --- From one process to the next -------------------------------------------------------------------

    def to_document(self) -> dict[str, Any]:
        """Return what the scheduler itself remembers, as JSON: its framework is kept by the master."""
        return {
            "framework": self._framework_id,
            "subscribes": self._subscribes,
            "launched": self._launched,
            "joined": self._joined,
            "revives_from": self._revives_from,
            "waiting": self._waiting.to_document(),
        }

    def resume(self, document: Mapping[str, Any], framework: KnownFramework | None) -> None:
        """Go on as the scheduler of a document; `framework` is its own, None if it has none, or none any more."""
        self._launched = int(document["launched"])
        self._framework_id = document["framework"]
        self._revives_from = float(document["revives_from"])
        if framework is None:
            # It comes later, or it is gone for good.
            if self._framework_id is None:
                self._subscribe_at(float(document["subscribes"]))
            return
        if self._spec.lasts is not None:
            for _ in range(self._launched):
                self._spec.lasts.draw(self._random)  # as often as before, so that the next ones are the same
        self._take_part(framework)
        if self._spec.demand is not None:
            self._go_on_asking(self._spec.demand, document)
        self._ask_for_the_rest()

    def _go_on_asking(self, demand: Demand, document: Mapping[str, Any]) -> None:
        self._random = self._new_random()
        self._expect(demand, float(document["joined"]))
        waiting = document["waiting"]
        for task in self._waiting.resume(waiting, islice(self._asks, int(waiting["arrived"]))):
            self._release_later(task)
        self._plan_ask()
        if self._waiting:
            self._soon(self._revive)

    def checked_subscription(self) -> Subscription:
        """The SUBSCRIBE that it sends.  Raises BadInput if the master refuses it."""
        try:
            wanted = self._subscription()
            wanted.check(self._master.state.flags)
        except RuleViolation as error:
            raise BadInput(
                f"framework '{self._spec.name}': {error.message}", field=f"{self._spec.where}.role"
            ) from error
        return wanted

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
        suppressed = spec.suppressed if spec.demand is None else spec.roles
        return Subscription(info, suppressed=frozenset(suppressed))

    def join_with(self, running: Sequence[TaskOnAgent]) -> None:
        """Join at once, as one whose tasks run already on agents with room for them.  Raises BadInput."""
        state = self._master.state
        framework = self._known(self.checked_subscription())
        placed = []
        for wanted, agent_id, part in running:
            role = wanted.role or next(iter(framework.roles))
            held = _parts.of(part, role)
            task = self._task(framework, agent_id, role, held, wanted)
            task.state, task.statuses = "TASK_RUNNING", (TaskStatus("TASK_RUNNING", state.now),)
            framework.hold(state.agents[agent_id], held)
            framework.add_task(task)
            framework.count_task(task)
            placed.append((wanted, task))
        self._enter(framework)
        for wanted, task in placed:
            if self.on_start is not None:
                self.on_start(wanted, task)

    def _restore(self, wanted: Subscription, hosts: Mapping[str, KnownAgent]) -> None:
        """Enter the framework as one that subscribed before this master started, with its tasks.  Raises BadInput."""
        master, spec = self._master, self._spec
        framework = self._known(wanted)
        tasks = SnapshotTasks(master, Lending(), master.state.now)
        for number, running in enumerate(spec.running):
            usage = usage_of(running, framework, hosts)
            held = usage.resources.allocated_to(usage.role)
            framework.hold(master.state.agents[usage.agent_id], held)
            tasks.hold(framework, usage, held, number)
        self._enter(framework)

    def _known(self, wanted: Subscription) -> KnownFramework:
        """Make the framework, which has subscribed before."""
        master, spec = self._master, self._spec
        framework = KnownFramework(
            id=master.subscriptions.new_id(),
            info=wanted.info,
            registered_time=master.state.wall_time,
            suppressed=wanted.suppressed,
            connected=spec.connected,
            active=spec.connected,
            stream=LocalStream(self) if spec.connected else None,
        )
        framework.info = {**wanted.info, "id": {"value": framework.id}}
        return framework

    def _enter(self, framework: KnownFramework) -> None:
        """Enter it with everything that it holds; its tasks go on."""
        master = self._master
        self._take_part(framework)
        self._begin_asking()
        master.subscriptions.restore(framework)
        for task in list(framework.all_tasks().values()):
            master.task_runner.go_on(framework, task, None)
        self._ask_for_the_rest()

    def subscribe(self) -> None:
        """Subscribe now.  Raises BadInput if the master refuses it."""
        stream = self._master.subscriptions.subscribe(self._subscription(), LocalStream(self))
        if self._refusal is not None:
            raise BadInput(f"framework '{self._spec.name}': {self._refusal}", field="frameworks")
        self._take_part(next(known for known in self._master.state.frameworks.values() if known.stream is stream))
        self._begin_asking()
        self._ask_for_the_rest()

    def _take_part(self, framework: KnownFramework) -> None:
        self._framework, self._framework_id = framework, framework.id
        framework.is_simulated = True
        self._answers_later = self._master.rate_limiting.throttles(framework)

    def _begin_asking(self) -> None:
        if self._spec.demand is not None:
            self._expect(self._spec.demand, self._master.state.now)
            self._plan_ask()

    def _expect(self, demand: Demand, joined: float) -> None:
        self._asks = demand.tasks(self._random)
        self._named = demand.names
        self._joined = joined

    def _call(self, action: Callable[[], None]) -> None:
        """Make a call, which the master throttles and counts as those of any other framework."""
        if self._framework is not None and self._framework.stream is not None:
            self._master.rate_limiting.receive(self._framework, action)

    def offered(self, offers: Sequence[OutstandingOffer]) -> None:
        """See `LocalScheduler`."""
        if self._spec.answer != "hold":
            self._soon(partial(self._answer, offers))

    def updated(self, task: KnownTask, status: TaskStatus) -> None:
        """See `LocalScheduler`."""
        if status.uuid is None:  # the master's own: an agent is lost, or back
            self._soon(self._ask_for_the_rest)
        elif status.state in TERMINAL_STATES:
            self._soon(partial(self._acknowledge, task, status))
            self._soon(self._ask_for_the_rest)
        elif self._answers_later:
            self._soon(partial(self._acknowledge, task, status))
        else:
            self._acknowledge(task, status)

    def refused(self, message: str) -> None:
        """See `LocalScheduler`."""
        self._refusal = message

    def _soon(self, action: Callable[[], None]) -> None:
        self._master.state.timers.at(self._master.state.now, action)

    def _acknowledge(self, task: KnownTask, status: TaskStatus) -> None:
        framework = self._framework
        if framework is not None:
            self._call(partial(self._acknowledged, framework, task, status))

    def _acknowledged(self, framework: KnownFramework, task: KnownTask, status: TaskStatus) -> None:
        """The master processes an ACKNOWLEDGE."""
        is_there = framework.all_tasks().get(task.id) is task
        if is_there and task.unacknowledged and task.unacknowledged[0] is status:
            self._master.task_updates.acknowledged(framework, task)

    def _answer(self, offers: Sequence[OutstandingOffer]) -> None:
        framework = self._framework
        if framework is None or not framework.active:
            return
        if self._spec.demand is not None and self._spec.answer == "accept":
            self._answer_demand(framework, offers)
            return
        for offer in offers:
            if offer.id not in framework.offers:
                continue
            room = self._room(offer)
            parts = room.parts(self._most(framework)) if self._spec.answer == "accept" else ()
            if parts:
                self._under_way += len(parts)
                tasks = self._tasks(framework, offer, parts)
                self._call(partial(self._accept, framework, offer, tasks, room.held(len(parts))))
            else:
                refused = self._spec.refuse_seconds
                self._call(partial(self._master.offer_answers.decline, framework, (offer.id,), refused))

    def _accept(
        self, framework: KnownFramework, offer: OutstandingOffer, tasks: list[KnownTask], held: Resources
    ) -> None:
        """The master processes an ACCEPT."""
        self._under_way -= len(tasks)
        is_valid = offer.id in framework.offers
        self._master.offer_answers.launch(framework, offer.id, tasks, held)
        self._ask_for_the_rest()
        if self._on_launch is not None and is_valid:
            self._on_launch(framework, offer, len(tasks))

    # --- Demand ---------------------------------------------------------------------------------------

    def _plan_ask(self) -> None:
        self._next = next(self._asks, None)
        due = self.next_ask
        if due is not None:
            self._master.state.timers.at(max(due, self._master.state.now), self._ask)

    def _ask(self) -> None:
        """Ask for everything that is due."""
        now = self._master.state.now
        while self._next is not None and self._joined + self._next.asked <= now:
            waiting = self._waiting.add(self._next)
            if waiting.wanted.agent is not None:
                self._release_later(waiting)
            self._next = next(self._asks, None)
        due = self.next_ask
        if due is not None:
            self._master.state.timers.at(due, self._ask)
        self._revive()

    def _release_later(self, waiting: WaitingTask) -> None:
        """Let a task take any host, unless it gets its own by then."""
        state = self._master.state
        moment = waiting.wanted.released_at(state.now, self._master.allocation_interval)
        state.timers.at(moment, partial(self._release, waiting))

    def _release(self, waiting: WaitingTask) -> None:
        """A task has waited for its host long enough."""
        if self._waiting.release(waiting):
            self._revive()

    def _revive(self) -> None:
        framework, spec = self._framework, self._spec
        wanted = [role for role in spec.roles if role not in spec.suppressed]
        if framework is not None and framework.active and wanted:
            self._call(partial(self._master.subscriptions.revive, framework, wanted))

    def _answer_demand(self, framework: KnownFramework, offers: Sequence[OutstandingOffer]) -> None:
        """Launch what fits, first come, first served; suppress once nothing waits."""
        agents = self._master.state.agents
        for offer in offers:
            if offer.id not in framework.offers:
                continue
            taken: list[Fitting] = []
            if self._waiting:
                taken = self._waiting.take(offer.resources, agents[offer.agent_id].hostname, offer.role)
            if taken:
                parts = [_parts.of(fitting.part, offer.role) for fitting in taken]
                tasks = [
                    self._task(framework, offer.agent_id, offer.role, part, fitting.waiting.wanted)
                    for fitting, part in zip(taken, parts, strict=True)
                ]
                held = parts[0] if len(parts) == 1 else Resources(chain.from_iterable(parts))
                self._call(partial(self._accept_demand, framework, offer, taken, tasks, held))
            else:
                self._call(
                    partial(self._master.offer_answers.decline, framework, (offer.id,), self._spec.refuse_seconds)
                )
        if not self._waiting:
            self._call(partial(self._suppress, framework))

    def _task(
        self, framework: KnownFramework, agent_id: str, role: str, part: Resources, wanted: WantedTask
    ) -> KnownTask:
        name = wanted.name
        while name is None:
            self._launched += 1
            following = f"task-{self._launched}"
            name = None if following in self._named else following
        lasts = runs_for(wanted, self._master.state.now)
        return KnownTask(name, framework.id, agent_id, TASK_INFO, part, role, lasts=lasts)

    def _accept_demand(
        self,
        framework: KnownFramework,
        offer: OutstandingOffer,
        taken: Sequence[Fitting],
        tasks: Sequence[KnownTask],
        held: Resources,
    ) -> None:
        """The master processes an ACCEPT; tasks on an offer that is gone wait again."""
        if offer.id not in framework.offers:
            self._waiting.put_back(fitting.waiting for fitting in taken)
            self._soon(self._revive)
            return
        self._master.offer_answers.launch(framework, offer.id, tasks, held)
        if self.on_start is not None:
            for fitting, task in zip(taken, tasks, strict=True):
                self.on_start(fitting.waiting.wanted, task)
        if self._on_launch is not None:
            self._on_launch(framework, offer, len(tasks))

    def _suppress(self, framework: KnownFramework) -> None:
        """The master processes a SUPPRESS, unless more was asked for, or a task ended, meanwhile."""
        is_done = not self._waiting if self._spec.demand is not None else self._lacking(framework) <= 0
        if is_done and framework.roles - framework.suppressed:
            self._master.subscriptions.suppress(framework, ())

    # --- A number of tasks ------------------------------------------------------------------------------

    def _ask_for_the_rest(self) -> None:
        """Suppress its roles while all of its tasks run, and revive them when one has ended.

        Send REQUEST for the resources that it still needs, whenever they change; not every allocator uses it.
        """
        framework, spec = self._framework, self._spec
        if framework is None or not framework.active or spec.tasks is None or spec.answer != "accept" or spec.demand:
            return
        lacking = self._lacking(framework)
        roles = self._wanted_roles
        if lacking <= 0 and not roles <= framework.suppressed:
            self._call(partial(self._suppress, framework))
        elif lacking > 0 and roles & framework.suppressed:
            self._revive_once_per_interval(framework)
        if lacking != self._asked_for:
            self._asked_for = lacking
            wanted = [ResourceRequest(spec.task.scalar_quantities())] * min(lacking, MOST_REQUESTS)
            self._call(lambda: self._master.allocator.request_resources(framework.id, wanted))

    def _revive_once_per_interval(self, framework: KnownFramework) -> None:
        """Send REVIVE, or wait: tasks that end as they start would be launched without end at one moment."""
        now = self._master.state.now
        if now < self._revives_from:
            self._master.state.timers.at(self._revives_from, self._ask_for_the_rest)
            return
        self._revives_from = now + self._master.allocation_interval
        self._call(partial(self._revive_for_the_rest, framework))

    @property
    def _wanted_roles(self) -> frozenset[str]:
        """The roles in which it ever wants offers."""
        return frozenset(self._spec.roles).difference(self._spec.suppressed)

    def _lacking(self, framework: KnownFramework) -> int:
        """Return how many of its number of tasks do not run; negative if more run."""
        return (self._spec.tasks or 0) - framework.alive

    def _revive_for_the_rest(self, framework: KnownFramework) -> None:
        """The master processes a REVIVE, unless all of its tasks run meanwhile."""
        if self._lacking(framework) > 0:
            self._master.subscriptions.revive(framework, self._wanted_roles)

    def _most(self, framework: KnownFramework) -> int | None:
        """Return how many tasks it launches from an offer at most; None if as many as fit."""
        spec = self._spec
        if spec.tasks is None:
            return spec.per_offer
        wanted = max(0, self._lacking(framework) - self._under_way)
        return wanted if spec.per_offer is None else min(spec.per_offer, wanted)

    def _room(self, offer: OutstandingOffer) -> _Room:
        return self._rooms.of(offer.resources, offer.role)

    def _room_in(self, offered: Resources, role: str) -> _Room:
        return _Room(offered, self._spec.task, role)

    def _tasks(self, framework: KnownFramework, offer: OutstandingOffer, parts: Sequence[Resources]) -> list[KnownTask]:
        first = self._launched + 1
        self._launched += len(parts)
        tasks = [
            KnownTask(f"task-{number}", framework.id, offer.agent_id, TASK_INFO, part, offer.role)
            for number, part in enumerate(parts, first)
        ]
        if self._spec.lasts is not None:
            for task in tasks:
                task.lasts = self._spec.lasts.draw(self._random)
        return tasks
