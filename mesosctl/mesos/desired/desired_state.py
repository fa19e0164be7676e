"""The desired state of a cluster, its actual state, and each difference between the two.

Only named settings are compared: a section that is None is ignored, and without `prune`, so is a role or reservation
that a section does not name.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mesosctl.mesos.amounts.amount_text import NotationText, in_mesos_notation, in_words
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, format_double
from mesosctl.mesos.amounts.resource import Labels, Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.holdings import RegisteredAgent, plain_text, without_owners
from mesosctl.mesos.desired.reservation_plan import AgentReservations, DesiredOnAgent
from mesosctl.mesos.names import agent_names
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.reservations.operations import plain_disk
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The desired state; None for a section that is not given."""

    quotas: Mapping[str, DesiredQuotaChange] | None = None
    weights: Mapping[str, float] | None = None
    reservations: Sequence[DesiredOnAgent] | None = None

    def covers_something(self, *, prune: bool) -> bool:
        """Whether there is anything to compare; with `prune`, an empty section counts too."""
        sections = (self.quotas, self.weights, self.reservations)
        return any(section is not None if prune else section for section in sections)


@dataclass(frozen=True, slots=True)
class Actual:
    """The actual state: quotas, configured weights, and agents by id."""

    quotas: Mapping[str, Quota] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    agents: Mapping[str, RegisteredAgent] = field(default_factory=dict)
    profile: Profile = MESOS_1_11
    """The master's rules."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as desired; None if it is not there, or not desired."""

    kind: Literal["quota", "weight", "reservation"]
    name: str
    """A role, or "role on host name"."""
    actual: str | None
    wanted: str | None
    role: str
    is_named: bool = True
    """Whether the desired state names it; if not, it is changed only if everything else is removed."""
    before: Quota | float | Resources | None = None
    """The quota, the weight or the reserved resources that `actual` is the text of."""
    after: Quota | float | Resources | None = None
    """The same of `wanted`."""


def quota_text(quota: Quota | None) -> NotationText | None:
    """`cpus:12;mem:6144, at most cpus:24`, and in words `12 cpus and 6GiB mem, at most 24 cpus`."""
    if quota is None:
        return None
    return NotationText.with_words(_written(quota, in_mesos_notation), lambda: _written(quota, in_words))


def _written(quota: Quota, write: Callable[[Quantities | Limits], str]) -> str:
    guarantee = write(quota.guarantees) if quota.guarantees else ""
    limit = f"at most {write(quota.limits)}" if quota.limits else ""
    return ", ".join(filter(None, (guarantee, limit))) or "nothing"


def quota_changes(
    desired: DesiredState, actual: Actual, *, prune: bool
) -> Iterator[tuple[str, Quota | None, Quota | None]]:
    """(role, quota it has, quota it should have) if they differ."""
    if desired.quotas is None:
        return
    for role in sorted({*desired.quotas, *(actual.quotas if prune else ())}):
        before, change = actual.quotas.get(role), desired.quotas.get(role)
        after = None if change is None else change.applied_to(before)
        if before != after:
            yield role, before, after


def weight_changes(desired: DesiredState, actual: Actual, *, prune: bool) -> Iterator[tuple[str, float, float]]:
    """(role, weight it has, weight it should have) if they differ.  A weight cannot be removed, only be 1."""
    if desired.weights is None:
        return
    for role in sorted({*desired.weights, *(actual.weights if prune else ())}):
        before, after = actual.weights.get(role, 1.0), desired.weights.get(role, 1.0)
        if before != after:
            yield role, before, after


def differences(desired: DesiredState, actual: Actual, principal: str | None = None) -> list[Difference]:
    """Everything that is not as desired, also what no section names.

    Agents in `desired` are named by id.  Raises RuleViolation.
    """
    found = [
        Difference(
            "quota",
            role,
            quota_text(before),
            quota_text(after),
            role,
            role in (desired.quotas or ()),
            before=before,
            after=after,
        )
        for role, before, after in quota_changes(desired, actual, prune=True)
    ]
    found += [
        Difference(
            "weight",
            role,
            format_double(before),
            format_double(after),
            role,
            role in (desired.weights or ()),
            before=before,
            after=after,
        )
        for role, before, after in weight_changes(desired, actual, prune=True)
    ]
    if desired.reservations is not None:
        for agent in actual.agents.values():
            mine = [wanted_agent for wanted_agent in desired.reservations if wanted_agent.agent == agent.id]
            for group in AgentReservations(agent, mine, prune=False, principal=principal).groups:
                wanted = group.desired or Resources()
                if group.held != wanted:
                    name = f"{' > '.join(level.role for level in group.target)} on {agent.name}"
                    role, is_named = group.target[-1].role, group.desired is not None
                    texts, values = (_text(group.held), _text(wanted)), (group.held or None, wanted or None)
                    found.append(Difference("reservation", name, *texts, role, is_named, *values))
    return found


