"""The initial state of a cluster: the content of its registry and of its agents' disks when the master starts.

A cluster file has it in the sections [quotas], [weights], [[reservations]] and [[volumes]]; a snapshot has it as
values. It is written to the registry once, if commands change it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2s
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from fake_master.registry.interface import Registry
from fake_master.services.agents.checkpointed_resources import CHECKPOINT_KIND
from fake_master.services.quota import QUOTA_KIND, WEIGHT_KIND
from fake_master.state.flags import MasterFlags
from fake_master.state.quota import SentQuota
from mesosctl.files.desired_state import LabelsTable, Sections, desired_state, labels_of
from mesosctl.files.text_file import TextFile
from mesosctl.files.typed_file import TypedFile
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quota, to_double
from mesosctl.mesos.amounts.resource import Disk, Labels, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.desired.reservation_plan import AgentReservations, DesiredOnAgent
from mesosctl.mesos.errors import BadInput, Conflict, RuleViolation
from mesosctl.mesos.messages.resource_text import read_resources
from mesosctl.mesos.messages.resources import list_to_json
from mesosctl.mesos.messages.strict.shapes import Name, Table
from mesosctl.mesos.rules.quota import rules as quota_rules
from mesosctl.mesos.rules.quota.rules import GivenFacts, Wish, refuse
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import check_create
from mesosctl.mesos.rules.reservations.rules import Requester, check_reserve, check_stack
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile

SEEDED_KIND = "pictured"
"""The kind of the record which says that a registry has its first content; the name is that of older releases."""


class VolumeTable(Table):
    """A persistent volume, on disk that is reserved."""

    agent: Annotated[Name, Meta(description="A host name.", examples=["node"])]
    id: Annotated[Name, Meta(examples=["db-1"])]
    size: Annotated[Name, Meta(examples=["disk:10GiB"])]
    role: Annotated[Name, Meta(examples=["web"])]
    under: Annotated[
        list[str],
        Meta(description="The roles that its reservation refines, from the bottom up.", examples=[["dept"]]),
    ] = msgspec.field(default_factory=list)
    path: Annotated[str, Meta(description="The path in the container.", examples=["data"])] = "data"
    principal: Annotated[str | None, Meta(description="Who creates the volume.", examples=["ops"])] = None
    reserver: Annotated[
        str | None,
        Meta(
            description="Who reserved the disk; this and labels are needed only if several reservations match.",
            examples=["ops"],
        ),
    ] = None
    labels: Annotated[LabelsTable, Meta(description="The labels of the reservation.")] = None
    shared: bool = False


class InitialSections(Sections):
    """The sections of a cluster file that are about the initial state."""

    volumes: list[VolumeTable] | None = None


@dataclass(frozen=True, slots=True)
class VolumeSpec:
    """One persistent volume on disk that is reserved."""

    agent: str
    """A host name."""
    id: str
    disk: Resource
    """The plain disk that it is made of, with its source, but without an owner."""
    role: str
    under: tuple[str, ...] = ()
    """The roles that its reservation refines, from the bottom up."""
    path: str = "data"
    principal: str | None = None
    """The creator."""
    reserver: str | None = None
    labels: Labels | None = None
    """The labels of the reservation; None, as for the reserver, means any."""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class InitialState:
    """Quotas, weights, dynamic reservations and volumes, as a cluster file has them."""

    desired: DesiredState = field(default_factory=DesiredState)
    volumes: tuple[VolumeSpec, ...] = ()
    fingerprint: str = ""
    """A digest of the text of these sections; empty for a file without them."""
    file: TextFile | None = field(default=None, compare=False)
    """The file that they are from."""

    def seed(self, registry: Registry, profile: Profile, flags: MasterFlags, agents: Mapping[str, Resources]) -> None:
        """Check it against the master and its agents (configured resources by host name), and write it once.

        A registry that already has it stays as it is.  Raises BadInput with line and key, RegistryFailure.
        """
        with self.placed():
            quotas = self._quotas(profile, flags)
            weights = self._weights(flags)
            checkpoints = self._checkpoints(profile, agents)
        seed(registry, quotas, weights, checkpoints, self.fingerprint)

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Errors of rules, as BadInput that names file, line and key."""
        try:
            yield
        except (RuleViolation, Conflict) as error:
            place = "the cluster" if self.file is None else self.file.place_of(error.field)
            raise BadInput(f"{place}: {error.field}: {error.message}", field=error.field, hint=error.hint) from None

    def _quotas(self, profile: Profile, flags: MasterFlags) -> dict[str, Quota]:
        found: dict[str, Quota] = {}
        for index, (role, desired) in enumerate((self.desired.quotas or {}).items()):
            with _at(f"quotas.{role}", f"quotas[{index}]", self.file):
                roles.check_whitelist(role, flags.whitelist)
                found[role] = desired.applied_to(None)
                wish = Wish.of(role, found[role], by_request=not profile.knows_update_quota)
                try:
                    refuse(quota_rules.QUOTA_ON_MASTER, wish, GivenFacts(profile))
                except RuleViolation as error:
                    if error.rule == "quota.limits-need-update":
                        error.hint = f'mesos_version = "{MESOS_1_11.name}" has limits; otherwise, leave them out'
                    raise
        quota_rules.check_tree(found)
        return found

    def _weights(self, flags: MasterFlags) -> dict[str, float]:
        weights = self.desired.weights or {}
        for role, weight in weights.items():
            with _at(f"weights.{role}"):
                roles.check_whitelist(role, flags.whitelist)
                if flags.weights.get(role, weight) != weight:
                    raise RuleViolation(
                        f"the flag --weights says {flags.weights[role]:g}", rule="weight.once", hint="give it once"
                    )
        # A registry with weights rules out those of the flag.
        return {**flags.weights, **weights} if weights else {}

    def _checkpoints(self, profile: Profile, agents: Mapping[str, Resources]) -> dict[str, list[Resource]]:
        """Return what each agent has on its disk, by host name."""
        totals = dict(agents)
        desired = self.desired.reservations or ()
        by_host: dict[str, list[DesiredOnAgent]] = {}
        places: dict[str, int] = {}
        for index, reservation in enumerate(desired):
            _check_agent(reservation.agent, totals, f"reservations[{index}].agent")
            by_host.setdefault(reservation.agent, []).append(reservation)
            places.setdefault(reservation.agent, index)
        for host, mine in by_host.items():
            agent = RegisteredAgent(host, host, "", totals[host], capabilities=frozenset(profile.agent_capabilities))
            with _at(f"reservations[{places[host]}].resources"):
                for step in AgentReservations(agent, mine, prune=False).steps():
                    check_reserve(list(step.resources), Requester(), agent_capabilities=agent.capabilities)
                    totals[host] = operations.apply_all(totals[host], step.conversions())
        for index, volume in enumerate(self.volumes):
            _check_agent(volume.agent, totals, f"volumes[{index}].agent")
            with _at(f"volumes[{index}].size"):
                totals[volume.agent] = _with_volume(totals[volume.agent], volume, profile)
        kept = {host: _kept(total) for host, total in totals.items()}
        return {host: entries for host, entries in kept.items() if entries}


