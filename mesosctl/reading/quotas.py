"""The quotas of a master, and data that not every principal may see."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.holding import sums_by_owner
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.cluster.account import agent_as_shown, roles_as_shown, sums_of_agents, with_kept
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.role_status import RoleStatus, RoleUsage
from mesosctl.mesos.errors import Denied, MesosctlError, RuleViolation, Violations
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.listed_agents import AgentCapacities, agent_capacities, registered_agents
from mesosctl.mesos.messages.frameworks import listed_frameworks
from mesosctl.mesos.messages.snapshots.cluster_state import suppressed_roles
from mesosctl.mesos.roles import STANDARD_NAMES, check_name, is_strict_subrole, likely_role, top_level, with_ancestors
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.mesos.rules.quota.capacity import AgentCapacity, capacity
from mesosctl.mesos.rules.quota.desired import no_quota
from mesosctl.mesos.rules.version_profile import MESOS_1_11
from mesosctl.reading.selection import Selection, SortKey, is_in_branch, role_key, sort_entries
from mesosctl.suggestion import options_text

Value = TypeVar("Value")
QUOTA_KEYS = ("role",)
"""The keys that a list of quotas can be sorted by, in addition to the names of resources."""


def read_quotas(master: LeadingMaster) -> dict[str, Quota]:
    """Every role with an entry that this principal may see, sorted."""
    return responses.quotas(master.get("/quota"))


def sees_every_role(master: LeadingMaster) -> bool:
    """Whether a role that GET /quota leaves out certainly has no quota, rather than being hidden by an ACL."""
    try:
        return may_see_every_quota(master, master.get("/flags"))
    except MesosctlError:
        return False


def may_see_every_quota(master: LeadingMaster, flags: Any) -> bool:
    """Whether the ACLs in an answer of /flags let this principal see the quotas of all roles."""
    from mesosctl.mesos.messages.acls import acls_of_master  # imported late: few commands need the table of ACLs

    acls = acls_of_master(flags)
    credentials = master.settings.credentials
    # /quota is of the realm readwrite; a master that does not authenticate ignores credentials.
    authenticates = responses.flags(flags).get("authenticate_http_readwrite") == "true"
    principal = credentials.principal if credentials is not None and authenticates else None
    return acls is not None and acls.access("get_quotas", principal).everything


def read_if_allowed(master: LeadingMaster, path: str, reader: Callable[[Any], Value], without: str) -> Value | None:
    """Read the JSON at `path` with `reader`; None, with a notice, if this principal may not see it.

    `without` says what is left out then ("only the master checks whether it fits").
    """
    return _if_allowed(master, path, lambda: reader(master.get(path)), without)


def _if_allowed(master: LeadingMaster, path: str, read: Callable[[], Value], without: str) -> Value | None:
    try:
        return read()
    except Denied as error:
        master.notice(f"{path} cannot be read ({error.status}): {without}")
        return None


def quotas_if_allowed(master: LeadingMaster) -> dict[str, Quota] | None:
    """`read_quotas`, or None if this principal may not see them."""
    return read_if_allowed(master, "/quota", responses.quotas, "only the master checks the rules about existing quotas")


def capacity_if_allowed(master: LeadingMaster) -> Quantities | None:
    """Return the capacity of the cluster, or None if this principal may not see its agents."""
    return _if_allowed(master, "/slaves", lambda: read_capacity(master), "only the master checks whether it fits")


def read_capacity(master: LeadingMaster) -> Quantities:
    """Return the capacity of the cluster.  Raises Denied if this principal may not see its agents."""
    return capacity(_agents(master), master.profile)


def agents_if_allowed(master: LeadingMaster, without: str) -> list[AgentCapacity] | None:
    """Every registered agent; None, with a notice of the consequence, if this principal may not see them."""
    return _if_allowed(master, "/slaves", lambda: _agents(master), without)


def _agents(master: LeadingMaster) -> list[AgentCapacity]:
    found: AgentCapacities = master.stream("/slaves", agent_capacities)
    master.settings.learn("/slaves", {"slaves": found.names})
    return found.capacities


def usage_if_allowed(master: LeadingMaster) -> dict[str, RoleUsage] | None:
    """Return the usage of each known role, or None if this principal may not see that."""
    return read_if_allowed(master, "/roles", responses.roles, "usage is left out")


def read_roles(
    master: LeadingMaster, usages: Mapping[str, RoleUsage], quotas: Mapping[str, Quota], wanting: Collection[str] = ()
) -> dict[str, RoleStatus]:
    """Return the account of every role, from what /roles and /quota say and from what frameworks hold.

    `wanting` are roles of which it matters whether a framework wants offers.
    """
    from mesosctl.mesos.messages.frameworks import listed_frameworks  # late: a list without usage does not need it

    try:
        frameworks = listed_frameworks(master.ask("GET_FRAMEWORKS"))
    except Denied as error:
        master.notice(
            f"the frameworks cannot be read ({error.status}): revocable resources are counted with the others"
        )
        frameworks = None
    return account_of_roles(master, usages, quotas, frameworks, wanting=wanting)


def account_of_roles(
    master: LeadingMaster,
    usages: Mapping[str, RoleUsage],
    quotas: Mapping[str, Quota],
    frameworks: Sequence[ListedFramework] | None,
    metrics: Any = None,
    free: Callable[[Iterable[RoleStatus]], Quantities | None] = lambda _: None,
    wanting: Collection[str] = (),
) -> dict[str, RoleStatus]:
    """The same from frameworks that have been read.

    Which of them want offers is looked up in the master's metrics, and what is free in its agents, if that matters for
    one of the roles `wanting`, or for a role below its guarantee: `free` calculates it without them, or returns None.
    """
    agents = _AgentsOnce(master)
    hides_reserved = not master.profile.roles_are_a_tree and any(quota.guarantees for quota in quotas.values())
    reserved = agents.reserved() if hides_reserved and frameworks is not None else None
    found = roles_as_shown(usages, quotas, frameworks, master.profile, reserved)
    matters = any(
        status.standing == "wanting unknown"
        or (role in wanting and status.usage is not None and status.usage.wanting is None)
        for role, status in found.items()
    )
    if frameworks is not None and matters:
        try:
            told = suppressed_roles(master.get("/metrics/snapshot") if metrics is None else metrics)
        except MesosctlError:  # a master may not have them, or not show or send them
            pass
        else:
            known = [framework.with_suppressed(told.get(framework.id)) for framework in frameworks]
            found = roles_as_shown(usages, quotas, known, master.profile, reserved)

    def read_free() -> Quantities | None:
        calculated = free(found.values())
        return agents.free() if calculated is None else calculated

    return with_kept(found, read_free)


class _AgentsOnce:
    """Sums over the agents of a master, which are read when the first is asked for; None if they may not be seen."""

    def __init__(self, master: LeadingMaster) -> None:
        self._master = master

    @cached_property
    def _agents(self) -> list[RegisteredAgent] | None:
        try:
            agents: list[RegisteredAgent] = self._master.stream("/slaves", registered_agents)
        except Denied:
            return None
        return agents

    def free(self) -> Quantities | None:
        """The resources that are free and unreserved."""
        if self._agents is None:
            return None
        return sums_of_agents([agent_as_shown(agent) for agent in self._agents]).free

    def reserved(self) -> dict[str, Quantities] | None:
        """The resources that are reserved for each role itself."""
        if self._agents is None:
            return None
        return sums_by_owner(
            {role: owned.quantities() for role, owned in agent.total.by_owner().items()} for agent in self._agents
        )


def note_unknown_role(master: LeadingMaster, role: str, reserved: Quantities) -> None:
    """Tell the operator of a role that nothing uses, if a known one has nearly the same name.

    `reserved` is the amount that this command has just reserved for it. If the roles cannot be read, nothing is said.
    """
    try:
        known = responses.roles(master.get_once("/roles"))
    except MesosctlError:
        return
    usage = known.pop(role, None)
    if usage is not None and (usage.frameworks or usage.weight != 1 or usage.reserved - reserved):
        return
    if any(usage.frameworks and is_strict_subrole(name, role) for name, usage in known.items()):
        return
    # A role that nobody uses either is no better, and may have its quota by the same mistake.
    in_use = with_ancestors(name for name, usage in known.items() if usage.frameworks)
    likely = likely_role(role, in_use)
    if likely is not None:
        master.notice(f"no framework is subscribed to role '{role}'; did you mean {likely}?")


def status_at_limit(master: LeadingMaster, role: str, limits: Limits | None = None) -> RoleStatus | None:
    """Return the status of `role`, or of the one at the top of its path, if it is at or above a limit.

    The limits are those of the master, or `limits`.  None if the roles cannot be read.
    """
    top = top_level(role)
    try:
        answer = master.get_once("/roles")
        stored = responses.quota_of_role(answer, top)
        quota = stored if limits is None else Quota(stored.guarantees, limits)
        status = RoleStatus(top, quota, responses.roles(answer).get(top))
    except MesosctlError:
        return None
    return status if status.reached else None


def unmet_guarantees(
    master: LeadingMaster, free: Callable[[], Quantities], wished: Mapping[str, Quota] | None = None
) -> dict[str, Quantities]:
    """Return what each role lacks of its guarantee, of resources of which `free` is too little for all of them.

    `wished` are quotas of roles that have none yet. What is offered counts as free. Empty if every guarantee can be
    met, or if that cannot be read.
    """
    try:
        quotas = {**read_quotas(master), **(wished or {})}
        quotas = {role: quota for role, quota in quotas.items() if quota.guarantees}
        if not quotas:
            return {}
        usages, frameworks = responses.roles(master.get_once("/roles")), listed_frameworks(master.ask("GET_FRAMEWORKS"))
        statuses = account_of_roles(master, usages, quotas, frameworks)
    except MesosctlError:
        return {}
    lacking = {role: quota.guarantees - statuses[role].counted for role, quota in quotas.items()}
    if not any(lacking.values()):
        return {}
    short = Quantities.total(lacking.values()) - free()
    found = {
        role: Quantities({name: amounts[name] for name in amounts if name in short})
        for role, amounts in lacking.items()
    }
    return {role: amounts for role, amounts in found.items() if amounts}


def list_quotas(
    master: LeadingMaster,
    wanted: Selection = Selection(),  # noqa: B008  # it cannot change
    *,
    with_usage: bool = False,
) -> list[RoleStatus]:
    """The selected roles with quota, by default by name; their usage needs one more request.

    The amounts by which they are sorted are their guarantees.  Raises NotFound if one that is named has no quota, and
    UsageError for an unknown key.
    """
    quotas = read_quotas(master)
    missing = [role for role in dict.fromkeys(wanted.names) if role not in quotas]
    if missing:
        raise no_quota(missing, quotas)
    known = [quota.guarantees for quota in quotas.values()]
    quotas = {
        role: quota
        for role, quota in quotas.items()
        if is_in_branch(role, wanted.role) and (not wanted.names or role in wanted.names)
    }
    usages = usage_if_allowed(master) if with_usage and quotas else None
    roles = read_roles(master, usages, quotas) if usages else {}
    found = [roles[role] if roles else RoleStatus(role, quota) for role, quota in quotas.items()]
    keys: dict[str, SortKey[RoleStatus]] = {"role": lambda status: role_key(status.role)}
    return sort_entries(found, wanted.sort, keys, lambda status: status.quota.guarantees, known, own="role")


def show_quota(master: LeadingMaster, role: str) -> RoleStatus:
    """One role with quota and what it uses.  Raises NotFound for a role without quota."""
    quotas = read_quotas(master)
    if role not in quotas:
        raise no_quota([role], quotas)
    usages = usage_if_allowed(master)
    return read_roles(master, usages, quotas)[role] if usages else RoleStatus(role, quotas[role])


class QuotaOptions(NamedTuple):
    """The options of a change of quota.

    `force` skips the capacity heuristic and, for limits in UPDATE_QUOTA, the check of what a role consumes. `api` is
    auto, v0 or v1, `wait` reads back, `allow_new_resource` accepts names of resources that no agent has. An update
    creates quota for a role without one only with `create`, and changes an existing one unless `only_new`.  `capacity`
    is that of the cluster; if it is None, the master is asked for all its agents. `dry_run` only says that suggested
    commands are to be dry runs too.
    """

    force: bool = False
    api: str = "auto"
    wait: bool = True
    allow_new_resource: bool = False
    create: bool = False
    only_new: bool = False
    capacity: Quantities | None = None
    dry_run: bool = False


def check_names(master: LeadingMaster, fields: Mapping[str, str], had: Collection[str] = ()) -> None:
    """Raise RuleViolation for a name that no agent has; `fields` has the place of each name.

    `had` are names in the present quota. The agents are read only if a name is neither one of these nor a standard one.
    If they are not visible, a notice says so.
    """
    unfamiliar = [name for name in fields if name not in STANDARD_NAMES and name not in had]
    if not unfamiliar:
        return
    known = _names_of_agents(master, unfamiliar)
    if known is not None:
        broken = Violations()
        for name in unfamiliar:
            with broken.noted():
                check_name(name, known, fields[name])
        broken.refuse()


@contextmanager
def newer_version_named(master: LeadingMaster) -> Iterator[None]:
    """Name the fake master that has limits in a refusal of limits that an older fake master does not have."""
    try:
        yield
    except RuleViolation as error:
        is_older = master.fake is not None and not master.profile.knows_update_quota
        if error.rule == "quota.limits-need-update" and is_older:
            address, _, options = (master.fake or "").partition("?")
            kept = [option for option in options.split("&") if option and not option.startswith("version=")]
            newer = f"{address}?{'&'.join([*kept, f'version={MESOS_1_11.name}'])}"
            error.hint = f"use {options_text(master=newer)}, a fake master with limits, or leave the limits out"
        raise


def check_entries(master: LeadingMaster, entries: Iterable[Resource]) -> None:
    """The same for resources of arguments or a payload."""
    check_names(master, {entry.name: entry.name for entry in entries})


def _names_of_agents(master: LeadingMaster, unfamiliar: Sequence[str]) -> set[str] | None:
    named = ", ".join(f"'{name}'" for name in unfamiliar)
    found = agents_if_allowed(master, f"whether an agent has {named} is unknown")
    return None if found is None else {entry.name for agent in found for entry in agent.total}
