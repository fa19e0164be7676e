"""The allocator as its page has it, word by word: no cache, no order kept, everything worked out anew.

It is slow and meant to be read beside docs/explanation/allocator.md.  Resources are added and subtracted with
`mesosctl.mesos` only.  Shared volumes, maintenance and recovery are left to the scenarios.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from fake_master.allocator.interface import FrameworkInfo
from mesosctl.mesos.amounts.quantities import Quantities, Quota, to_double
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile
from tests.fake_master.allocator.reference.parts import (
    PlainAgent,
    PlainFilter,
    PlainFramework,
    part_of,
    shrink,
    shrink_to_limits,
    split,
)

DEFAULT_MINIMUM = (Quantities({"cpus": 10}), Quantities({"mem": 32000}))
Offers = dict[str, dict[str, dict[str, Resources]]]


@dataclass
class Node:
    path: str
    kind: str = "internal"
    held: dict[str, int] = field(default_factory=dict)
    count: int = 0
    children: list["Node"] = field(default_factory=list)
    weight: float | None = None
    """Where weights stay: that of the first time."""


class PlainSorter:
    """The sorter of the page, sorted from scratch whenever asked."""

    def __init__(
        self, total: Callable[[], Quantities], weights: dict[str, float], *, weights_stay: bool = False
    ) -> None:
        self.total = total
        self.weights = weights
        self.weights_stay = weights_stay
        self.root = Node("")

    def line(self, path: str) -> list[Node]:
        """The nodes from below the root to the leaf of a client."""
        line, node = [], self.root
        names = path.split("/")
        for depth in range(len(names)):
            node = next(child for child in node.children if child.path == "/".join(names[: depth + 1]))
            line.append(node)
        if node.kind == "internal":
            line.append(next(child for child in node.children if child.path == path + "/."))
        return line

    def add(self, path: str) -> None:
        node = self.root
        names = path.split("/")
        for depth in range(len(names)):
            prefix = "/".join(names[: depth + 1])
            child = next((child for child in node.children if child.path == prefix), None)
            if child is None:
                if node is not self.root and node.kind != "internal":
                    node.children = [Node(node.path + "/.", node.kind, dict(node.held), node.count)]
                    node.kind = "internal"
                child = Node(prefix, "inactive" if depth == len(names) - 1 else "internal")
                node.children.append(child)
            elif depth == len(names) - 1:
                child.children.append(Node(path + "/.", "inactive"))
            node = child

    def reweigh(self, path: str) -> None:
        """The weight of a path has changed: a client heeds it, also if it has others below it."""
        for node in self.nodes(self.root):
            if node.path == path and (
                node.kind != "internal" or any(below.path == path + "/." for below in node.children)
            ):
                node.weight = None

    def nodes(self, above: Node) -> Iterator[Node]:
        for node in above.children:
            yield node
            yield from self.nodes(node)

    def remove(self, path: str) -> None:
        line = self.line(path)
        for node in line[:-1]:
            for name, amount in line[-1].held.items():
                node.held[name] -= amount
        for parent, node in reversed(list(zip([self.root, *line], line, strict=False))):
            if node.children:
                break
            if node is line[-1] or node.kind == "internal":
                parent.children.remove(node)
        for node in reversed(line[:-1]):
            if [child.path for child in node.children] == [node.path + "/."]:
                node.kind = node.children[0].kind
                node.children = []

    def set_active(self, path: str, *, active: bool) -> None:
        self.line(path)[-1].kind = "active" if active else "inactive"

    def allocated(self, path: str, resources: Resources) -> None:
        for node in self.line(path):
            node.count += 1
            for name, amount in resources.scalar_quantities().items():
                node.held[name] = node.held.get(name, 0) + amount

    def unallocated(self, path: str, resources: Resources) -> None:
        for node in self.line(path):
            for name, amount in resources.scalar_quantities().items():
                node.held[name] -= amount

    def share(self, node: Node) -> float:
        total = self.total()
        parts = [to_double(node.held.get(name, 0)) / to_double(amount) for name, amount in total.items()]
        if node.weight is None or not self.weights_stay:
            node.weight = self.weights.get(node.path, 1.0)
        return max(parts, default=0.0) / node.weight

    def sort(self) -> list[str]:
        return [path.removesuffix("/.") for path in self._below(self.root)]

    def _below(self, node: Node) -> list[str]:
        found = []
        for child in sorted(node.children, key=lambda child: (self.share(child), child.count, child.path.encode())):
            if child.kind == "internal":
                found += self._below(child)
            elif child.kind == "active":
                found.append(child.path)
        return found


class Reference:
    def __init__(self, profile: Profile = MESOS_1_11) -> None:
        self.profile = profile
        """The release as which it shares out."""
        self.agents: dict[str, PlainAgent] = {}
        self.frameworks: dict[str, PlainFramework] = {}
        self.weights: dict[str, float] = {}
        self.quotas: dict[str, Quota] = {}
        self.filters: list[PlainFilter] = []
        self.roles = PlainSorter(self.total, self.weights, weights_stay=profile.inner_weights_stay)
        self.guarantees = PlainSorter(self.nonrevocable_total, self.weights)
        """Roles with quota, on releases that order them apart."""
        self.sorters: dict[str, PlainSorter] = {}
        self.tracked: dict[str, set[str]] = {}

    # --- State --------------------------------------------------------------------------------------

    def total(self) -> Quantities:
        return Quantities.total(agent.total.scalar_quantities() for agent in self.agents.values())

    def nonrevocable_total(self) -> Quantities:
        return Quantities.total(agent.total.non_revocable().scalar_quantities() for agent in self.agents.values())

    def set_quota(self, role: str, quota: Quota) -> None:
        before = self.quotas.get(role, Quota())
        self.quotas[role] = quota
        if before == quota or not self.profile.guarantees_have_own_sorter:
            return
        if not before.is_default:
            self.guarantees.remove(role)
        if not quota.is_default:
            self.guarantees.add(role)
            self.guarantees.set_active(role, active=True)
            for agent in self.agents.values():
                held = Resources(entry for _, part in agent.held for entry in part if entry.allocation_role == role)
                if held:
                    self.guarantees.allocated(role, held.non_revocable())

    def ordered_apart(self, role: str) -> bool:
        return self.profile.guarantees_have_own_sorter and not self.quotas.get(role, Quota()).is_default

    def hold(self, framework: str, agent: str, resources: Resources) -> None:
        role = next(iter(resources)).allocation_role
        assert role is not None
        self.agents[agent].held.append((framework, resources))
        self.roles.allocated(role, resources)
        self.sorters[role].allocated(framework, resources)
        if self.ordered_apart(role):
            self.guarantees.allocated(role, resources.non_revocable())

    def give_back(self, framework: str, agent: str, resources: Resources) -> None:
        role = next(iter(resources)).allocation_role
        assert role is not None
        where = self.agents[agent]
        own = Resources(entry for holder, part in where.held if holder == framework for entry in part)
        assert own.contains(resources)
        where.held = [pair for pair in where.held if pair[0] != framework]
        left = own - resources
        for kept in dict.fromkeys(entry.allocation_role for entry in left):
            where.held.append((framework, part_of(left, kept)))
        self.roles.unallocated(role, resources)
        self.sorters[role].unallocated(framework, resources)
        if self.ordered_apart(role):
            self.guarantees.unallocated(role, resources.non_revocable())
        self.untrack_unless_needed(framework, role)

    def track(self, framework: str, role: str) -> None:
        if role not in self.sorters:
            own = partial(self.held_by_role, role) if self.profile.framework_shares_are_of_role else self.total
            self.sorters[role] = PlainSorter(own, {})
            self.tracked[role] = set()
            self.roles.add(role)
            self.roles.set_active(role, active=True)
        if framework not in self.tracked[role]:
            self.tracked[role].add(framework)
            self.sorters[role].add(framework)

    def untrack_unless_needed(self, framework: str, role: str) -> None:
        known = self.frameworks.get(framework)
        if (known is not None and role in known.info.roles) or self.held_in(framework, role):
            return
        self.tracked[role].discard(framework)
        self.sorters[role].remove(framework)
        if not self.tracked[role]:
            del self.tracked[role], self.sorters[role]
            self.roles.remove(role)

    def held_by_role(self, role: str) -> Quantities:
        held = (entry for agent in self.agents.values() for _, part in agent.held for entry in part)
        return Resources(entry for entry in held if entry.allocation_role == role).scalar_quantities()

    def held_in(self, framework: str, role: str) -> list[Resource]:
        return [
            entry
            for agent in self.agents.values()
            for holder, part in agent.held
            if holder == framework
            for entry in part
            if entry.allocation_role == role
        ]

    def set_activity(self, framework: str) -> None:
        known = self.frameworks[framework]
        for role in self.tracked:
            if framework in self.tracked[role]:
                subscribed = role in known.info.roles
                active = subscribed and known.active and role not in known.suppressed
                self.sorters[role].set_active(framework, active=active)

    def forget_filters(self, framework: str | None = None, role: str | None = None, agent: str | None = None) -> None:
        self.filters = [
            held
            for held in self.filters
            if framework not in (None, held.framework)
            or role not in (None, held.role)
            or agent not in (None, held.agent)
        ]

    # --- The allocation run -----------------------------------------------------------------------------------------

    def consumed(self, role: str) -> Quantities:
        def within(owner: str | None) -> bool:
            below = self.profile.subroles_consume_quota
            return owner == role or (below and owner is not None and owner.startswith(role + "/"))

        parts = []
        for agent in self.agents.values():
            if self.profile.reservations_consume_quota:
                parts += [replace(entry) for entry in agent.total if entry.is_reserved and within(entry.role)]
            for _, held in agent.held:
                parts += [
                    entry
                    for entry in held
                    if within(entry.allocation_role) and not entry.is_reserved and not entry.revocable
                ]
        return Quantities.total(Resources([part]).scalar_quantities() for part in parts)

    def run(self, candidates: list[str]) -> Offers:
        agents = [self.agents[name] for name in self.agents if name in candidates and self.agents[name].activated]
        self.offers: Offers = {}
        if self.profile.quota_takes_whole_agents:
            return self.run_with_whole_agents(agents)
        if self.profile.guarantee_is_limit:
            return self.run_with_ceilings(agents)
        quotas = {role: quota for role, quota in self.quotas.items() if not quota.is_default}
        self.used_up = {role: self.consumed(role) for role in quotas}
        self.required = Quantities.total(quotas[role].guarantees - self.used_up[role] for role in quotas)
        self.headroom = self.initial_headroom()
        for agent in agents:
            for role in self.roles.sort():
                if role in quotas and quotas[role].guarantees and agent.available():
                    self.guarantee(agent, role, quotas[role])
        for agent in agents:
            for role in self.roles.sort():
                if not agent.available():
                    break
                self.share_fairly(agent, role, quotas.get(role))
        return self.offers

    # --- Coarse shares, section "The documents' master" ----------------------------------------

    def run_with_whole_agents(self, agents: list[PlainAgent]) -> Offers:
        quotas = {role: quota for role, quota in self.quotas.items() if not quota.is_default}
        self.used_up = {role: self.consumed(role) for role in quotas}
        for agent in agents:
            for role in self.roles.sort():
                for framework in self.sorters[role].sort():
                    if role in quotas and self.is_short(role):
                        self.offer_whole(agent, role, framework)
        lacked = [quota.guarantees - self.used_up[role] for role, quota in quotas.items()]
        free = [split(agent.available())[0].scalar_quantities() for agent in self.agents.values()]
        remaining = Quantities.total(free) - Quantities.total(lacked)
        any_lacks = any(lacked)
        handed_out = Quantities()
        for agent in agents:
            left = remaining - handed_out
            if any_lacks and not any(left.contains(least) for least in DEFAULT_MINIMUM):
                break
            for role in self.roles.sort():
                for framework in self.sorters[role].sort():
                    whole = self.can_have(agent, role, framework)
                    if whole is None:
                        continue
                    whole = self.cut_to_limits(role, whole)
                    counted = split(whole)[0].scalar_quantities()
                    if any_lacks and not remaining.contains(handed_out + counted):
                        continue
                    if self.fits(agent, role, framework, whole):
                        self.offer_counted(agent, role, framework, whole)
                        handed_out += counted
        return self.offers

    # --- Guarantees that are limits, section "Mesos 1.4 to 1.8" --------------------------------

    def run_with_ceilings(self, agents: list[PlainAgent]) -> Offers:
        quotas = {role: quota for role, quota in self.quotas.items() if quota.guarantees}
        self.used_up = {role: self.consumed(role) for role in quotas}
        self.required = Quantities.total(quotas[role].guarantees - self.used_up[role] for role in quotas)
        self.headroom = self.initial_headroom()
        for agent in agents:
            for role in self.guarantees.sort():
                for framework in self.sorters[role].sort() if role in self.sorters else ():
                    self.fill_up(agent, role, framework, quotas[role].guarantees)
        for agent in agents:
            for role in self.roles.sort():
                for framework in self.sorters[role].sort() if role not in quotas else ():
                    self.give_or_keep(agent, role, framework)
        return self.offers

    def fill_up(self, agent: PlainAgent, role: str, framework: str, guarantees: Quantities) -> None:
        can_have = self.can_have(agent, role, framework)
        if can_have is None:
            return
        counted, rest = split(can_have.non_revocable())
        named = counted.filter(lambda entry: entry.name in guarantees)
        needed = shrink(named, guarantees - self.used_up[role])
        if not needed and not rest.reserved():
            return
        extra = counted - named
        if self.required:
            extra = shrink(extra, self.headroom - self.required)
        if self.fits(agent, role, framework, rest + needed + extra):
            self.offer(agent, role, framework, rest + needed + extra)
            self.used_up[role] += needed.scalar_quantities()
            self.required -= needed.scalar_quantities()
            self.headroom -= (needed + extra).scalar_quantities()

    def give_or_keep(self, agent: PlainAgent, role: str, framework: str) -> None:
        can_have = self.can_have(agent, role, framework)
        if can_have is None:
            return
        counted, rest = split(can_have)
        if not (self.headroom - counted.scalar_quantities()).contains(self.required):
            counted = Resources()
        if self.fits(agent, role, framework, rest + counted):
            self.offer(agent, role, framework, rest + counted)
            self.headroom -= counted.scalar_quantities()

    def is_short(self, role: str) -> bool:
        """Whether none of the names that the role is guaranteed is reached."""
        guarantees, used_up = self.quotas[role].guarantees, self.used_up[role]
        return bool(guarantees) and all(used_up.get_amount(name) < amount for name, amount in guarantees.items())

    def offer_whole(self, agent: PlainAgent, role: str, framework: str) -> None:
        """All that is free for it, reservations of the role included."""
        can_have = self.can_have(agent, role, framework)
        if can_have is not None:
            whole = self.cut_to_limits(role, can_have).non_revocable()
            if self.fits(agent, role, framework, whole):
                self.offer_counted(agent, role, framework, whole)

    def offer_counted(self, agent: PlainAgent, role: str, framework: str, plain: Resources) -> None:
        """Offer it, and count it as the role's own; what a role below it gets counts from the next run on."""
        self.offer(agent, role, framework, plain)
        if role in self.used_up:
            self.used_up[role] += split(plain)[0].scalar_quantities()

    def cut_to_limits(self, role: str, resources: Resources) -> Resources:
        quota = self.quotas.get(role)
        if quota is None or not quota.limits:
            return resources
        counted, rest = split(resources)
        return rest + shrink_to_limits(counted, quota.limits - self.used_up[role])

    def initial_headroom(self) -> Quantities:
        held = [part for agent in self.agents.values() for _, part in agent.held]
        headroom = self.total() - Quantities.total(part.scalar_quantities() for part in held)
        reserved = Quantities.total(agent.total.reserved().scalar_quantities() for agent in self.agents.values())
        headroom -= reserved - Quantities.total(part.reserved().scalar_quantities() for part in held)
        for agent in self.agents.values():
            headroom -= agent.available().revocable().scalar_quantities()
        return headroom

    def guarantee(self, agent: PlainAgent, role: str, quota: Quota) -> None:
        unsatisfied = quota.guarantees - self.used_up[role]
        for framework in self.sorters[role].sort() if unsatisfied else ():
            if not unsatisfied:
                return
            can_have = self.can_have(agent, role, framework)
            if can_have is None:
                continue
            unreserved_nonrevocable, rest = split(can_have)
            needed = shrink(unreserved_nonrevocable, unsatisfied)
            if not needed:
                continue
            extra = unreserved_nonrevocable - needed
            if quota.limits:
                left = quota.limits - self.used_up[role] - needed.scalar_quantities()
                extra = shrink_to_limits(extra, left)
            if self.required and extra:
                extra = shrink(extra, self.headroom - self.required)
            offer = rest + needed + extra
            if not self.fits(agent, role, framework, offer):
                continue
            self.offer(agent, role, framework, offer)
            increase = (needed + extra).scalar_quantities()
            unsatisfied -= increase
            self.used_up[role] += increase
            self.required -= needed.scalar_quantities()
            self.headroom -= increase

    def share_fairly(self, agent: PlainAgent, role: str, quota: Quota | None) -> None:
        for framework in self.sorters[role].sort():
            can_have = self.can_have(agent, role, framework)
            if can_have is None:
                continue
            extra, rest = split(can_have)
            if quota is not None and quota.limits:
                extra = shrink_to_limits(extra, quota.limits - self.used_up[role])
            if self.required and extra:
                extra = shrink(extra, self.headroom - self.required)
            offer = rest + extra
            if not self.fits(agent, role, framework, offer):
                continue
            self.offer(agent, role, framework, offer)
            if quota is not None:
                self.used_up[role] += extra.scalar_quantities()
            self.headroom -= extra.scalar_quantities()

    def can_have(self, agent: PlainAgent, role: str, framework: str) -> Resources | None:
        info = self.frameworks[framework].info
        can_have = agent.available().allocatable_to(role)
        if not self.allocatable(can_have, info, role):
            return None
        has_gpus = agent.total.scalar_quantities().get_amount("gpus") > 0
        if has_gpus and "GPU_RESOURCES" not in info.capabilities:
            return None
        return can_have.filter(
            lambda entry: (
                ("REVOCABLE_RESOURCES" in info.capabilities or not entry.revocable)
                and ("RESERVATION_REFINEMENT" in info.capabilities or not entry.is_refined)
            )
        )

    def allocatable(self, resources: Resources, info: FrameworkInfo, role: str) -> bool:
        alternatives = info.minimums.get(role, DEFAULT_MINIMUM)
        if not resources:
            return False
        return not alternatives or any(resources.quantities().contains(alternative) for alternative in alternatives)

    def fits(self, agent: PlainAgent, role: str, framework: str, offer: Resources) -> bool:
        info = self.frameworks[framework].info
        capabilities = agent.info.capabilities
        if not self.allocatable(offer, info, role):
            return False
        if "MULTI_ROLE" not in capabilities or ("/" in role and "HIERARCHICAL_ROLE" not in capabilities):
            return False
        return not any(
            held.refused.contains(offer)
            for held in self.filters
            if (held.framework, held.role, held.agent) == (framework, role, agent.info.id)
        )

    def offer(self, agent: PlainAgent, role: str, framework: str, plain: Resources) -> None:
        tagged = plain.allocated_to(role)
        self.hold(framework, agent.info.id, tagged)
        by_agent = self.offers.setdefault(framework, {}).setdefault(role, {})
        by_agent[agent.info.id] = by_agent.get(agent.info.id, Resources()) + tagged
