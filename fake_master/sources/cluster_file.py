"""The specification of a cluster, from arguments or a cluster file: agents, flags, frameworks and tasks.

`example_cluster.toml` shows every key of a cluster file.  `agent_tables` reads [[agents]], `cluster_tables` [tasks],
[[frameworks]] and [rate_limits], `initial_state` quotas, weights, reservations and volumes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.services.agents.checkpointed_resources import DoesNotFit
from fake_master.services.agents.registration import slack_of_use
from fake_master.sources.agent_tables import AgentSpec, AgentTable, agent_specs
from fake_master.sources.cluster_tables import (
    FlagValues,
    FrameworkTable,
    TasksTable,
    flag_texts,
    rate_limits_flag,
    simulated_frameworks,
    task_outcome,
)
from fake_master.sources.demand import Listed
from fake_master.sources.initial_state import InitialSections, InitialState, read_initial_state
from fake_master.sources.kept_cluster import KeptCluster
from fake_master.sources.simulated_frameworks import Launched, SimulatedFramework, SimulatedFrameworkSpec
from fake_master.state.agents import AgentFaults, KnownAgent
from fake_master.state.clock import SteadyClock
from fake_master.state.flags import MasterFlags
from fake_master.state.master_state import Clock
from fake_master.state.tasks import TaskOutcome
from mesosctl.files.desired_state import CLUSTER_FILE_KEYS
from mesosctl.files.text_file import TextFile
from mesosctl.files.typed_file import TypedFile, read_typed
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput, Forbidden, RuleViolation
from mesosctl.mesos.rules.version_profile import (
    DOCUMENTS,
    MESOS_1_11,
    Profile,
    check_profile_named,
)


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Agents, flags and the version of a master; `start` makes it one."""

    agents: tuple[AgentSpec | str, ...] = ()
    mesos_version: str = DOCUMENTS.name
    flags: Mapping[str, str] = field(default_factory=dict)
    frameworks: tuple[SimulatedFrameworkSpec, ...] = ()
    task_outcome: TaskOutcome = field(default_factory=TaskOutcome)
    initial: InitialState = field(default_factory=InitialState)
    """Quotas, weights, dynamic reservations and volumes that it begins with."""
    file: TextFile | None = field(default=None, compare=False)
    """The file that it was read from; agents and flags may be from elsewhere."""
    flags_of_file: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def profile(self) -> Profile:
        """The rules of its version.  Raises BadInput."""
        return check_profile_named(self.mesos_version, "mesos_version")

    def notes(self) -> list[str]:
        """Notes about its version: none, as each that can be chosen answers as itself."""
        return []

    def start(
        self,
        registry: Registry | None = None,
        *,
        clock: Clock | None = None,
        address: tuple[str, int] = ("127.0.0.1", 5050),
        on_launch: Launched | None = None,
        takes_over: bool = False,
        awaited: int = 0,
        kept: KeptCluster | None = None,
    ) -> Master:
        """A leading master with every agent registered and every simulated framework subscribed.

        `on_launch` is called whenever one of these has used an offer; `takes_over` makes it a new leader, which waits
        for the agents that the registry knows (see `failover`).  `awaited` are agents of a former leader that are not
        in the file: if any role has quota, offers wait for most of all. With `kept`, frameworks, tasks and
        offers are those that the last command left.  Raises BadInput or RuleViolation for a bad specification,
        RegistryFailure for the registry.
        """
        profile = self.profile
        agents = [AgentSpec(spec) if isinstance(spec, str) else spec for spec in self.agents]
        flags, registry = self._parsed_flags(), registry if registry is not None else MemoryRegistry()
        if self.initial.fingerprint:
            configured = {}
            for index, spec in enumerate(agents):
                with self._in_file(spec.where):
                    configured[spec.hostname_at(index)] = spec.configured(index, profile)
            self.initial.seed(registry, profile, flags, configured)
        master = Master(
            profile=profile,
            flags=flags,
            registry=registry,
            clock=clock or SteadyClock(),
            address=address,
            task_outcome=self.task_outcome,
            takes_over=takes_over,
        )
        if awaited:
            master.allocator.recover(len(agents) + awaited, master.state.quota_meanings())
        with master.transaction():
            for index, spec in enumerate(agents):
                with self._in_file(spec.where):
                    register_agent(master, spec, index)
            simulated = [SimulatedFramework(master, framework, on_launch) for framework in self.frameworks]
            if kept is not None and kept.enter(master, simulated):
                return master
            hosts: dict[str, KnownAgent] = {}
            for agent in master.state.agents.values():
                hosts.setdefault(agent.hostname, agent)
            for scheduler, framework in zip(simulated, self.frameworks, strict=True):
                with self._in_file(framework.where):
                    scheduler.join(hosts)
        return master

    def _parsed_flags(self) -> MasterFlags:
        """The flags.  Raises BadInput, with the line of a flag that the file has."""
        try:
            return MasterFlags.parse(self.flags, self.profile.release)
        except BadInput as error:
            name = (error.field or "").partition(".")[0]
            if self.file is None or name not in self.flags or self.flags[name] != self.flags_of_file.get(name):
                raise
            error.field = f"flags.{name}"
            with self.file.refusals():
                raise

    @contextmanager
    def _in_file(self, where: str) -> Iterator[None]:
        """Give refusals of a table their place in the file; `where` is empty for what is in no file."""
        if self.file is None or not where:
            yield
            return
        with self.file.refusals():
            try:
                yield
            except BadInput as error:
                if not (error.field or "").startswith(where):
                    error.field = f"{where}.{error.field}"
                raise

    @property
    def task_files(self) -> list[Path]:
        """The files of tasks that it was read from, beside its own."""
        demands = (framework.demand for framework in self.frameworks)
        return [demand.file for demand in demands if isinstance(demand, Listed) and demand.file is not None]

    @property
    def joins_after(self) -> list[float]:
        """Seconds after which each framework subscribes."""
        return [framework.after for framework in self.frameworks]


