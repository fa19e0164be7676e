"""The state of one leading master: everything that it knows, and nothing that it does."""

from collections import Counter
from collections.abc import Callable

from fake_master.state.acls import Access
from fake_master.state.agents import KnownAgent, KnownAgents
from fake_master.state.clock import SteadyClock, Timers
from fake_master.state.extension_points import RevocabilityRules
from fake_master.state.flags import MasterFlags
from fake_master.state.frameworks import KnownFramework
from fake_master.state.maintenance import MaintenanceSchedule
from fake_master.state.offers import OfferOperation, OutstandingOffers
from fake_master.state.quota import RoleUsage, SentQuota
from fake_master.state.streams import Listener
from fake_master.state.tasks import TaskOutcome
from fake_master.state.tracked_reservations import TrackedReservations
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.message_tables import Message, mesos_message
from mesosctl.mesos.rules.quota.capacity import capacity
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile

Clock = Callable[[], float]
"""Seconds since the epoch, by which timers go: a SteadyClock, or a VirtualClock."""


class MasterState:
    """The state that a master holds in memory.  Services change it; views read it."""

    def __init__(
        self,
        *,
        profile: Profile,
        flags: MasterFlags,
        clock: Clock,
        address: tuple[str, int],
        task_outcome: TaskOutcome,
        revocability: RevocabilityRules,
    ) -> None:
        self.profile = profile
        self.flags = flags
        self.access = Access(flags.authorizer)
        self.clock = clock
        self.ip, self.port = address
        self.hostname = flags.shown.get("hostname", self.ip)
        self.id = ""
        """Used until the registry has the id of this master."""
        self.start_time = self.now = clock()
        """Seconds since the epoch, which only the master moves forward."""
        self.timers = Timers()
        self.task_outcome = task_outcome
        self.revocability = revocability
        self.counts: Counter[str] = Counter()
        """Counters of no framework in particular, by their metrics' names below `master/`."""
        self.agents: dict[str, KnownAgent] = {}
        """Registered agents by id."""
        self.tracked_reservations = TrackedReservations() if profile.forgets_roles_without_scalars else None
        self.known_agents = KnownAgents()
        self.maintenance = MaintenanceSchedule(self.agents)
        self.frameworks: dict[str, KnownFramework] = {}
        self.completed_frameworks: dict[str, KnownFramework] = {}
        """The last ones, as many as the flag max_completed_frameworks says."""
        self.forgotten_counts: Counter[str] = Counter()
        """Counts of frameworks that are no longer listed as completed."""
        self.offers = OutstandingOffers()
        self.operations: dict[str, OfferOperation] = {}
        """Offer operations with an id that are not acknowledged yet, by their uuid."""
        self.quotas: dict[str, SentQuota] = {}
        self.weights: dict[str, float] = {}
        """Every weight that was set, 1.0 included; a role without one weighs 1."""
        self.operator_streams: dict[str, Listener] = {}
        """Operators that subscribed to events, by stream id."""
        self.ended: str | None = None
        """Why this master has given up leading, or None; the transport that serves it sees to its end."""

    @property
    def pid(self) -> str:
        """The master as libprocess names it."""
        return f"master@{self.ip}:{self.port}"

    def message(self, name: str) -> Message:
        """The message with this full name, as masters of this release have it."""
        return mesos_message(name, self.profile.release)

    @property
    def wall_time(self) -> float:
        """The time that is shown for an event: seconds since the epoch."""
        return self.clock.wall() if isinstance(self.clock, SteadyClock) else self.now

    def quota_meanings(self) -> dict[str, Quota]:
        """Return what each quota means, by role."""
        return {role: sent.meaning for role, sent in self.quotas.items()}

    def role_usage(self) -> RoleUsage:
        """Return what each role holds now."""
        return RoleUsage(
            self.agents.values(),
            self.frameworks.values(),
            counts_revocable=self.revocability.counts_revocable,
            reservations_count=self.profile.reservations_consume_quota,
        )

    def capacity(self, *, newest_rule: bool = False) -> Quantities:
        """Return the amounts that quota can guarantee; UPDATE_QUOTA uses the newest rule on every master."""
        return capacity(self.agents.values(), MESOS_1_11 if newest_rule else self.profile)

    def track_reservations(self, before: Resources, after: Resources) -> None:
        """Take note of a change to what an agent has, for releases whose allocator may lose sight of reservations."""
        if self.tracked_reservations is not None:
            self.tracked_reservations.change(before, after)

    def used_on(self, agent_id: str) -> Resources:
        """Return what tasks and executors hold on an agent, with allocation roles."""
        return self.agents[agent_id].used

    def offered_on(self, agent_id: str) -> Resources:
        """Return what is offered of an agent, with allocation roles."""
        offers = self.offers.on_agent(agent_id)
        if len(offers) == 1:
            return offers[0].resources  # one object for many agents, which `http` writes once
        return Resources(entry for offer in offers for entry in offer.resources)

    def held_on(self, agent_id: str) -> Resources:
        """Return what is used or offered of an agent."""
        return self.used_on(agent_id) + self.offered_on(agent_id)
