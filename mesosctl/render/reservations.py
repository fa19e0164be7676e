"""Reservations and volumes as reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.core import roles
from mesosctl.core.holdings import AgentChange, Holding, plain_text
from mesosctl.core.quantities import Quantities
from mesosctl.core.resource import Reservation
from mesosctl.core.resources import Resources
from mesosctl.render.quota import amounts_text
from mesosctl.render.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from mesosctl.render import reservation_documents as documents


def stack_text(stack: Sequence[Reservation]) -> str:
    """The roles from the bottom up, `ads > ads/video`, static ones marked."""
    return " > ".join(level.role + ("!" if level.type == "STATIC" else "") for level in stack)


def _labels(level: Reservation) -> str:
    pairs = level.labels or ()
    return ",".join(key if value is None else f"{key}={value}" for key, value in pairs) or "-"


def reservation_list(held: Sequence[Holding]) -> Report:
    """A line for every stack of every agent."""

    def items() -> "list[documents.ReservationEntry]":
        from mesosctl.render import reservation_documents

        return [reservation_documents.ReservationEntry.of(holding) for holding in held]

    def document() -> "documents.ReservationList":
        from mesosctl.render import reservation_documents

        return reservation_documents.ReservationList(reservations=items())

    columns = (
        Column("AGENT"),
        Column("ROLE"),
        Column("TYPE"),
        Column("RESOURCES"),
        Column("ALLOCATED"),
        Column("STACK"),
        Column("PRINCIPAL"),
        Column("LABELS"),
        Column("VOLUME", wide=True),
        Column("AGENT ID", wide=True),
    )
    rows = [
        [
            holding.agent.hostname,
            holding.owner.role,
            holding.owner.type.lower(),
            plain_text(holding.resources),
            plain_text(holding.allocated),
            stack_text(holding.stack),
            "-" if holding.owner.principal is None else holding.owner.principal,
            _labels(holding.owner),
            (holding.disk.persistence_id if holding.disk else None) or "-",
            holding.agent.id,
        ]
        for holding in held
    ]
    names = list(dict.fromkeys(holding.agent.id for holding in held))
    return Report(columns, rows, names, document, items, empty="nothing is reserved")


def volume_list(held: Sequence[Holding]) -> Report:
    """A line for every volume."""

    def items() -> "list[documents.ReservationEntry]":
        from mesosctl.render import reservation_documents

        return [reservation_documents.ReservationEntry.of(holding) for holding in held]

    def document() -> "documents.VolumeList":
        from mesosctl.render import reservation_documents

        return reservation_documents.VolumeList(volumes=items())

    columns = (
        Column("AGENT"),
        Column("ROLE"),
        Column("ID"),
        Column("SIZE"),
        Column("IN USE"),
        Column("PATH", wide=True),
    )
    rows = [
        [
            holding.agent.hostname,
            holding.owner.role,
            (holding.disk.persistence_id if holding.disk else None) or "-",
            plain_text(holding.resources),
            "yes" if len(holding.allocated) else "no",
            (holding.disk.container_path if holding.disk else None) or "-",
        ]
        for holding in held
    ]
    return Report(columns, rows, [row[2] for row in rows], document, items, empty="there are no volumes")


def agent_changes(changes: Sequence[AgentChange], *, planned: bool = False) -> Report:
    """What was accepted, and who shows it; or what is `planned`, of which nothing is done yet."""

    def document() -> "documents.AgentChanges":
        from mesosctl.render import reservation_documents

        return reservation_documents.AgentChanges.listing(changes)

    columns = (
        Column("AGENT"),
        Column("DONE"),
        Column("RESOURCES"),
        Column("STACK"),
        Column("MASTER", wide=True),
        Column("AGENT ITSELF", wide=True),
        Column("AGENT ID", wide=True),
    )
    rows = [
        [
            change.agent.hostname,
            NOTHING if planned else change.done,
            plain_text(part),
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


def reservation_tree(held: Sequence[Holding]) -> Report:
    """A line for every role, those below it indented; totals hold the roles below."""
    owners = {holding.owner.role for holding in held}
    names = sorted(owners.union(*map(roles.ancestors, owners)), key=lambda role: role.split("/"))

    def items() -> "list[documents.RoleBranch]":
        from mesosctl.render import reservation_documents as models
        from mesosctl.render.documents import amounts

        return [
            models.RoleBranch(
                role=role,
                static=amounts(_sum(held, role, "STATIC")),
                dynamic=amounts(_sum(held, role, "DYNAMIC")),
                allocated=amounts(Quantities.total(h.allocated.quantities() for h in held if h.owner.role == role)),
                total=amounts(_total(held, role)),
                agents=_agents(held, role),
            )
            for role in names
        ]

    def document() -> "documents.ReservationTree":
        from mesosctl.render import reservation_documents as models

        return models.ReservationTree(roles=items())

    columns = (
        Column("ROLE"),
        Column("TOTAL"),
        Column("STATIC"),
        Column("DYNAMIC"),
        Column("AGENTS"),
    )
    rows = [
        [
            "  " * role.count("/") + role.rpartition("/")[2],
            amounts_text(_total(held, role)),
            amounts_text(_sum(held, role, "STATIC")),
            amounts_text(_sum(held, role, "DYNAMIC")),
            str(_agents(held, role)),
        ]
        for role in names
    ]
    return Report(columns, rows, names, document, items, empty="nothing is reserved")


def _sum(held: Sequence[Holding], role: str, kind: str) -> Quantities:
    own = [holding for holding in held if holding.owner.role == role and holding.owner.type == kind]
    return Quantities.total(holding.resources.quantities() for holding in own)


def _within(held: Sequence[Holding], role: str) -> list[Holding]:
    return [h for h in held if h.owner.role == role or roles.is_strict_subrole(h.owner.role, role)]


def _total(held: Sequence[Holding], role: str) -> Quantities:
    return Quantities.total(holding.resources.quantities() for holding in _within(held, role))


def _agents(held: Sequence[Holding], role: str) -> int:
    return len({holding.agent.id for holding in _within(held, role)})
