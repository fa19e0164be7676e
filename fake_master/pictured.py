"""A picture of a cluster made into a master: the same agents, frameworks, tasks, offers, quotas and weights.

    master = Pictured(picture).start(registry)

What the picture does not hold is assumed, and the picture's `untold` says so: no filters, and nothing
suppressed where nobody knows.  What frameworks hold is held by as many tasks as the picture counts, of equal
size and without their names; of a master that lends, each is there as itself.  The frameworks are silent:
they keep what they hold and are offered, launch nothing, and refuse nothing more than the picture says.

What outlives a command is what a registry holds: quotas, weights and dynamic reservations, from the picture
the first time and as they were changed afterwards.  Frameworks and offers are the picture's every time; an
offer of what is no longer there is gone.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BufferedIOBase
from typing import Any

from fake_master.master.agents import Agent, Domain
from fake_master.master.checkpoints import KIND as CHECKPOINT
from fake_master.master.checkpoints import DoesNotFit, configured_form
from fake_master.master.clocks import SteadyClock
from fake_master.master.flags import MasterFlags
from fake_master.master.frameworks import Framework
from fake_master.master.known_flags import ALLOCATORS, DEFAULTS, STRICT_PRIORITY, UNSET
from fake_master.master.master import Clock, Master
from fake_master.master.offers import Offer
from fake_master.master.quotas import KIND as QUOTA
from fake_master.master.quotas import SentQuota
from fake_master.master.registry import MemoryRegistry, Registry
from fake_master.master.streams import EventStream
from fake_master.master.tasks import TaskFate
from fake_master.master.weights import KIND as WEIGHT
from fake_master.pictured_tasks import PicturedTasks
from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.master_flags import STRICT_PRIORITY_ALLOCATOR
from mesosctl.core.picture import ClusterPicture, PicturedAgent, PicturedFramework, Usage
from mesosctl.core.pictured_lending import Lending
from mesosctl.core.profile import PROFILES, Profile, profile_of
from mesosctl.core.quantities import Quota
from mesosctl.core.quota import check_not_nested
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_double
from mesosctl.wire import snapshot
from mesosctl.wire.resources import list_to_json

_SEEDED = "pictured"
"""The kind of the record which says that a registry has been given what the picture holds."""


class _Silence(EventStream):
    """The stream of a framework that listens and does nothing."""

    def send(self, event: Mapping[str, Any]) -> None:
        """Nobody reads it, so nothing is kept."""


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture, and how the master of it differs from the pictured one."""

    picture: ClusterPicture
    mesos_version: str | None = None
    """"1.4" or "1.11"; None for what the picture's own version is most like."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Flags of the master that take the place of the picture's."""
    fingerprint: str = ""
    """Of the file that it was read from."""

    @property
    def profile(self) -> Profile:
        """The rules of the master.  Raises BadInput."""
        if self.mesos_version is None:
            return profile_of(self.picture.version)
        if self.mesos_version not in PROFILES:
            raise BadInput(f"'{self.mesos_version}' is not a version to be: {' or '.join(PROFILES)}", field="version")
        return PROFILES[self.mesos_version]

    def start(
        self,
        registry: Registry | None = None,
        *,
        clock: Clock | None = None,
        address: tuple[str, int] = ("127.0.0.1", 5050),
    ) -> Master:
        """A leading master that is as the picture says; its first allocation is due at once.

        Raises BadInput for what no master could be, RegistryFailure for the registry.
        """
        _check_quotas(self.picture)
        kept = registry if registry is not None else MemoryRegistry()
        with kept.transaction():
            if not kept.records(_SEEDED):
                _seed(kept, self.picture)
        master = Master(
            profile=self.profile,
            flags=MasterFlags.parse(_known_flags(self.picture.flags) | dict(self.flags)),
            registry=kept,
            clock=clock or SteadyClock(),
            address=address,
            task_fate=TaskFate(stop_seconds=self.picture.lending.stop_seconds if self.picture.lending else 0.0),
        )
        with master.transaction():
            _populate(master, self.picture)
        return master


def _check_quotas(picture: ClusterPicture) -> None:
    """Raises BadInput for quota where no master of these versions has any; an experimental one may show it."""
    for role in picture.quotas:
        try:
            check_not_nested(role)
        except RuleViolation as error:
            raise BadInput(
                f"the picture of the cluster shows quota on the nested role '{role}', which no fake master can have",
                field=f"quotas.{role}",
                hint="write a snapshot, take that quota out of it, and go on with whatif --from FILE",
            ) from error


def _known_flags(flags: Mapping[str, str]) -> dict[str, str]:
    """A flag, or an allocator, that this master has not heard of decides nothing here."""
    known = {**DEFAULTS, **dict.fromkeys(UNSET, "")}
    if flags.get("allocator") == STRICT_PRIORITY_ALLOCATOR:
        known |= STRICT_PRIORITY
    found = {name: text for name, text in flags.items() if name in known}
    if found.get("allocator") not in ALLOCATORS:
        found.pop("allocator", None)
    return found


def read_snapshot(file: BufferedIOBase, where: str, mesos_version: str | None = None) -> Pictured:
    """A snapshot file that can be read twice, open at its beginning.  Raises BadInput, and OSError."""
    fingerprint = hashlib.file_digest(file, lambda: hashlib.blake2s(digest_size=8)).hexdigest()
    file.seek(0)
    return Pictured(snapshot.read(file, where), mesos_version, fingerprint=fingerprint)


# --- What lasts -------------------------------------------------------------------------------------


