"""The column of agents' ids: needed where host names do not tell agents apart."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.names import Spell, spelled
from mesosctl.mesos.roles import shared_hostnames, short_ids
from mesosctl.show.report import Column

Value = TypeVar("Value")


def agent_id_column(agents: Iterable[RegisteredAgent], cell: Callable[[Value], str]) -> Column[Value]:
    """Return the column AGENT ID: with -o wide, and in every table if one of `agents` shares its host name.

    There the ids are shortened to a unique end; -o wide and csv have the whole ids. `cell` is the id of a value's agent
    as it has to be typed.
    """
    short = {agent.typed_id: agent.short_id for agent in agents if agent.short_id}
    return _id_column(cell, short, is_needed=any(agent.shares_host for agent in agents))


def agent_id_column_of(
    hostnames: Mapping[str, str], cell: Callable[[Value], str], spell: Spell = spelled
) -> Column[Value]:
    """Return the same column if no more is known of the agents than their host names, by id.

    `cell` is the id of a value's agent, and `spell` writes it as it has to be typed.
    """
    shared = shared_hostnames(hostnames.values())
    short = short_ids(hostnames) if shared else {}
    in_short = {spell("id", agent_id): end for agent_id, end in short.items()}
    return _id_column(lambda value: spell("id", cell(value)), in_short, is_needed=bool(shared))


def _id_column(cell: Callable[[Value], str], short: Mapping[str, str], *, is_needed: bool) -> Column[Value]:
    return Column("AGENT ID", cell, wide=not is_needed, short=short, rank=-1)