# What `fake:` alone is: small enough to grasp, varied enough to show reservations and capacity.
BUILT_IN = ClusterSpec(
    agents=(
        "cpus:12;mem:6144;disk:1000;ports:[31000-32000]",
        "cpus:8;mem:4096;disk:1000;ports:[31000-32000]",
        "cpus:4;mem:2048;cpus(ads):2;mem(ads):1024;disk:500;ports:[31000-32000]",
    )
)


def register_agent(master: Master, spec: AgentSpec, index: int) -> None:
    """Register the agent that is the `index`-th of its cluster, from 0.  Inside a transaction.  Raises BadInput."""
    hostname, resources = spec.hostname_at(index), spec.configured(index, master.state.profile)
    try:
        oversubscribed = slack_of_use(
            parse_resources(spec.oversubscribed), throttleable=master.state.revocability.throttles
        )
    except RuleViolation as error:
        problem = f"agent {hostname}: oversubscribed: {error.message}"
        raise BadInput(problem, field="oversubscribed", hint=error.hint) from error
    try:
        master.state.access.may_register(spec.principal, resources)
    except Forbidden:
        refused = master.agent_registry.refused
        refused.append(hostname)
        return
    if hostname in master.state.known_agents.hosts:
        raise BadInput(f"two agents are called {hostname}: host names must be unique", field="hostname")
    agent_id, registered_time = master.agent_registry.identity(hostname)
    agent = KnownAgent(
        id=agent_id,
        hostname=hostname,
        number=index + 1,
        port=master.state.port,
        ip=master.state.ip,
        configured=resources,
        total=resources,
        applied=resources,
        capabilities=master.state.profile.agent_capabilities,
        version=master.state.profile.version,
        registered_time=registered_time,
        attributes=spec.attributes,
        deactivated=not spec.active,
        absence=spec.absence,
        faults=AgentFaults(spec.loses, spec.delay, spec.launch_delay),
        domain=spec.domain,
        oversubscribed=oversubscribed,
    )
    try:
        master.agent_registry.enlist(agent)
    except DoesNotFit as refusal:
        raise BadInput(
            f"the agent refuses to start: {refusal}",
            field="resources",
            hint="unreserve first, or start over with ?fresh",
        ) from refusal


class ClusterDocument(InitialSections):
    """A cluster file."""

    mesos_version: Annotated[str, Meta(examples=[MESOS_1_11.name])] = DOCUMENTS.name
    seed: Annotated[
        int, Meta(description="The seed of everything that is drawn from a distribution.", examples=[7])
    ] = 0
    flags: Annotated[FlagValues, Meta(description="Any flag of the master, with Mesos's name.")] = msgspec.field(
        default_factory=dict
    )
    rate_limits: Annotated[dict[str, Any] | None, Meta(description="The keys of the JSON of --rate-limits.")] = None
    agents: list[AgentTable] = msgspec.field(default_factory=list)
    tasks: TasksTable = msgspec.field(default_factory=TasksTable)
    frameworks: list[FrameworkTable] = msgspec.field(default_factory=list)


def read_cluster(text: str, where: str) -> ClusterSpec:
    """Return the cluster in the text of a cluster file, which `where` names.

    Raises BadInput: with the line of every fault of keys and types, or of the first broken rule.
    """
    read = read_typed(text, where, ClusterDocument, _check_no_desired_state)
    read.refuse()
    with read.file.refusals():
        return _cluster(read)


def _check_no_desired_state(document: Mapping[str, Any], _: str) -> None:
    if "schema_version" in document and not document.keys() & set(CLUSTER_FILE_KEYS):
        raise BadInput(
            "this is a desired-state file, and a cluster file is needed",
            field="schema_version",
            hint="give it to diff, plan or apply with -f; a cluster file has [[agents]]",
        )


def _cluster(read: TypedFile[ClusterDocument]) -> ClusterSpec:
    document = read.value
    flags = flag_texts(document.flags)
    if document.rate_limits is not None:
        if "rate_limits" in flags:
            raise BadInput("rate_limits is both a flag and a table", field="rate_limits", hint="give it once")
        flags["rate_limits"] = rate_limits_flag(document.rate_limits)
    check_profile_named(document.mesos_version, "mesos_version")
    folder = Path(read.file.name).parent
    return ClusterSpec(
        agents=agent_specs(document.agents, "agents"),
        mesos_version=document.mesos_version,
        flags=flags,
        frameworks=simulated_frameworks(document.frameworks, "frameworks", folder, document.seed),
        task_outcome=task_outcome(document.tasks),
        initial=read_initial_state(read),
        file=read.file,
        flags_of_file=flags,
    )