def _with_volume(total: Resources, volume: VolumeSpec, profile: Profile) -> Resources:
    """The agent's resources with the volume made.  Raises RuleViolation, and Conflict if its disk is not there."""
    stack = (*volume.under, volume.role)
    source = None if volume.disk.disk is None else volume.disk.disk.source
    disk = Disk(volume.id, source, volume.principal, container_path=volume.path, mode="RW")
    for entry in total:
        if (
            replace(entry, reservations=()).contains(volume.disk)
            and tuple(level.role for level in entry.reservations) == stack
            and entry.reservations[-1].matches(volume.reserver, volume.labels)
        ):
            made = replace(volume.disk, reservations=entry.reservations, disk=disk, shared=volume.shared)
            existing = [other for other in total if other.is_persistent_volume]
            check_create([made], Requester(), existing=existing, agent_capabilities=profile.agent_capabilities)
            return operations.apply_all(total, operations.create(Resources([made])))
    raise Conflict(
        f"{volume.agent} does not have {volume.disk} reserved for {' > '.join(stack)}",
        rule="operation.contained",
        hint="reserve it in [[reservations]], or in the agent's resources: disk(ROLE):1024",
    )


def _kept(total: Resources) -> list[Resource]:
    return [entry for entry in total if entry.is_dynamically_reserved or entry.is_persistent_volume]


