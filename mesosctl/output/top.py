"""The overview of a cluster as a report, and as a screen that refreshes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mesosctl.model.amount_text import by_place, in_words, shown_amount
from mesosctl.model.errors import printable
from mesosctl.model.notation import counted, format_span
from mesosctl.model.quota.role_status import RoleStatus
from mesosctl.output.formats.amounts import BAR, amounts_text, bar
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report
from mesosctl.output.quota import MEANINGS, QUOTA_USE, guarantee_verdict, quota_amounts_text
from mesosctl.planning.account import Overview

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mesosctl.output.json_documents import cluster as documents

SORTS = ("share", "name", "status")
LEGEND = "█ used or reserved / ▒ guarantee / ░ limit  · rest of the cluster"
KEYS = "q quit   p pause   s sort   r reverse   ↑↓ scroll   space update"
_WIDEST_BAR = 40
_ROOMY = 100
"""Columns from which titles are written out; on fewer the legend explains `AMOUNTS`."""
_WORST_FIRST = ("below guarantee", "wanting unknown", "no frameworks", "met by offers")


@dataclass(slots=True)
class TopState:
    """The choices that were made by keys."""

    sort: str = SORTS[0]
    reverse: bool = False
    paused: bool = False
    top: int = 0
    """The number of roles that are scrolled away."""

    def press(self, key: str, rows: int) -> None:
        """Handle a key; ignore others."""
        if key == "s":
            self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        elif key == "r":
            self.reverse = not self.reverse
        elif key == "p":
            self.paused = not self.paused
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -10, "page down": 10}
        self.top = max(0, min(self.top + steps.get(key, 0), rows - 1))


def sorted_roles(overview: Overview, sort: str, *, reverse: bool = False) -> list[RoleStatus]:
    """Return the roles in an order: the largest share first, by name, or those below their guarantee first."""

    def used(role: RoleStatus) -> float:
        share = role.share_of(overview.total)
        return 0.0 if share is None else share.used

    keys: dict[str, Callable[[RoleStatus], Any]] = {
        "share": lambda role: (-used(role), role.role),
        "name": lambda role: role.role,
        "status": lambda role: (
            _WORST_FIRST.index(role.standing) if role.standing in _WORST_FIRST else len(_WORST_FIRST),
            role.role,
        ),
    }
    return sorted(overview.roles, key=keys[sort], reverse=reverse)


def overview_report(overview: Overview) -> Report:
    """The overview once: a line for every role, and below it offers and principals."""

    def document() -> "documents.Top":
        from mesosctl.output.json_documents import cluster

        return cluster.Top.of(overview)

    roles = sorted_roles(overview, SORTS[0])
    columns = (
        Column("ROLE"),
        Column("STATUS"),
        Column("RESOURCE"),
        Column("SHARE", kind="number"),
        Column("GUARANTEE"),
        Column("LIMIT"),
    )
    names = [role.role for role in roles]
    rows = [_plain_row(overview, role) for role in roles]
    used = f"used: {in_words(overview.used)} of {in_words(overview.total)}"
    if overview.revocable:
        used += f"; revocable, beyond that: {in_words(overview.revocable)}"
    remark = ["", _cluster_line(overview), used, *_offer_parts(overview), *_principal_parts(overview)]
    shown = Report(columns, rows, names, document, lambda: document().roles, remark=remark, empty="there are no roles")
    return shown._replace(terminal=lambda: _once(overview, roles))


def _plain_row(overview: Overview, role: RoleStatus) -> list[str]:
    share = role.share_of(overview.total)
    if share is None:
        return [role.role, role.standing, *[NOTHING] * 4]
    return [
        role.role,
        role.standing,
        share.resource,
        f"{share.used:.1%}",
        f"{share.guarantee:.1%}" if share.guarantee else NOTHING,
        NOTHING if share.limit is None else f"{share.limit:.1%}",
    ]


def _once(overview: Overview, roles: Sequence[RoleStatus]) -> Report:
    offers, principals = _offer_parts(overview), _principal_parts(overview)
    remark = [LEGEND, "", *_resource_lines(overview, _ROOMY), _cluster_line(overview), "", *offers, *principals]
    return _role_table(overview, roles, 12)._replace(remark=remark, verdicts=[guarantee_verdict(overview.roles)])


def _role_table(overview: Overview, roles: Sequence[RoleStatus], width: int, amounts: str = QUOTA_USE) -> Report:
    """Shares as bars of this many cells, which are the whole cluster; `amounts` is the title of the last column."""
    columns = (
        Column("ROLE"),
        Column("STATUS", meaning=MEANINGS, rank=1),
        Column("SHARE", kind="number", rank=-1),
        Column("OF", rank=-1),
        Column("CLUSTER", rank=-1),
        Column(amounts, rank=2),
    )
    rows = [_role_row(overview, role, width) for role in roles]
    return Report(columns, rows, (), _no_document, list, empty="there are no roles")


def _no_document() -> "documents.Top":
    raise AssertionError("the report that it stands for has the document")


def _role_row(overview: Overview, role: RoleStatus, width: int) -> list[str]:
    share = role.share_of(overview.total)
    if share is None:
        return [role.role, role.standing, NOTHING, NOTHING, NOTHING, NOTHING]
    drawn = bar(share.used, max(share.used, share.guarantee), 1.0, width).replace("░", "·")
    if share.limit is not None:
        reach = max(len(drawn.rstrip("·")), round(min(1.0, share.limit) * width))
        drawn = drawn.rstrip("·").ljust(reach, "░").ljust(width, "·")
    amounts = quota_amounts_text(role, share.resource)
    return [role.role, role.standing, f"{share.used:.0%}", share.resource, drawn, amounts]


def _cluster_line(overview: Overview) -> str:
    count = sum(overview.agents.values())
    states = ", ".join(f"{number} {state}" for state, number in overview.agents.items())
    agents = f"{counted(count, 'agent')} ({states})"
    roles = f"{len(overview.roles)} role{'s' * (len(overview.roles) != 1)}"
    frameworks = counted(overview.frameworks, "framework")
    unknown = f"; not visible to this principal: {', '.join(overview.unknown)}" if overview.unknown else ""
    return f"{agents}, {frameworks}, {roles}{unknown}"


_IDLE = ("reserved and idle", "reserved idle", "idle")
"""Words for what is reserved and neither used nor offered, for the narrower terminal each."""
_SHORTEST_BAR = 8


def _resource_lines(overview: Overview, room: int) -> list[str]:
    """A bar and the amounts of each resource, in this many columns if possible."""
    totals = sorted(overview.total.items(), key=by_place)
    texts: list[str] = []
    for word in _IDLE:
        texts = [_resource_amounts(overview, name, total, word) for name, total in totals]
        width = min(_WIDEST_BAR, room - len("cpus    100%  ") - max(map(len, texts), default=0))
        if width >= _SHORTEST_BAR:
            break
    for index, (name, total) in enumerate(totals):
        used, offered, idle = (held.get(name, 0) for held in (overview.used, overview.offered, overview.idle))
        drawn = bar(used, used + offered, total, max(BAR, width), kept=idle)
        texts[index] = f"{name:<5} {drawn} {used / total:>4.0%}  {texts[index]}"
    return texts


def _resource_amounts(overview: Overview, name: str, total: int, word: str) -> str:
    held = ((overview.used, "used"), (overview.idle, word), (overview.offered, "offered"))
    shown = [f"{shown_amount(name, has.get(name, 0))} {what}" for has, what in held if has.get(name) or what != word]
    if overview.revocable.get(name):
        shown.append(f"{shown_amount(name, overview.revocable[name])} revocable")
    return f"{', '.join(shown)} of {shown_amount(name, total)}"


def _offer_parts(overview: Overview, most: int = 20) -> "list[str | Report]":
    offers = overview.offers
    if not offers:
        return [f"no offer is outstanding{overview.recovery and ': '}{overview.recovery}"]
    columns = (
        Column("FRAMEWORK"),
        Column("OFFERS", kind="number"),
        Column("OLDEST", kind="number", rank=-1),
        Column("ROLES", rank=2),
        Column("RESOURCES", kind="amounts", rank=1),
    )
    rows = [
        [
            one.framework,
            str(one.offers),
            (f"{one.oldest:.0f}s" if one.oldest < 60 else format_span(one.oldest)) + " or more" * one.was_there,
            ",".join(one.roles),
            amounts_text(one.resources),
        ]
        for one in offers[:most]
    ]
    count = sum(one.offers for one in offers)
    more = f" to {len(offers)} frameworks; the {most} with the oldest offers" if len(offers) > most else ""
    title = f"{count} offer{' is' if count == 1 else 's are'} outstanding{more}:"
    return [title, Report(columns, rows, (), _no_document, list)]


def _principal_parts(overview: Overview) -> "list[str | Report]":
    if not overview.throttled:
        return ["no principal is throttled"]
    meanings: dict[str, Meaning] = {"full": "not met", "throttled": "at risk"}
    columns = (
        Column("PRINCIPAL"),
        Column("STATUS", meaning=meanings),
        Column("WAITING", kind="number"),
        Column("IN", kind="number"),
        Column("OUT", kind="number"),
    )
    rows = [
        [
            one.principal,
            "full" if one.is_full else "throttled",
            str(one.backlog),
            NOTHING if one.arriving is None else f"{one.arriving:.1f}/s",
            NOTHING if one.processing is None else f"{one.processing:.1f}/s",
        ]
        for one in overview.throttled
    ]
    return ["throttled principals:", Report(columns, rows, (), _no_document, list)]


@dataclass(frozen=True, slots=True)
class ScreenStatus:
    """The facts that a screen shows in addition to the cluster."""

    master: str
    every: float
    is_live: bool = False
    """Whether events of the master refresh it."""
    trouble: str | None = None
    events: Sequence[str] = ()


def top_screen(overview: Overview, state: TopState, around: ScreenStatus, width: int, height: int) -> "RenderableType":
    """The whole screen, of exactly this size: the rest is scrolled away or left out."""
    from rich.console import Group
    from rich.text import Text

    from mesosctl.output.formats.terminal import view

    at = time.strftime("%H:%M:%S", time.localtime(overview.taken_at))
    pace = "paused" if state.paused else f"updated {'at each event and ' * around.is_live}every {around.every:g}s"
    order = f"sorted by {state.sort}{', reversed' if state.reverse else ''}"
    title = f"{around.master}  Mesos {overview.version}  {at}  {pace}  {order}"
    if len(title) > width:
        title = f"{around.master}  {at}  {pace}  {order}"
    head = [
        Text(_cut(title, width).ljust(width), style="bold reverse"),
        Text(_cut(_cluster_line(overview), width)),
    ]
    if around.trouble:
        head.append(Text(_cut(f"no answer since {at}: {around.trouble}; trying again", width), style="bold red"))
    amounts, legend = (QUOTA_USE, LEGEND) if width >= _ROOMY else ("AMOUNTS", f"AMOUNTS: {LEGEND}")
    wide = max(8, min(_WIDEST_BAR, width - 45 - len(amounts)))
    head += [Text(_cut(line, width)) for line in _resource_lines(overview, width)]
    tail: list[Any] = []
    parts = [*_offer_parts(overview, 5), *_principal_parts(overview)]
    below = Report((), (), (), _no_document, list, remark=parts)
    tail += _lines_of(view(below, wide=False, width=width), width)
    tail += [Text(_cut(f"· {one}", width), style="dim") for one in list(around.events)[-2:]]
    room = height - len(head) - 3
    tail = tail[: max(1, room // 2)]
    roles = sorted_roles(overview, state.sort, reverse=state.reverse)
    rows = max(1, room - len(tail) - 4)
    state.top = max(0, min(state.top, len(roles) - rows))
    shown = roles[state.top : state.top + rows]
    scrolled = f"roles {state.top + 1} to {state.top + len(shown)} of {len(roles)}" if len(shown) < len(roles) else ""
    table = _lines_of(view(_role_table(overview, shown, wide, amounts), wide=False, width=width), width)[: rows + 2]
    middle = [Text(), *table, Text(_cut(scrolled or legend, width), style="dim"), Text()]
    lines = [*head, *middle, *tail][: height - 1]
    lines += [Text()] * (height - 1 - len(lines))
    return Group(*lines, Text(_cut(KEYS, width).ljust(width), style="reverse", end=""))


def _cut(line: str, width: int) -> str:
    line = printable(line)
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"


def _lines_of(shown: "RenderableType", width: int) -> "list[Any]":
    """The lines of a view, each a Text in its colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=width, highlight=False, markup=False, color_system="standard", force_terminal=True)
    lines = console.render_lines(shown, pad=False)
    return [Text.assemble(*((segment.text, segment.style or "") for segment in line)) for line in lines]
