"""What a master says of quota, and what it may not say to everybody."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from mesosctl.client.master import Master
from mesosctl.core.errors import Denied, MesosctlError, NotFound
from mesosctl.core.quantities import Quantities, Quota
from mesosctl.core.standing import RoleStanding, RoleUsage
from mesosctl.wire import answers

if TYPE_CHECKING:
    from mesosctl.core.capacity import AgentCapacity

Value = TypeVar("Value")


def read_quotas(master: Master) -> dict[str, Quota]:
    """Every role with an entry that this principal may see, sorted."""
    return answers.quotas(master.get("/quota"))


def sees_every_role(master: Master) -> bool:
    """Whether a role that GET /quota leaves out certainly has no quota, rather than being hidden by an ACL."""
    try:
        return answers.shows_everything(master.get("/flags"))
    except MesosctlError:
        return False


def read_if_allowed(master: Master, path: str, reader: Callable[[Any], Value], without: str) -> Value | None:
    """What `reader` makes of the JSON at `path`; None, with a notice, where this principal may not see it.

    `without` says what is left out then ("whether it fits is left to the master").
    """
    return _if_allowed(master, path, lambda: reader(master.get(path)), without)


def _if_allowed(master: Master, path: str, read: Callable[[], Value], without: str) -> Value | None:
    try:
        return read()
    except Denied as error:
        master.notice(f"{path} may not be read ({error.status}): {without}")
        return None


def quotas_if_allowed(master: Master) -> dict[str, Quota] | None:
    """`read_quotas`, or None where they may not be seen."""
    return read_if_allowed(master, "/quota", answers.quotas, "the rules on existing quotas are left to the master")


def capacity_if_allowed(master: Master) -> Quantities | None:
    """What the cluster can promise, or None where its agents may not be seen."""
    from mesosctl.core.capacity import capacity

    found = agents_if_allowed(master, "whether it fits is left to the master")
    return None if found is None else capacity(found, master.profile)


def agents_if_allowed(master: Master, without: str) -> "list[AgentCapacity] | None":
    """What every registered agent has; None, with a notice that says what is left out, where they may not be seen."""
    from mesosctl.wire.agents import Registered, registered

    def read() -> Registered:
        found: Registered = master.stream("/slaves", registered)
        master.settings.learn("/slaves", {"slaves": found.names})
        return found

    found = _if_allowed(master, "/slaves", read, without)
    return None if found is None else found.capacities


def usage_if_allowed(master: Master) -> dict[str, RoleUsage] | None:
    """What each known role holds, or None where that may not be seen."""
    return read_if_allowed(master, "/roles", answers.roles, "usage is left out")


def list_quotas(master: Master, *, with_usage: bool = False) -> list[RoleStanding]:
    """Every role with quota, by name; what they use costs one more question."""
    quotas = read_quotas(master)
    usage = (usage_if_allowed(master) if with_usage and quotas else None) or {}
    return [RoleStanding(role, quota, usage.get(role)) for role, quota in quotas.items()]


def show_quota(master: Master, role: str) -> RoleStanding:
    """One role with quota and what it uses.  Raises NotFound for a role without quota."""
    quotas = read_quotas(master)
    if role not in quotas:
        raise no_quota([role], quotas)
    return RoleStanding(role, quotas[role], (usage_if_allowed(master) or {}).get(role))


def no_quota(roles: list[str], known: Iterable[str]) -> NotFound:
    """The error for roles without quota; `known` are those with one."""
    from mesosctl.core.suggestion import did_you_mean

    names = ", ".join(f"'{role}'" for role in roles)
    return NotFound(
        f"no quota is set for {names}, or this principal may not see it",
        field="role",
        rule="quota.exists",
        hint=did_you_mean(roles, known, "mesosctl quota list shows which roles have one"),
    )
