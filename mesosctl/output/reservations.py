"""Reservations and volumes as reports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mesosctl.model import roles
from mesosctl.model.notation import natural
from mesosctl.model.quantities import Quantities
from mesosctl.model.reservations.holdings import AgentChange, AgentReservation, RegisteredAgent
from mesosctl.model.resource import Reservation
from mesosctl.model.resources import Resources
from mesosctl.model.roles import shared_hostnames, short_ids
from mesosctl.output.formats.amounts import amounts_text, plain_resources_text
from mesosctl.output.formats.report import NOTHING, Column, Report, Rows, naturally

if TYPE_CHECKING:
    from mesosctl.output.json_documents import reservations as documents


def agent_id_column(agents: Iterable[RegisteredAgent]) -> Column:
    """Return the column AGENT ID: with -o wide, and in every table if one of `agents` shares its host name.

    There the ids are shortened to a unique end; -o wide and csv have the whole ids.
    """
    short = {agent.id: agent.short_id for agent in agents if agent.short_id}
    return _id_column(short, is_needed=any(agent.shares_host for agent in agents))


def agent_id_column_of(hostnames: Mapping[str, str]) -> Column:
    """Return the same column if no more is known of the agents than their host names, by id."""
    shared = shared_hostnames(hostnames.values())
    return _id_column(short_ids(hostnames) if shared else {}, is_needed=bool(shared))


def _id_column(short: Mapping[str, str], *, is_needed: bool) -> Column:
    return Column("AGENT ID", wide=not is_needed, short=short, rank=-1)


STATIC_LEGEND = "! in STACK: static, by the flags of the agent, so it cannot be undone"


def stack_text(stack: Sequence[Reservation]) -> str:
    """The roles from the bottom up, `ads > ads/video`, static ones marked."""
    return " > ".join(level.role + ("!" if level.type == "STATIC" else "") for level in stack)


def _labels(level: Reservation) -> str:
    pairs = level.labels or ()
    return ",".join(key if value is None else f"{key}={value}" for key, value in pairs) or "-"


def _disk(holding: AgentReservation) -> str:
    """The separate disk that it is on, `MOUNT:/mnt/data`."""
    source = holding.source
    return NOTHING if source is None else source.type + (f":{source.root}" if source.root else "")


def _disk_column(held: Iterable[AgentReservation]) -> Column:
    """Return the column DISK: with -o wide, and in every table if something is on a separate disk.

    It is the last one, so that the others keep their places in csv.
    """
    return Column("DISK", wide=all(holding.source is None for holding in held))


def reservation_list(
    held: Sequence[AgentReservation], *, empty: str = "nothing is reserved", sort: str | None = None
) -> Report:
    """A line for every stack of every agent; `empty` is shown if there is none, and `sort` as in `naturally`."""

    def document() -> "documents.ReservationList":
        from mesosctl.output.json_documents import reservations

        return reservations.ReservationList(reservations=[])

    columns = (
        Column("AGENT"),
        Column("ROLE"),
        Column("TYPE", rank=1),
        Column("RESOURCES", kind="amounts"),
        Column("ALLOCATED", kind="amounts", rank=2),
        Column("STACK", rank=3),
        Column("PRINCIPAL", rank=4),
        Column("LABELS", rank=5),
        Column("VOLUME", wide=True),
        agent_id_column([holding.agent for holding in held]),
        _disk_column(held),
    )

    def row(holding: AgentReservation) -> list[str]:
        return [
            holding.agent.hostname,
            holding.owner.role,
            holding.owner.type.lower(),
            plain_resources_text(holding.resources),
            plain_resources_text(holding.allocated),
            stack_text(holding.stack),
            "-" if holding.owner.principal is None else holding.owner.principal,
            _labels(holding.owner),
            _volume(holding),
            holding.agent.id,
            _disk(holding),
        ]

    in_order = _in_order(held, sort)
    shown = Report(
        columns,
        Rows(in_order, row),
        list(dict.fromkeys(holding.agent.id for holding in in_order)),
        document,
        lambda: _entries(held),
        empty=empty,
        listing="reservations",
    )

    def drawn() -> Report:
        # A terminal shows a column only if it tells something: which part is a volume, which is refined.
        tells = {
            "VOLUME": any(_volume(holding) != NOTHING for holding in held),
            "STACK": any(len(holding.stack) > 1 for holding in held),
            "LABELS": any(_labels(holding.owner) != NOTHING for holding in held),
        }
        has_static = tells["STACK"] and any(level.type == "STATIC" for holding in held for level in holding.stack)
        return shown._replace(
            columns=[column._replace(wide=not tells.get(column.title, not column.wide)) for column in columns],
            remark=["", *_legend(has_static=has_static)] if tells["STACK"] else (),
        )

    return shown._replace(terminal=drawn)


def _legend(*, has_static: bool) -> Iterator[str]:
    """Return what the signs of STACK mean."""
    yield "STACK: the role on the left reserved first, and each role to its right has refined that"
    if has_static:
        yield STATIC_LEGEND


def _in_order(held: Sequence[AgentReservation], sort: str | None) -> Sequence[AgentReservation]:
    """By agent, unless `sort` has given them an order; what one agent has keeps its order."""
    return naturally(held, lambda one: one.agent.hostname, lambda one: one.agent.id, sort=sort)


def _entries(held: Iterable[AgentReservation]) -> "Iterator[documents.ReservationEntry]":
    from mesosctl.output.json_documents import reservations

    return map(reservations.ReservationEntry.of, held)


def volume_list(
    held: Sequence[AgentReservation], *, empty: str = "there are no volumes", sort: str | None = None
) -> Report:
    """A line for every volume; `empty` is shown if there is none, and `sort` as in `naturally`."""

    def document() -> "documents.VolumeList":
        from mesosctl.output.json_documents import reservations

        return reservations.VolumeList(volumes=[])

    columns = (
        Column("AGENT"),
        Column("ROLE"),
        Column("ID"),
        Column("SIZE", kind="amounts"),
        Column("IN USE", rank=1),
        Column("PATH", wide=True),
        agent_id_column([holding.agent for holding in held]),
        _disk_column(held),
    )

    def row(holding: AgentReservation) -> list[str]:
        return [
            holding.agent.hostname,
            holding.owner.role,
            _volume(holding),
            plain_resources_text(holding.resources),
            "yes" if len(holding.allocated) else "no",
            (holding.disk.container_path if holding.disk else None) or "-",
            holding.agent.id,
            _disk(holding),
        ]

    in_order = _in_order(held, sort)
    return Report(
        columns,
        Rows(in_order, row),
        [_volume(holding) for holding in in_order],
        document,
        lambda: _entries(held),
        empty=empty,
        listing="volumes",
    )


def _volume(holding: AgentReservation) -> str:
    return (holding.disk.persistence_id if holding.disk else None) or "-"


def agent_changes(changes: Sequence[AgentChange], *, planned: bool = False) -> Report:
    """Changes that were accepted, and whether master and agent show them; or `planned` ones, not made yet."""

    def document() -> "documents.AgentChanges":
        from mesosctl.output.json_documents import reservations

        return reservations.AgentChanges(changes=[reservations.AgentChange.of(change) for change in changes])

    columns = (
        Column("AGENT"),
        Column("DONE", rank=1),
        Column("RESOURCES", kind="amounts"),
        Column("STACK", rank=2),
        Column("MASTER", wide=True),
        Column("AGENT ITSELF", wide=True),
        agent_id_column([change.agent for change in changes]),
    )
    rows = [
        [
            change.agent.hostname,
            NOTHING if planned else change.done,
            plain_resources_text(part),
            stack_text(stack),
            "yes" if change.by_master else "not seen",
            "yes" if change.by_agent else "not seen",
            change.agent.id,
        ]
        for change in changes
        for stack, part in _by_stack(change.resources)
    ]
    return Report(columns, rows, [change.agent.id for change in changes], document, lambda: document().changes)


def _by_stack(resources: Resources) -> list[tuple[tuple[Reservation, ...], Resources]]:
    stacks = dict.fromkeys(entry.reservations for entry in resources)
    return [(stack, resources.filter(lambda entry, wanted=stack: entry.reservations == wanted)) for stack in stacks]  # type: ignore[misc]


@dataclass(slots=True)
class _Branch:
    """The amounts that a role owns itself, and those that it and the roles below it own together, on which agents."""

    static: Quantities = field(default_factory=Quantities)
    dynamic: Quantities = field(default_factory=Quantities)
    allocated: Quantities = field(default_factory=Quantities)
    total: Quantities = field(default_factory=Quantities)
    agents: set[str] = field(default_factory=set)


def _branches(held: Iterable[AgentReservation]) -> dict[str, _Branch]:
    """By role, including the parents of owners, in the order of the tree; each holding is read once."""
    found: dict[str, _Branch] = {}
    for holding in held:
        role, amounts = holding.owner.role, holding.resources.quantities()
        for name in (role, *roles.ancestors(role)):
            branch = found.setdefault(name, _Branch())
            branch.total += amounts
            branch.agents.add(holding.agent.id)
        own = found[role]
        own.allocated += holding.allocated.quantities()
        if holding.owner.type == "STATIC":
            own.static += amounts
        else:
            own.dynamic += amounts
    return dict(sorted(found.items(), key=lambda item: item[0].split("/")))


def reservation_tree(held: Sequence[AgentReservation], *, empty: str = "nothing is reserved") -> Report:
    """A line for every role, those below it indented; totals hold the roles below.  `empty` as in a list."""
    branches = _branches(held)

    def items() -> "list[documents.RoleBranch]":
        from mesosctl.output.json_documents import reservations as models
        from mesosctl.output.json_documents.document import amounts

        return [
            models.RoleBranch(
                role=role,
                static=amounts(branch.static),
                dynamic=amounts(branch.dynamic),
                allocated=amounts(branch.allocated),
                total=amounts(branch.total),
                agents=len(branch.agents),
            )
            for role, branch in branches.items()
        ]

    def document() -> "documents.ReservationTree":
        from mesosctl.output.json_documents import reservations as models

        return models.ReservationTree(roles=items())

    columns = (
        Column("ROLE"),
        Column("TOTAL", kind="amounts"),
        Column("STATIC", kind="amounts", rank=2),
        Column("DYNAMIC", kind="amounts", rank=2),
        Column("AGENTS", kind="number", rank=1),
    )
    in_order = dict(sorted(branches.items(), key=lambda item: [natural(part) for part in item[0].split("/")]))
    rows = [
        [
            "  " * role.count("/") + role.rpartition("/")[2],
            amounts_text(branch.total),
            amounts_text(branch.static),
            amounts_text(branch.dynamic),
            str(len(branch.agents)),
        ]
        for role, branch in in_order.items()
    ]
    return Report(columns, rows, list(in_order), document, items, empty=empty)
