"""The specification of a cluster, from arguments or a cluster file: agents, flags, frameworks and tasks.

`example_cluster.toml` shows every key of a cluster file.  `cluster_tables` reads [tasks] and [[frameworks]],
`lasting_state` quotas, weights, reservations, volumes and rate limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.services.agents.registration import slack_of_use
from fake_master.services.reservations import DoesNotFit
from fake_master.sources.cluster_tables import (
    check_keys,
    flag_texts,
    is_number,
    read_absence,
    read_domain,
    read_faults,
    read_tables,
    simulated_frameworks,
    task_outcome,
)
from fake_master.sources.lasting_state import SECTIONS, LastingState, rate_limits_flag, read_lasting_state
from fake_master.sources.simulated_frameworks import Launched, SimulatedFramework, SimulatedFrameworkSpec
from fake_master.state.agents import Absence, Agent, AgentFaults, Domain
from fake_master.state.clock import SteadyClock
from fake_master.state.flags import MasterFlags
from fake_master.state.master_state import Clock
from fake_master.state.tasks import TaskOutcome
from mesosctl.api.files import reading
from mesosctl.model.errors import BadInput, Forbidden, RuleViolation
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_resources
from mesosctl.model.version_profile import MESOS_1_4, PROFILES

_KNOWN_KEYS = {"mesos_version", "flags", "agents", "frameworks", "tasks", "rate_limits", *SECTIONS}
_KNOWN_AGENT_KEYS = {
    "resources",
    "hostname",
    "attributes",
    "region",
    "zone",
    "count",
    "active",
    "loses",
    "delay",
    "leaves_after",
    "returns_after",
    "launch_delay",
    "oversubscribed",
    "principal",
}
_MOST_AGENTS = 100_000
_parsed = lru_cache(1024)(parse_resources)  # similar agents share one object


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent to register: its resources as text, and its properties."""

    resources: str
    hostname: str | None = None
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    active: bool = True
    loses: int = 0
    delay: float = 0.0
    launch_delay: float = 0.0
    """See `fake_master.state.agents.AgentFaults`."""
    absence: Absence | None = None
    domain: Domain | None = None
    oversubscribed: str = ""
    """Slack of use in text form."""
    principal: str | None = None
    """The principal that registers it; an agent without one does not authenticate."""

    def hostname_at(self, index: int) -> str:
        """Return the host name, for the agent number `index` of a cluster."""
        return self.hostname or f"agent-{index + 1}"

    def configured(self, index: int) -> Resources:
        """Return the resources of the agent.  Raises BadInput."""
        try:
            return _parsed(self.resources)
        except RuleViolation as error:
            problem = f"agent {self.hostname_at(index)}: {error.message}"
            raise BadInput(problem, field=error.field, hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Agents, flags and the version of a master; `start` makes it one."""

    agents: tuple[AgentSpec | str, ...] = ()
    mesos_version: str = MESOS_1_4.name
    flags: Mapping[str, str] = field(default_factory=dict)
    frameworks: tuple[SimulatedFrameworkSpec, ...] = ()
    task_outcome: TaskOutcome = field(default_factory=TaskOutcome)
    lasting: LastingState = field(default_factory=LastingState)
    """Quotas, weights, dynamic reservations and volumes that it begins with."""

    def start(
        self,
        registry: Registry | None = None,
        *,
        clock: Clock | None = None,
        address: tuple[str, int] = ("127.0.0.1", 5050),
        on_launch: Launched | None = None,
        takes_over: bool = False,
        awaited: int = 0,
    ) -> Master:
        """A leading master with every agent registered and every simulated framework subscribed.

        `on_launch` is called whenever one of these has used an offer; `takes_over` makes it a new leader, which waits
        for the agents that the registry knows (see `failover`).  `awaited` are agents of a former leader that are not
        in the file: if any role has quota, offers wait for most of all. Raises BadInput or RuleViolation for a bad
        specification, RegistryFailure for the registry.
        """
        profile = PROFILES.get(self.mesos_version)
        if profile is None:
            raise BadInput(
                f"the fake master imitates Mesos {' or '.join(PROFILES)}, not '{self.mesos_version}'",
                field="mesos_version",
            )
        agents = [AgentSpec(spec) if isinstance(spec, str) else spec for spec in self.agents]
        flags, registry = MasterFlags.parse(self.flags), registry if registry is not None else MemoryRegistry()
        if self.lasting.fingerprint:
            configured = {spec.hostname_at(index): spec.configured(index) for index, spec in enumerate(agents)}
            self.lasting.seed(registry, profile, flags, configured)
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
                register_agent(master, spec, index)
            hosts: dict[str, Agent] = {}
            for agent in master.state.agents.values():
                hosts.setdefault(agent.hostname, agent)
            for framework in self.frameworks:
                SimulatedFramework(master, framework, on_launch).join(hosts)
        return master

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
    hostname, resources = spec.hostname_at(index), spec.configured(index)
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
        master.agent_registry.refused.append(hostname)
        return
    if hostname in master.state.known_agents.hosts:
        raise BadInput(f"two agents are called {hostname}: host names must be unique", field="hostname")
    agent_id, registered_time = master.agent_registry.identity(hostname)
    agent = Agent(
        id=agent_id,
        hostname=hostname,
        number=index + 1,
        port=master.state.port,
        ip=master.state.hostname,
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


def read_cluster(text: str, where: str) -> ClusterSpec:
    """Return the cluster in the text of a cluster file, which `where` names.  Raises BadInput."""
    content = reading.read(text, where)
    check_keys(content, _KNOWN_KEYS, where)
    flags = content.get("flags", {})
    if not isinstance(flags, dict):
        raise BadInput(f"{where}: flags is not a table", field="flags")
    flags = flag_texts(flags, f"{where}: flags")
    if "rate_limits" in content:
        if "rate_limits" in flags:
            raise BadInput(f"{where}: rate_limits is both a flag and a table", field="rate_limits", hint="give it once")
        flags["rate_limits"] = rate_limits_flag(content["rate_limits"], text, where)
    agents = content.get("agents", [])
    if not isinstance(agents, list):
        raise BadInput(f"{where}: agents is not an array of tables", field="agents")
    version = content.get("mesos_version", MESOS_1_4.name)
    if not isinstance(version, str):
        raise BadInput(f"{where}: mesos_version is not a string", field="mesos_version", hint='mesos_version = "1.11"')
    return ClusterSpec(
        agents=agent_specs(agents, f"{where}: agents"),
        mesos_version=version,
        flags=flags,
        frameworks=simulated_frameworks(content.get("frameworks", []), f"{where}: frameworks"),
        task_outcome=task_outcome(content["tasks"], f"{where}: tasks") if "tasks" in content else TaskOutcome(),
        lasting=read_lasting_state(content, text, where),
    )


def agent_specs(entries: Sequence[Any], where: str) -> tuple[AgentSpec, ...]:
    """Read the array [[agents]].  Raises BadInput."""
    return read_tables(entries, where, "agents", _MOST_AGENTS, _agent_specs)


def _agent_specs(entry: dict[str, Any], where: str) -> list[AgentSpec]:
    check_keys(entry, _KNOWN_AGENT_KEYS, where)
    resources, hostname = entry.get("resources"), entry.get("hostname")
    count, active, attributes = entry.get("count", 1), entry.get("active", True), entry.get("attributes", {})
    if not isinstance(resources, str):
        raise BadInput(f"{where} has no resources", field="resources", hint='resources = "cpus:4;mem:2GiB"')
    if not (hostname is None or isinstance(hostname, str)):
        raise BadInput(f"{where}: hostname is not a string", field="hostname")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_AGENTS:
        raise BadInput(f"{where}: count is not a number from 1 to {_MOST_AGENTS}", field="count")
    if not isinstance(active, bool):
        raise BadInput(f"{where}: active is not true or false", field="active")
    if not isinstance(attributes, dict) or not all(isinstance(v, str) or is_number(v) for v in attributes.values()):
        raise BadInput(f"{where}: attributes is not a table of strings and numbers", field="attributes")
    domain = read_domain(entry, where)
    absence = read_absence(entry, where)
    faults = read_faults(entry, where)
    oversubscribed = entry.get("oversubscribed", "")
    principal = entry.get("principal")
    if not (principal is None or isinstance(principal, str)):
        raise BadInput(f"{where}: principal is not a string", field="principal")
    if not isinstance(oversubscribed, str):
        raise BadInput(f"{where}: oversubscribed is not a string", field="oversubscribed", hint='"cpus:2;mem:1GiB"')
    typed = {name: value if isinstance(value, str) else float(value) for name, value in attributes.items()}
    return [
        AgentSpec(
            resources,
            f"{hostname}-{n}" if hostname and count > 1 else hostname,
            typed,
            active,
            **faults,
            absence=absence,
            domain=domain,
            oversubscribed=oversubscribed,
            principal=principal,
        )
        for n in range(1, count + 1)
    ]