def _check_agent(hostname: str, agents: Mapping[str, Resources], where: str) -> None:
    if hostname not in agents:
        hint = roles.did_you_mean(hostname, list(agents), "give the hostname of an entry of [[agents]]")
        raise RuleViolation(f"no agent is named '{hostname}'", field=where, rule="agent.exists", hint=hint)


@contextmanager
def _at(place: str, other: str = "", file: TextFile | None = None) -> Iterator[None]:
    """Give an error its place in the file: `place`, or `other` if the file has that."""
    try:
        yield
    except (RuleViolation, Conflict) as error:
        error.field = other if file is not None and other in file.places.lines else place
        raise


# --- Reading ------------------------------------------------------------------------------------------


def read_initial_state(read: TypedFile[Any]) -> InitialState:
    """The state that `InitialSections` mean.  Raises BadInput with the line of every broken rule."""
    sections: InitialSections = read.value
    given = {key: getattr(sections, key) for key in InitialSections.__struct_fields__}
    if all(section is None for section in given.values()):
        return InitialState()
    text = json.dumps(msgspec.to_builtins(given), sort_keys=True)
    desired = desired_state(read)
    volumes = [_volume(table, f"volumes[{index}]", read) for index, table in enumerate(sections.volumes or ())]
    read.refuse()
    digest = blake2s(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return InitialState(desired, tuple(volumes), digest, read.file)


def _volume(table: VolumeTable, where: str, read: TypedFile[Any]) -> VolumeSpec:
    disk = Resource("disk", 0)
    with read.noted(where):
        check_stack((where, role) for role in (*table.under, table.role))
    with read.noted(f"{where}.size"):
        disk = _disk(table.size)
    return VolumeSpec(
        agent=table.agent,
        id=table.id,
        disk=disk,
        role=table.role,
        under=tuple(table.under),
        path=table.path,
        principal=table.principal,
        reserver=table.reserver,
        labels=labels_of(table.labels),
        shared=table.shared,
    )


def _disk(text: str) -> Resource:
    """The disk that a text or JSON means.  Raises RuleViolation."""
    found = list(read_resources(text))
    plain = [replace(entry, disk=None) for entry in found if not entry.is_persistent_volume]
    if len(found) != 1 or plain != [Resource("disk", found[0].value)] or not found[0].is_scalar:
        raise RuleViolation(f"'{text}' is not an amount of disk", hint='size = "disk:10GiB"')
    return found[0]


# --- Writing ------------------------------------------------------------------------------------------


def seed(
    registry: Registry,
    quotas: Mapping[str, Quota],
    weights: Mapping[str, float],
    checkpoints: Mapping[str, Iterable[Resource]],
    stamp: str | float,
) -> bool:
    """Write a registry's first content, and return True, unless it already has it.  Raises RegistryFailure.

    `checkpoints`: what agents have on their disks, by checkpoint key.
    """
    with registry.transaction():
        if registry.records(SEEDED_KIND):
            return False
        for role, quota in quotas.items():
            registry.write(QUOTA_KIND, role, _sent(quota).kept().to_record())
        for role, weight in weights.items():
            registry.write(WEIGHT_KIND, role, weight)
        for key, resources in checkpoints.items():
            registry.write(CHECKPOINT_KIND, key, list_to_json(Resources(resources), "POST"))
        registry.write(SEEDED_KIND, "taken_at", stamp)
    return True


def _sent(quota: Quota) -> SentQuota:
    return SentQuota(
        {name: to_double(milli) for name, milli in quota.guarantees.items()},
        {name: to_double(milli) for name, milli in quota.limits.items()},
    )
