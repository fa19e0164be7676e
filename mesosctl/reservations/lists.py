"""The lists of reservations and volumes."""

from collections.abc import Sequence

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import natural
from mesosctl.mesos.cluster.holdings import AgentReservation, RegisteredAgent, agent_reservations
from mesosctl.mesos.names import VOLUME, Names
from mesosctl.reading.lists import Progress
from mesosctl.reading.selection import Selection, SortKey, role_key, sort_entries
from mesosctl.reading.targets import find_agent, has_attributes, read_agents
from mesosctl.suggestion import command


def list_reservations(
    master: LeadingMaster, wanted: Selection, agent: str | None, progress: Progress = lambda *_: None
) -> list[AgentReservation]:
    """Return the reservations of the selected agents and roles, by default by agent.

    Raises NotFound for an agent that does not exist, UsageError for a word that several match, and for an unknown key.
    """
    return _listed(master, wanted, agent, progress, volumes=False)


def list_volumes(
    master: LeadingMaster, wanted: Selection, agent: str | None, progress: Progress = lambda *_: None
) -> list[AgentReservation]:
    """The same of volumes, which can be selected by their ids too.  Raises NotFound for an id that none has."""
    return _listed(master, wanted, agent, progress, volumes=True)


def _listed(
    master: LeadingMaster, wanted: Selection, agent: str | None, progress: Progress, *, volumes: bool
) -> list[AgentReservation]:
    agents = read_agents(master, progress)
    on = [find_agent(agents, agent)] if agent is not None else agents

    def parts(of: Sequence[RegisteredAgent], role: str | None) -> list[AgentReservation]:
        return [
            part for registered in of for part in agent_reservations(registered, role) if not volumes or part.volume
        ]

    found = parts([registered for registered in on if has_attributes(registered, wanted.attributes)], wanted.role)
    if wanted.names:
        known = Names(parts(agents, None), lambda reservation: (("id", _volume_id(reservation)),), VOLUME)
        meant = known.chosen(wanted.names, "volume", f"{command('volumes list')} shows all of them")
        ids = {_volume_id(part) for part in meant}
        found = [part for part in found if _volume_id(part) in ids]
    keys: dict[str, SortKey[AgentReservation]] = {
        "agent": lambda reservation: (natural(reservation.agent.hostname), reservation.agent.id),
        "role": lambda reservation: role_key(reservation.owner.role),
    }
    if volumes:
        keys["id"] = lambda reservation: natural(_volume_id(reservation))
    else:
        keys["type"] = lambda reservation: reservation.owner.type
        keys["principal"] = lambda reservation: (reservation.owner.principal is None, reservation.owner.principal)
    amounts = (registered.total.quantities() for registered in agents)
    return sort_entries(found, wanted.sort, keys, lambda reservation: reservation.resources.quantities(), amounts)


def _volume_id(part: AgentReservation) -> str:
    return (part.volume.persistence_id if part.volume else None) or ""
