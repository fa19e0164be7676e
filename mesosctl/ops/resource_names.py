"""The rule on names of resources, as every command and every file asks it (`core.resource_names`)."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from mesosctl.client.master import Master
from mesosctl.core.quantities import Limits, Quantities, Quota
from mesosctl.core.resource import Resource
from mesosctl.core.resource_names import STANDARD_NAMES, check_name


def check_names(master: Master, fields: Mapping[str, str], had: Collection[str] = ()) -> None:
    """Raises RuleViolation for a name that no agent has; `fields` says where each name stands.

    `had` are names that what is changed has already.  The agents are asked for only where a name is
    neither one of these nor a standard one.  Where they may not be seen, a notice says so.
    """
    unfamiliar = [name for name in fields if name not in STANDARD_NAMES and name not in had]
    if not unfamiliar:
        return
    known = _names_of_agents(master, unfamiliar)
    if known is not None:
        for name in unfamiliar:
            check_name(name, known, fields[name])


def check_entries(master: Master, entries: Iterable[Resource]) -> None:
    """The same for resources as words or a payload name them."""
    check_names(master, {entry.name: entry.name for entry in entries})


def fields_of_quota(guarantees: Quantities | None, limits: Limits | None) -> dict[str, str]:
    """The names in a quota, and where they stand."""
    parts = {"guarantees": guarantees or (), "limits": limits or ()}
    return {name: f"{part}.{name}" for part, names in parts.items() for name in names}


def names_of_quota(quota: Quota | None) -> set[str]:
    """The names in a quota."""
    return set() if quota is None else {*quota.guarantees, *quota.limits}


def _names_of_agents(master: Master, unfamiliar: Sequence[str]) -> set[str] | None:
    from mesosctl.ops.quota.state import agents_if_allowed

    named = ", ".join(f"'{name}'" for name in unfamiliar)
    found = agents_if_allowed(master, f"whether an agent has {named} cannot be told")
    return None if found is None else {entry.name for agent in found for entry in agent.total}
