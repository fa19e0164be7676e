"""The column that tells agents apart where several of them share a host name."""

from collections.abc import Iterable, Mapping

from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.roles import shared_hostnames, short_ids
from mesosctl.output.formats.report import Column


def agent_id_column(agents: Iterable[RegisteredAgent]) -> Column:
    """Return the column AGENT ID: with -o wide, and in every table where one of `agents` shares its host name.

    There the ids are shortened to what means one agent alone; -o wide and csv have the whole ids.
    """
    short = {agent.id: agent.short_id for agent in agents if agent.short_id}
    return _column(short, is_needed=any(agent.shares_host for agent in agents))


def agent_id_column_of(hostnames: Mapping[str, str]) -> Column:
    """Return the same column where no more is known of the agents than their host names, by id."""
    shared = shared_hostnames(hostnames.values())
    return _column(short_ids(hostnames) if shared else {}, is_needed=bool(shared))


def _column(short: Mapping[str, str], *, is_needed: bool) -> Column:
    return Column("AGENT ID", wide=not is_needed, short=short, rank=-1)