def _seed(registry: Registry, picture: ClusterPicture) -> None:
    """What the pictured master and its agents would have on their disks."""
    for role, quota in picture.quotas.items():
        registry.write(QUOTA, role, _sent(quota).kept().to_record())
    for role, weight in picture.weights.items():
        registry.write(WEIGHT, role, weight)
    for agent in picture.agents:
        lasting = [entry for entry in agent.total if entry.is_dynamically_reserved or entry.is_persistent_volume]
        if lasting:
            registry.write(CHECKPOINT, agent.id, list_to_json(lasting, "POST"))
    registry.write(_SEEDED, "taken_at", picture.taken_at)


def _sent(quota: Quota) -> SentQuota:
    return SentQuota(
        {name: to_double(milli) for name, milli in quota.guarantees.items()},
        {name: to_double(milli) for name, milli in quota.limits.items()},
    )


# --- What is there ----------------------------------------------------------------------------------


def _populate(master: Master, picture: ClusterPicture) -> None:
    for index, agent in enumerate(picture.agents):
        _register(master, agent, index + 1, picture.taken_at)
    usages: dict[str, list[Usage]] = {}
    for usage in picture.usages:
        usages.setdefault(usage.framework_id, []).append(usage)
    tasks = PicturedTasks(master, picture.lending or Lending(), picture.taken_at)
    for pictured in picture.frameworks:
        _join(master, pictured, usages.get(pictured.id, []), picture.taken_at, tasks)
    _offer_again(master, picture)
    if picture.lending is not None:
        _lend_again(master, picture.lending)
    tasks.settle()


def _register(master: Master, pictured: PicturedAgent, number: int, since: float) -> None:
    configured = Resources(configured_form(entry) for entry in pictured.total.non_revocable())
    slack = Resources(replace(entry, throttleable=master.lends) for entry in pictured.total.revocable())
    agent = Agent(
        id=pictured.id,
        hostname=pictured.hostname,
        number=number,
        port=master.port,
        ip=master.hostname,
        configured=configured,
        total=configured,
        applied=configured,
        capabilities=tuple(sorted(pictured.capabilities)),
        version=master.profile.version,
        registered_time=since,
        attributes=pictured.attributes,
        deactivated=not pictured.active,
        domain=Domain(pictured.region, pictured.zone or "") if pictured.region is not None else None,
        oversubscribed=slack,
        checkpoint_key=pictured.id,
    )
    try:
        master.membership.adopt(agent)
    except DoesNotFit as refusal:
        raise BadInput(f"agent {pictured.id}: {refusal}", field="agents") from refusal


def _join(master: Master, pictured: PicturedFramework, usages: list[Usage], since: float, tasks: PicturedTasks) -> None:
    framework = Framework(
        id=pictured.id,
        info=_info(pictured),
        registered_time=since,
        suppressed=pictured.suppressed or frozenset(),
        offer_constraints=pictured.offer_constraints,
        active=pictured.active,
        connected=pictured.connected,
        stream=_Silence() if pictured.connected else None,
    )
    used: dict[str, Resources] = {}
    for number, usage in enumerate(usages):
        held = usage.resources.allocated_to(usage.role)
        agent = master.agents[usage.agent_id]
        used[agent.id] = used.get(agent.id, Resources()) + held
        framework.hold(agent, held)
        tasks.hold(framework, usage, number)
    try:
        master.subscriptions.restore(framework, used)
    except RuleViolation as error:
        raise BadInput(f"framework {pictured.id}: {error.message}", field="frameworks") from None


def _info(pictured: PicturedFramework) -> dict[str, Any]:
    """FrameworkInfo, as far as the picture has it."""
    info: dict[str, Any] = {
        "id": {"value": pictured.id},
        "user": "pictured",
        "name": pictured.name,
        "capabilities": [{"type": name} for name in sorted(pictured.capabilities)],
    }
    if "MULTI_ROLE" in pictured.capabilities:
        info["roles"] = list(pictured.roles)
    elif pictured.roles:
        info["role"] = pictured.roles[0]
    if pictured.principal is not None:
        info["principal"] = pictured.principal
    if pictured.offer_filters:
        info["offer_filters"] = dict(pictured.offer_filters)
    return info


def _age(offer_id: str) -> tuple[int, str]:
    """Offers are numbered as they are made ("…-O12"): the order in which a master would come upon them."""
    number = offer_id.rpartition("-O")[2]
    return (int(number) if number.isdecimal() and number.isascii() else 0), offer_id


def _offer_again(master: Master, picture: ClusterPicture) -> None:
    """The outstanding offers, as far as what they offer is still there and free."""
    left: dict[str, Resources] = {}
    for offered in sorted(picture.offers, key=lambda offer: _age(offer.id)):
        agent, framework = master.agents[offered.agent_id], master.frameworks[offered.framework_id]
        if not (agent.active and framework.active):
            continue
        free = left.setdefault(agent.id, agent.whole - agent.used.allocated_to(None))
        kind = offered.resources.revocability if master.lends else "regular"
        # What is lent is of no agent's total; the allocator takes back whatever does not lie idle.
        is_lent = kind == "non-throttleable"
        if kind != "mixed" and (is_lent or free.contains(offered.resources)):
            if not is_lent:
                left[agent.id] = free - offered.resources
            resources = offered.resources.allocated_to(offered.role)
            master.offers.restore(Offer(offered.id, framework.id, agent.id, offered.role, resources, kind))


def _lend_again(master: Master, lending: Lending) -> None:
    """What is refused, and what is owed."""
    if master.lending is None:
        return
    for refusal in lending.refusals:
        master.lending.restore_refusal(
            refusal.framework_id, refusal.agent_id, refusal.role, refusal.resources, refusal.seconds
        )
    for debt in lending.debts:
        master.lending.restore_debt(debt.framework_id, debt.agent_id, debt.resources.allocated_to(debt.role))