def _text(resources: Resources) -> NotationText | None:
    if not len(resources):
        return None
    return NotationText.with_words(plain_text(resources), lambda: without_owners(resources).in_words)


def registered_agents(agents: Iterable[ClusterAgent]) -> dict[str, RegisteredAgent]:
    """The agents of a snapshot by id."""
    return {
        agent.id: RegisteredAgent(
            agent.id,
            agent.hostname,
            agent.pid,
            agent.total,
            attributes=agent.attributes,
            capabilities=agent.capabilities,
            active=agent.active,
        )
        for agent in agents
    }


def exported(actual: Actual) -> tuple[DesiredState, list[str]]:
    """Return the actual state as a desired state, and sentences about the parts that none can express.

    Reservations are in the order of host names, wherever the state was read, so that files can be compared.
    """
    hostnames = Counter(agent.hostname for agent in actual.agents.values())
    spell = agent_names({agent.id: agent.hostname for agent in actual.agents.values()}).speller()
    reservations: list[DesiredOnAgent] = []
    left_out: list[str] = []
    for agent in sorted(actual.agents.values(), key=lambda registered: (registered.hostname, registered.id)):
        name = spell("host", agent.hostname) if hostnames[agent.hostname] == 1 else spell("id", agent.id)
        found, sentences = _reservations(agent, name)
        reservations += found
        left_out += sentences
    unwritable = [role for role in {**actual.quotas, **actual.weights} if not is_text(role)]
    left_out += [f"role {role!r}: it is not UTF-8, which TOML requires" for role in unwritable]
    quotas = {
        role: DesiredQuotaChange(*quota)
        for role, quota in actual.quotas.items()
        if is_text(role) and not quota.is_default
    }
    weights = {role: weight for role, weight in actual.weights.items() if is_text(role)}
    return DesiredState(quotas, weights, reservations), left_out


def is_text(*names: str | None) -> bool:
    """Whether they can be written in UTF-8."""
    try:
        "".join(filter(None, names)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _reservations(agent: RegisteredAgent, name: str) -> tuple[list[DesiredOnAgent], list[str]]:
    """The reservations on an agent, in the order of their roles, and sentences about those that cannot be written.

    A stack of which everything is refined is there too, without resources: there must be something to refine.
    """
    sums: dict[tuple[tuple[str, ...], str | None, Labels | None], Resources] = {}
    refined: dict[tuple[str, ...], Reservation] = {}
    left_out: list[str] = []
    for entry in agent.total:
        if not entry.is_dynamically_reserved:
            continue
        top = entry.reservations[-1]
        if not is_text(entry.name, top.principal, str(top.labels), *(level.role for level in entry.reservations)):
            left_out.append(f"{str(entry)!r} on {name}: a name is not UTF-8, which TOML requires")
            continue
        roles = tuple(level.role for level in entry.reservations)
        key = (roles, top.principal, top.labels)
        for depth, level in enumerate(entry.reservations[:-1], 1):
            if level.type == "DYNAMIC" and is_text(level.principal, str(level.labels)):
                refined.setdefault(roles[:depth], level)
        plain = Resources([replace(plain_disk(entry), reservations=())])
        sums[key] = sums.get(key, Resources()) + plain
    held = {roles for roles, _, _ in sums}
    nothing = {
        (roles, level.principal, level.labels): Resources() for roles, level in refined.items() if roles not in held
    }
    targets = [
        DesiredOnAgent(name, roles[-1], resources, roles[:-1], principal, labels)
        for (roles, principal, labels), resources in (sums | nothing).items()
    ]
    return sorted(targets, key=lambda desired: (desired.roles, desired.principal or "", str(desired.labels))), left_out
