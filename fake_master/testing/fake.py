"""A fake master for tests, in this process: `FakeMaster`."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING

from fake_master.master import Master
from fake_master.sources.agent_tables import AgentTable, agent_specs
from fake_master.sources.cluster_file import ClusterSpec, register_agent
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.agents import Absence, KnownAgent
from fake_master.state.clock import RunningClock, VirtualClock
from fake_master.testing import values
from fake_master.testing.cluster import Records, as_spec, named, set_quotas, specify, table_of
from fake_master.testing.faults import FaultyApplication, Lost
from fake_master.testing.threads import ServerThread, ThreadGate
from fake_master.testing.values import Agent, AgentConfig, Framework, Offer, Role, Task
from fake_master.testing.waiting import Settling, SettlingCluster
from mesosctl.files.typed_file import typed
from mesosctl.mesos.errors import BadInput, NotFound
from mesosctl.mesos.names import agent_names

if TYPE_CHECKING:
    from fake_master.testing.transport import FakeTransport


class FakeMaster(AbstractContextManager["FakeMaster"], AbstractAsyncContextManager["FakeMaster"]):
    """A leading master with its agents, in virtual time: time passes only in `advance` and `settle`.

    Describe the cluster with `agents` (resource texts such as "cpus:4;mem:2048", tables as in a cluster file, or how
    many agents there are, each with "cpus:4;mem:8GiB;disk:10GiB;ports:[31000-32000]"),
    simulated `frameworks` (tables), `flags` of the master, `quotas` by role (the guarantee as resource text, or
    guarantees and limits) and `tasks`, a table that says how launched tasks end (by default they run forever).
    `cluster` is the path of a cluster file (TOML) or snapshot (JSON), to which the other arguments are added.
    `version` is "documents" or a release from "1.4" to "1.11".  The default is that of `cluster` or, without
    `cluster`, "1.11".  With `real_time` the master uses the system's clock.

    Raises BadInput, RuleViolation or Conflict if the cluster cannot be created, and TypeError for an argument of
    another type.
    """

    def __init__(  # noqa: PLR0913  # each says something else about the cluster
        self,
        agents: int | Iterable[str | AgentConfig] = (),
        *,
        version: str | None = None,
        flags: Mapping[str, str | float | bool] | None = None,
        frameworks: Sequence[values.FrameworkConfig] = (),
        quotas: Mapping[str, str | values.QuotaConfig] | None = None,
        tasks: values.TaskConfig | None = None,
        cluster: str | PathLike[str] | None = None,
        real_time: bool = False,
    ) -> None:
        self._gate = ThreadGate()
        self._clock = RunningClock() if real_time else VirtualClock()
        self._registry = Records()
        self._spec = specify(cluster, agents, version, flags or {}, frameworks, tasks)
        self._application = FaultyApplication(self._start())
        self._owner = threading.current_thread()
        self._transport: FakeTransport | None = None
        self._server: ServerThread | None = None
        self._is_closed = False
        set_quotas(self._master, self._registry, quotas or {})

    @property
    def _master(self) -> Master:
        return self._application.master

    def _start(self) -> Master:
        if isinstance(self._spec, RestoredCluster):
            return self._spec.start(self._registry, clock=self._clock)  # a snapshot is the same master every time
        return self._spec.start(self._registry, clock=self._clock, takes_over=True)

    # --- How it is reached ------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`; it listens there from the first use of this property."""
        if self._is_closed:
            raise RuntimeError("the fake master is closed")
        if self._server is None:
            self._server = ServerThread(self._application, self._gate)
        return self._server.url

    @property
    def transport(self) -> "FakeTransport":
        """A transport for `httpx.Client` and `httpx.AsyncClient`, whatever host their URLs name.

        Streams of events that are read in the thread that made the master let virtual time pass; others wait.
        """
        if self._transport is None:
            # Imported late: httpx brings click and rich, which a test that only uses the url does not need.
            from fake_master.testing.transport import FakeTransport

            self._transport = FakeTransport(self._application, self._gate, self._sleep, self._owner)
        return self._transport

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """End the master, and stop listening."""
        if self._is_closed:
            return
        self._is_closed = True
        self._gate(self._application.end_streams)
        if self._server is not None:
            self._server.close()
        else:
            self._master.close()

    # --- Time -------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The time of the master's clock, in seconds since the epoch."""
        return self._clock()

    def advance(self, seconds: float) -> None:
        """Let this time pass, and do everything that becomes due: allocations, timeouts, ends of tasks."""
        if seconds < 0:
            raise ValueError(f"time cannot go back: {seconds}")

        def pass_time() -> None:
            self._clock.sleep(seconds)
            self._application.tick()

        self._gate(pass_time)

    def settle(self, until: Callable[[], object] | None = None, *, timeout: float = 30.0) -> None:
        """Let time pass, one allocation at a time, until `until()` is true or, without it, until nothing changes.

        Name what you wait for wherever a client runs in another thread or process: nothing else tells when it has
        done its part.  `timeout` is in seconds of real time.  Raises TimeoutError.
        """
        waiting = Settling(self._settling(), until, timeout)
        while waiting.goes_on():
            time.sleep(waiting.step())

    async def asettle(self, until: Callable[[], object] | None = None, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        """Do the same as `settle`, and let the other tasks of this event loop run meanwhile."""
        waiting = Settling(self._settling(), until, timeout)
        while waiting.goes_on():  # noqa: ASYNC110  # time has to pass, and only this lets it
            await asyncio.sleep(waiting.step())

    def _settling(self) -> SettlingCluster:
        def has_clients() -> bool:
            return self._server is not None or (self._transport is not None and self._transport.listeners > 0)

        return SettlingCluster(self._application, self._gate, self._clock, has_clients)

    def _sleep(self, seconds: float) -> None:
        (time.sleep if isinstance(self._clock, RunningClock) else self._clock.sleep)(seconds)

    # --- What there is ----------------------------------------------------------------------------------

    @property
    def agents(self) -> tuple[Agent, ...]:
        """The registered agents."""
        return self._gate(lambda: values.agents_of(self._master.state))

    @property
    def frameworks(self) -> tuple[Framework, ...]:
        """The frameworks that have not been torn down, including disconnected ones."""
        return self._gate(lambda: values.frameworks_of(self._master.state))

    @property
    def roles(self) -> dict[str, Role]:
        """The roles that have a quota, a weight, a reservation or a framework, by name."""
        return self._gate(lambda: values.roles_of(self._master.state))

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The outstanding offers."""
        return self._gate(lambda: values.offers_of(self._master.state))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task that was launched, including those that have ended or are lost."""
        return self._gate(lambda: values.tasks_of(self._master.state))

    # --- What goes wrong --------------------------------------------------------------------------------

    def lose(self, agent: str | Agent) -> None:
        """Make an agent (its host name, its id or the `Agent`) unreachable, as if it had stopped answering pings.

        Its offers are rescinded, its tasks become TASK_UNREACHABLE, or TASK_LOST for a framework that is not
        PARTITION_AWARE, and frameworks get FAILURE.  Raises NotFound for an agent that is not registered.
        """

        def give_up() -> None:
            found = self._find(self._master.state.agents.values(), agent)
            found.connected = False
            self._master.agent_removal.give_up_waiting(found.id)
            self._mark(found.hostname, is_lost=True)
            self._application.tick()

        self._gate(give_up)

    def bring_back(self, agent: str | Agent) -> None:
        """Let a lost agent (its host name, its id or the `Agent`) register again, with the tasks that it still runs.

        Raises NotFound for an unknown agent.
        """

        def come_back() -> None:
            found = self._find(self._master.state.known_agents.hosts.values(), agent)
            self._mark(found.hostname, is_lost=False)
            self._master.agent_registry.come_back(found)
            self._application.tick()

        self._gate(come_back)

    def add(self, agent: str | AgentConfig) -> Agent:
        """Register another agent, and return it.  Raises BadInput."""
        if isinstance(self._spec, RestoredCluster):
            raise BadInput("a snapshot has its own agents", field="agent", hint="write a cluster file")
        spec, (added, *more) = (
            self._spec,
            named(agent_specs([typed(table_of(agent), AgentTable, "agent")], "agent"), len(self._spec.agents)),
        )
        if more:
            raise BadInput(
                "agent: count applies only to the agents that a cluster starts with",
                field="count",
                hint="add one at a time",
            )

        def register() -> Agent:
            with self._master.transaction():
                register_agent(self._master, added, len(spec.agents))
            self._spec = replace(spec, agents=(*spec.agents, added))
            self._application.tick()
            return values.agents_of(self._master.state)[-1]

        return self._gate(register)

    def fail_over(self) -> None:
        """Let another master take the lead at the same address: every stream ends, and agents register again.

        Frameworks must subscribe again with their id. Quotas, weights, reservations and tasks remain; simulated
        frameworks start again.
        """

        def take_over() -> None:
            port = self._master.state.port
            self._master.close()
            self._application.end_streams()
            self._application.follow(self._start())
            if self._server is not None:
                self._master.listens_on(port)

        self._gate(take_over)

    def drop_next(self, lost: Lost = "request", *, path: str | None = None, times: int = 1) -> None:
        """Break the connection of the next `times` requests, before the master sees them or after it has answered.

        With `lost="response"` the request is carried out, and only the answer gets lost.  `path` is a shell pattern
        such as "/quota/*"; other requests pass.
        """
        self._gate(lambda: self._application.drop(lost, path, times))

    @staticmethod
    def _find(agents: Iterable[KnownAgent], wanted: str | Agent) -> KnownAgent:
        known = {agent.id: agent for agent in agents}
        names = agent_names({agent_id: agent.hostname for agent_id, agent in known.items()})
        meant = names.one(wanted, "agent") if isinstance(wanted, str) else wanted.id
        if meant is None or meant not in known:
            there = ", ".join(agent.hostname for agent in known.values())
            name = wanted if isinstance(wanted, str) else wanted.id
            hint = f"the agents are {there}" if known else "there are no agents"
            raise NotFound(f"no agent is named '{name}'", field="agent", hint=hint)
        return known[meant]

    def _mark(self, hostname: str, *, is_lost: bool) -> None:
        """Note for the next leader whether an agent is there; its place among the agents stays its own."""
        if isinstance(self._spec, ClusterSpec):
            absence = Absence(0.0) if is_lost else None
            agents = tuple(
                replace(spec, absence=absence) if spec.hostname == hostname else spec
                for spec in map(as_spec, self._spec.agents)
            )
            self._spec = replace(self._spec, agents=agents)
