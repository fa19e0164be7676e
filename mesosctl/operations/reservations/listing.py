"""The lists of reservations and volumes."""

from collections.abc import Sequence
from typing import NamedTuple

from mesosctl.client.leading_master import Master
from mesosctl.model.notation import natural
from mesosctl.model.reservations.holdings import AgentReservation, RegisteredAgent, agent_reservations
from mesosctl.model.suggestion import command
from mesosctl.operations.cluster import Progress
from mesosctl.operations.list_selection import Selection, SortKey, entries_named, role_key, sort_entries
from mesosctl.operations.reservations.targets import find_agent, has_attributes, read_agents


class ReservedParts(NamedTuple):
    """The reservations or volumes that were found."""

    parts: list[AgentReservation]
    roles: frozenset[str]
    """Their owners; if none was found, those of all that could have been selected."""


def list_reservations(
    master: Master, wanted: Selection, agent: str | None, progress: Progress = lambda *_: None
) -> ReservedParts:
    """Return the reservations of the selected agents and roles, by default by agent.

    Raises NotFound for an agent that does not exist, UsageError for a word that several match, and for an unknown key.
    """
    return _listed(master, wanted, agent, progress, volumes=False)


def list_volumes(
    master: Master, wanted: Selection, agent: str | None, progress: Progress = lambda *_: None
) -> ReservedParts:
    """The same of volumes, which can be selected by their ids too.  Raises NotFound for an id that none has."""
    return _listed(master, wanted, agent, progress, volumes=True)


def _listed(
    master: Master, wanted: Selection, agent: str | None, progress: Progress, *, volumes: bool
) -> ReservedParts:
    agents = read_agents(master, progress)
    on = [find_agent(agents, agent)] if agent is not None else agents

    def parts(of: Sequence[RegisteredAgent], role: str | None) -> list[AgentReservation]:
        return [part for one in of for part in agent_reservations(one, role) if not volumes or part.volume]

    selects = bool(wanted.names or wanted.role or wanted.attributes or agent)
    found = parts([one for one in on if has_attributes(one, wanted.attributes)], wanted.role)
    if wanted.names:
        known = entries_named(
            parts(agents, None),
            wanted.names,
            lambda one: (_volume_id(one),),
            noun="volume",
            field="volume",
            otherwise=f"{command('volumes list')} shows all of them",
        )
        names = {_volume_id(part) for part in known}
        found = [part for part in found if _volume_id(part) in names]
    keys: dict[str, SortKey[AgentReservation]] = {
        "agent": lambda one: (natural(one.agent.hostname), one.agent.id),
        "role": lambda one: role_key(one.owner.role),
    }
    if volumes:
        keys["id"] = lambda one: natural(_volume_id(one))
    else:
        keys["type"] = lambda one: one.owner.type
        keys["principal"] = lambda one: (one.owner.principal is None, one.owner.principal)
    amounts = (one.total.quantities() for one in agents)
    ordered = sort_entries(found, wanted.sort, keys, lambda one: one.resources.quantities(), amounts)
    everything = parts(agents, None) if selects and not found else found
    return ReservedParts(ordered, frozenset(part.owner.role for part in everything))


def _volume_id(part: AgentReservation) -> str:
    return (part.volume.persistence_id if part.volume else None) or ""
