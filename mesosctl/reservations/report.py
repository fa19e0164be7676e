"""Reservations and volumes as reports."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.notation import natural
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import AcceptedOperation, AgentReservation
from mesosctl.mesos.names import spelled
from mesosctl.reservations import documents
from mesosctl.show.agent_column import agent_id_column
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import NOTHING, Column, Report, naturally

STATIC_LEGEND = "! in STACK: static, by the flags of the agent, so it cannot be undone"


def stack_text(stack: Sequence[Reservation]) -> str:
    """The roles from the bottom up, `ads > ads/video`, static ones marked."""
    return " > ".join(level.role + ("!" if level.type == "STATIC" else "") for level in stack)


def _labels(level: Reservation) -> str:
    return ",".join(key if value is None else f"{key}={value}" for key, value in level.labels or ())


def _disk(holding: AgentReservation) -> str | None:
    """The separate disk that it is on, `MOUNT:/mnt/data`."""
    source = holding.source
    return source and source.type + (f":{source.root}" if source.root else "")


def _disk_column(held: Iterable[AgentReservation]) -> Column[AgentReservation]:
    """Return the column DISK: with -o wide, and in every table if something is on a separate disk.

    It is the last one, so that the others keep their places in csv.
    """
    return Column("DISK", _disk, wide=all(holding.source is None for holding in held))


def reservation_list(
    held: Sequence[AgentReservation], *, empty: str = "nothing is reserved", sort: str | None = None
) -> Report:
    """A line for every stack of every agent; `empty` is shown if there is none, and `sort` as in `naturally`."""
    columns: Sequence[Column[AgentReservation]] = (
        Column("AGENT", lambda reservation: reservation.agent.typed_host),
        Column("ROLE", lambda reservation: reservation.owner.role),
        Column("TYPE", lambda reservation: reservation.owner.type.lower(), rank=1),
        Column("RESOURCES", lambda reservation: reservation.resources, kind="amounts"),
        Column("ALLOCATED", lambda reservation: reservation.allocated, kind="amounts", rank=2),
        Column("STACK", lambda reservation: stack_text(reservation.stack), rank=3),
        Column("PRINCIPAL", lambda reservation: reservation.owner.principal, rank=4),
        Column("LABELS", lambda reservation: _labels(reservation.owner), rank=5),
        Column("VOLUME", _volume, wide=not any(map(_volume, held))),
        agent_id_column([holding.agent for holding in held], lambda reservation: reservation.agent.typed_id),
        _disk_column(held),
    )
    in_order = _in_order(held, sort)
    shown = list_report(
        documents.ReservationList(reservations=[]),
        held,
        columns,
        names=list(dict.fromkeys(holding.agent.typed_id for holding in in_order)),
        in_order=in_order,
        empty=empty,
    )

    def drawn() -> Report:
        # A terminal shows a column only if it tells something: which part is a volume, which is refined.
        tells = {
            "VOLUME": any(_volume(holding) for holding in held),
            "STACK": any(len(holding.stack) > 1 for holding in held),
            "LABELS": any(_labels(holding.owner) for holding in held),
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
    return naturally(
        held, lambda reservation: reservation.agent.hostname, lambda reservation: reservation.agent.id, sort=sort
    )


def volume_list(
    held: Sequence[AgentReservation], *, empty: str = "there are no volumes", sort: str | None = None
) -> Report:
    """A line for every volume; `empty` is shown if there is none, and `sort` as in `naturally`."""
    in_order = _in_order(held, sort)
    return list_report(
        documents.VolumeList(volumes=[]),
        held,
        (
            Column("AGENT", lambda reservation: reservation.agent.typed_host),
            Column("ROLE", lambda reservation: reservation.owner.role),
            Column("ID", _volume),
            Column("SIZE", lambda reservation: reservation.resources, kind="amounts"),
            Column("IN USE", lambda reservation: len(reservation.allocated) > 0, rank=1),
            Column("PATH", lambda reservation: reservation.disk and reservation.disk.container_path, wide=True),
            agent_id_column([holding.agent for holding in held], lambda reservation: reservation.agent.typed_id),
            _disk_column(held),
        ),
        names=[_volume(holding) or NOTHING for holding in in_order],
        in_order=in_order,
        empty=empty,
    )


def _volume(holding: AgentReservation) -> str:
    return spelled("id", (holding.disk and holding.disk.persistence_id) or "")


class _ChangedStack(NamedTuple):
    """The part of a change that is under one stack."""

    change: AcceptedOperation
    stack: Sequence[Reservation]
    resources: Resources


def agent_changes(changes: Sequence[AcceptedOperation], *, planned: bool = False) -> Report:
    """Changes that were accepted, and whether master and agent show them; or `planned` ones, not made yet."""
    parts = [_ChangedStack(change, *part) for change in changes for part in _by_stack(change.resources)]
    columns: Sequence[Column[_ChangedStack]] = (
        Column("AGENT", lambda changed: changed.change.agent.typed_host),
        Column("DONE", lambda changed: None if planned else changed.change.done, rank=1),
        Column("RESOURCES", lambda changed: changed.resources, kind="amounts"),
        Column("STACK", lambda changed: stack_text(changed.stack), rank=2),
        Column("MASTER", lambda changed: _seen(is_seen=changed.change.by_master), wide=True),
        Column("AGENT ITSELF", lambda changed: _seen(is_seen=changed.change.by_agent), wide=True),
        agent_id_column([change.agent for change in changes], lambda changed: changed.change.agent.typed_id),
    )

    def document() -> documents.AgentChanges:
        return documents.AgentChanges(changes=[documents.AgentChange.of(change) for change in changes])

    names = [change.agent.typed_id for change in changes]
    return Report(columns, rows_of(columns, parts), names, document, lambda: document().changes)


def _seen(*, is_seen: bool) -> str:
    return "yes" if is_seen else "not seen"


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
    branches = list(_branches(held).items())
    return list_report(
        documents.ReservationTree(roles=[]),
        branches,
        (
            Column("ROLE", lambda row: "  " * row[0].count("/") + row[0].rpartition("/")[2]),
            Column("TOTAL", lambda row: row[1].total, kind="amounts"),
            Column("STATIC", lambda row: row[1].static, kind="amounts", rank=2),
            Column("DYNAMIC", lambda row: row[1].dynamic, kind="amounts", rank=2),
            Column("AGENTS", lambda row: len(row[1].agents), kind="number", rank=1),
        ),
        name=lambda row: row[0],
        element=lambda row: documents.RoleBranch.of(row[1], role=row[0], agents=len(row[1].agents)),
        in_order=sorted(branches, key=lambda row: [natural(part) for part in row[0].split("/")]),
        empty=empty,
    )
