"""The master: agents, quotas, weights, and the one transaction in which each change happens."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from fake_master.master import role_view
from fake_master.master.agents import Agent
from fake_master.master.flags import MasterFlags
from fake_master.master.quotas import Quotas
from fake_master.master.registry import Registry
from fake_master.master.weights import Weights
from mesosctl.core import quota as rules
from mesosctl.core.profile import MESOS_1_11, Profile
from mesosctl.core.quantities import Quantities
from mesosctl.core.quota import Quota

Clock = Callable[[], float]
"""Seconds since the epoch."""


class Master:
    """One leading master.

    Its lasting state is the registry's; what it holds in memory can be rebuilt from there at any
    time, which `transaction` does when a change could not be kept or another process made one.
    """

    def __init__(
        self, *, profile: Profile, flags: MasterFlags, registry: Registry, clock: Clock, address: tuple[str, int]
    ) -> None:
        self.profile = profile
        self.flags = flags
        self.registry = registry
        self.clock = clock
        self.hostname, self.port = address
        self.agents: dict[str, Agent] = {}
        self.quotas = Quotas(self)
        self.weights = Weights(self)
        self.id, self.start_time = self._identity()
        self._load()

    @property
    def pid(self) -> str:
        """The master as libprocess names it."""
        return f"master@{self.hostname}:{self.port}"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One change: kept before the caller goes on, or undone entirely.  Raises RegistryFailure."""
        try:
            with self.registry.transaction():
                self.refresh()
                yield
        except BaseException:
            self._load()
            raise

    def refresh(self) -> None:
        """Take over what another process has changed in the same registry."""
        if self.registry.changed_elsewhere():
            self._load()

    def register(self, agent: Agent) -> None:
        """A new agent, or a known one that is back."""
        self.agents[agent.id] = agent

    def agent_record(self, hostname: str) -> tuple[str, float]:
        """The id and registration time (seconds since the epoch) of the agent on `hostname`, for good.

        Only inside a transaction: a hostname seen for the first time gets the next id.
        """
        known = self.registry.records("agent")
        record = known.get(hostname)
        if record is None:
            record = {"id": f"{self.id}-S{len(known)}", "registered_time": self.clock()}
            self.registry.write("agent", hostname, record)
        return record["id"], record["registered_time"]

    def capacity(self, *, newest_rule: bool = False) -> Quantities:
        """What quota may promise; UPDATE_QUOTA goes by the newest rule on every master."""
        return rules.capacity(
            (agent.capacity for agent in self.agents.values()), MESOS_1_11 if newest_rule else self.profile
        )

    def consumed(self, role: str) -> Quantities:
        """What counts against the limits of `role`: allocated, and reserved but idle where that counts."""
        if not self.profile.reservations_consume_quota:
            return Quantities()
        return role_view.reserved_in_subtree(self, role)

    def quota_was_set(self, role: str, quota: Quota) -> None:
        """A v0 quota is kept: from here on it is enforced."""

    def quota_was_removed(self, role: str) -> None:
        """A quota is gone."""

    def quota_was_updated(self, role: str, quota: Quota) -> None:
        """A v1 configuration is kept."""

    def weights_were_updated(self, weights: Mapping[str, float]) -> None:
        """Weights are kept."""

    def _identity(self) -> tuple[str, float]:
        known = self.registry.records("master")
        if "identity" not in known:
            with self.registry.transaction():
                # Read again: two processes may start on one new file.
                known = self.registry.records("master")
                if "identity" not in known:
                    self.registry.write("master", "identity", {"id": str(uuid4()), "start_time": self.clock()})
            known = self.registry.records("master")
        identity = known["identity"]
        return identity["id"], identity["start_time"]

    def _load(self) -> None:
        self.quotas.load()
        self.weights.load()
