"""The overview of a cluster as a report, and as a screen that refreshes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mesosctl.model.amount_text import by_place, exact_percent_text, in_words, percent_text, shown_amount
from mesosctl.model.notation import counted, format_span
from mesosctl.model.quota.role_status import RoleStatus
from mesosctl.output.formats.amounts import BAR, amounts_text, bar
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report
from mesosctl.output.formats.screen import cut, moved
from mesosctl.output.quota import MEANINGS, QUOTA_USE, guarantee_verdict, quota_amounts_text
from mesosctl.planning.account import Overview

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mesosctl.model.offers.frameworks import ListedFramework
    from mesosctl.output.json_documents import cluster as documents
    from mesosctl.planning.account import WaitingOffers

SORTS = ("share", "name", "status")
LEGEND = "█ used or reserved / ▒ guarantee / ░ limit  · rest of the cluster"
KEYS = "q quit   ? help   / filter   Enter one role   Tab next table   s sort   p pause"
LARGE = ("roles", "frameworks", "agents", "offers")
"""The tables that may have most of the screen, by the keys 1 to 4."""
HELP = """\
1 2 3 4   show roles, frameworks, agents or offers large; Tab shows the next of them
↑ ↓       choose a line (also j and k); Page up and Page down move ten lines, Home and End to the first and last
Enter     one role: its frameworks, its offers, and why it is not offered more
/         show only what has these letters in its name; Enter ends typing, Esc shows everything again
s         sort roles by share, name or status
r         reverse the order
p         pause, or go on
space     read the cluster now
Esc       back from one role, from a filter and from this help; else quit
q         quit

█ used or reserved, ▒ up to the guarantee, ░ up to the limit, · rest of the cluster
"below guarantee" roles come first if you sort by status. An "or more" age is of an offer older than the first reading.
"""
_PAGE = 10
"""Lines that Page up and Page down move."""
_MOST_LINES = 100_000
"""More lines than there are of one role."""
_WIDEST_BAR = 40
_ROOMY = 100
"""Columns from which titles are written out; on fewer the legend explains `AMOUNTS`."""
_VERY_ROOMY = 160
"""Columns from which roles have their weight, frameworks, and what they use of everything."""
_WORST_FIRST = ("below guarantee", "wanting unknown", "no frameworks", "met by offers")


@dataclass(slots=True)
class TopState:
    """The choices that were made by keys."""

    sort: str = SORTS[0]
    reverse: bool = False
    paused: bool = False
    large: str = LARGE[0]
    """The table that has most of the screen."""
    selected: int = 0
    """The line of it that is chosen."""
    top: int = 0
    """The number of its lines that are scrolled away."""
    filter: str = ""
    """Letters of the names that are shown."""
    typing: bool = False
    """Whether keys are letters of the filter."""
    helping: bool = False
    role: str | None = None
    """The role that is shown alone."""
    is_over: bool = False

    def press(self, key: str, names: Sequence[str]) -> None:
        """Handle a key, where the large table has the lines of these names; ignore others."""
        if key == "eof":
            self.is_over = True
        elif self.typing:
            self._type(key)
        elif self.helping:
            self.helping = False
            self.is_over = key == "q"
        elif key in ("q", "escape"):
            self._leave(key)
        elif key in ("s", "r", "p", "/", "?"):
            self._choose(key)
        elif key == "tab" or key in {str(place) for place, _ in enumerate(LARGE, 1)}:
            place = (LARGE.index(self.large) + 1) % len(LARGE) if key == "tab" else int(key) - 1
            self.large, self.role, self.selected, self.top = LARGE[place], None, 0, 0
        elif key == "enter" and self.large == "roles" and self.role is None and names:
            self.role, self.top = names[min(self.selected, len(names) - 1)], 0
        else:
            self._move(key, len(names))

    def _type(self, key: str) -> None:
        if key in ("enter", "escape"):
            self.typing = False
            self.filter = self.filter if key == "enter" else ""
        elif key == "backspace":
            self.filter = self.filter[:-1]
        elif len(key) == 1 and key.isprintable():
            self.filter += key
        self.selected = self.top = 0

    def _leave(self, key: str) -> None:
        """Go back one step; at the first, and by "q", leave."""
        if key == "escape" and self.role is not None:
            self.role, self.top = None, 0
        elif key == "escape" and self.filter:
            self.filter = ""
        else:
            self.is_over = True

    def _choose(self, key: str) -> None:
        if key == "s":
            self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        elif key == "r":
            self.reverse = not self.reverse
        elif key == "p":
            self.paused = not self.paused
        elif key == "?":
            self.helping = True
        else:
            self.typing, self.filter, self.role = True, "", None

    def _move(self, key: str, rows: int) -> None:
        if self.role is None:
            self.selected = moved(self.selected, key, page=_PAGE, last=max(0, rows - 1))
        else:
            self.top = moved(self.top, key, page=_PAGE, last=_MOST_LINES)  # the screen knows how many there are


Aside = Report | str | None
"""A table that is read only while it is shown: agents, or why a role waits.

A sentence says why it cannot be read; None: it is being read.
"""


def names_of(overview: Overview, state: TopState, aside: Aside) -> list[str]:
    """Return the names in the lines of the large table, in order."""
    if state.large == "roles":
        return [role.role for role in _matching_roles(overview, state)]
    return [row[0] for row in _rows_of(overview, state, aside).rows]


def _matching_roles(overview: Overview, state: TopState) -> list[RoleStatus]:
    roles = sorted_roles(overview, state.sort, reverse=state.reverse)
    return [role for role in roles if state.filter in role.role]


def _rows_of(overview: Overview, state: TopState, aside: Aside) -> Report:
    """Return another large table than that of roles: those of its lines that match."""
    if state.large == "frameworks":
        report = _frameworks(overview.listed)
    elif state.large == "offers":
        report = _offer_table(overview.offers) if overview.offers else Report((), (), (), _no_document, list)
        report = report._replace(empty=f"no offer is outstanding{overview.recovery and ': '}{overview.recovery}")
    else:
        report = (
            _bare(aside) if isinstance(aside, Report) else Report((), (), (), _no_document, list, empty=_waits(aside))
        )
    rows = [row for row in report.rows if state.filter in row[0]]
    rows = rows[::-1] if state.reverse else rows
    return report._replace(rows=rows, empty=report.empty if not report.rows else f"no name has '{state.filter}' in it")


def _waits(aside: Aside) -> str:
    return aside if isinstance(aside, str) else "reading …"


def _frameworks(listed: "Sequence[ListedFramework]") -> Report:
    from mesosctl.output.cluster import framework_list

    return _bare(framework_list(listed))


def _bare(report: Report) -> Report:
    """The table of a report alone."""
    return report._replace(terminal=None, remark=(), verdicts=(), detail=())


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
        exact_percent_text(share.used),
        exact_percent_text(share.guarantee) if share.guarantee else NOTHING,
        NOTHING if share.limit is None else exact_percent_text(share.limit),
    ]


def _once(overview: Overview, roles: Sequence[RoleStatus]) -> Report:
    offers, principals = _offer_parts(overview), _principal_parts(overview)
    remark = [LEGEND, "", *_resource_lines(overview, _ROOMY), _cluster_line(overview), "", *offers, *principals]
    return _role_table(overview, roles, 12)._replace(remark=remark, verdicts=[guarantee_verdict(overview.roles)])


def _role_table(
    overview: Overview, roles: Sequence[RoleStatus], width: int, amounts: str = QUOTA_USE, *, full: bool = False
) -> Report:
    """Shares as bars of this many cells, which are the whole cluster; `amounts` is the title of the last column.

    `full` adds columns for a wide terminal.
    """
    columns: tuple[Column, ...] = (
        Column("ROLE"),
        Column("STATUS", meaning=MEANINGS, rank=1),
        Column("SHARE", kind="number", rank=-1),
        Column("OF", rank=-1),
        Column("CLUSTER", rank=-1),
        Column(amounts, rank=2),
    )
    rows = [_role_row(overview, role, width) for role in roles]
    if full:
        more = (
            Column("FRAMEWORKS", kind="number", rank=3),
            Column("WEIGHT", kind="number", rank=3),
            Column("USED", kind="amounts", rank=4),
            Column("MISSING", kind="amounts", rank=3),
        )
        columns = (*columns, *more)
        rows = [[*row, *_full_cells(role)] for row, role in zip(rows, roles, strict=True)]
    return Report(columns, rows, (), _no_document, list, empty="there are no roles")


def _full_cells(role: RoleStatus) -> list[str]:
    usage = role.usage
    frameworks = NOTHING if usage is None else str(usage.subscribers or usage.frameworks)
    weight = NOTHING if role.weight is None else f"{role.weight:g}"
    return [frameworks, weight, amounts_text(role.used) or NOTHING, amounts_text(role.missing) or NOTHING]


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
    return [role.role, role.standing, percent_text(share.used), share.resource, drawn, amounts]


def _cluster_line(overview: Overview) -> str:
    by_state = dict(overview.agents)
    if "inactive" in by_state:  # a master counts those that are disconnected as inactive too
        by_state["inactive"] -= by_state.get("disconnected", 0)
    states = ", ".join(f"{number} {state}" for state, number in by_state.items() if number or state == "active")
    agents = f"{counted(sum(by_state.values()), 'agent')} ({states})"
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
        width = min(_WIDEST_BAR, room - len("cpus    99.9%  ") - max(map(len, texts), default=0))
        if width >= _SHORTEST_BAR:
            break
    for index, (name, total) in enumerate(totals):
        used, offered, idle = (held.get(name, 0) for held in (overview.used, overview.offered, overview.idle))
        drawn = bar(used, used + offered, total, max(BAR, width), kept=idle)
        texts[index] = f"{name:<5} {drawn} {percent_text(used / total):>5}  {texts[index]}"
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
    count = sum(one.offers for one in offers)
    more = f" to {len(offers)} frameworks; the {most} with the oldest offers" if len(offers) > most else ""
    title = f"{count} offer{' is' if count == 1 else 's are'} outstanding{more}:"
    return [title, _offer_table(offers[:most])]


def _offer_table(offers: "Sequence[WaitingOffers]") -> Report:
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
        for one in offers
    ]
    return Report(columns, rows, (), _no_document, list)


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


def top_screen(
    overview: Overview, state: TopState, around: ScreenStatus, width: int, height: int, aside: Aside = None
) -> "RenderableType":
    """The whole screen, of exactly this size: the rest is scrolled away or left out."""
    from rich.console import Group
    from rich.text import Text

    head = _head(overview, state, around, width)
    room = height - len(head) - 1
    if state.helping:
        body = [Text(cut(line, width)) for line in ["", *HELP.splitlines()]]
    elif state.role is not None:
        body = _one_role(overview, state, aside, width, room)
    else:
        body = _tables(overview, state, around, width, room, aside)
    lines = [*head, *body][: height - 1]
    lines += [Text()] * (height - 1 - len(lines))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    keys = f"/{state.filter}█   Enter ends typing   Esc shows everything" if state.typing else KEYS
    return Group(*lines, Text(cut(keys, width).ljust(width), style="reverse", end=""))


def _head(overview: Overview, state: TopState, around: ScreenStatus, width: int) -> "list[Any]":
    from rich.text import Text

    at = time.strftime("%H:%M:%S", time.localtime(overview.taken_at))
    pace = "paused" if state.paused else f"updated {'at each event and ' * around.is_live}every {around.every:g}s"
    order = f"sorted by {state.sort}{', reversed' if state.reverse else ''}"
    title = f"{around.master}  Mesos {overview.version}  {at}  {pace}  {order}"
    if len(title) > width:
        title = f"{around.master}  {at}  {pace}  {order}"
    head = [Text(cut(title, width).ljust(width), style="bold reverse"), Text(cut(_cluster_line(overview), width))]
    if around.trouble:
        head.append(Text(cut(f"no answer since {at}: {around.trouble}; trying again", width), style="bold red"))
    return [*head, *(Text(cut(line, width)) for line in _resource_lines(overview, width))]


def _tables(
    overview: Overview, state: TopState, around: ScreenStatus, width: int, room: int, aside: Aside
) -> "list[Any]":
    """The large table, and below it the others as far as there is room."""
    from rich.text import Text

    parts = [*_offer_parts(overview, 5), *_principal_parts(overview)] if state.large == "roles" else []
    tail = _report_lines(parts, width) if parts else []
    tail += [Text(cut(f"· {one}", width), style="dim") for one in list(around.events)[-2:]]
    tail = tail[: max(1, (room - 2) // 2)]
    names = names_of(overview, state, aside)
    rows = max(1, room - 2 - len(tail) - 4)
    state.selected = max(0, min(state.selected, len(names) - 1))
    state.top = max(0, min(state.top, len(names) - rows, state.selected), state.selected - rows + 1)
    table, legend = _large(overview, state, aside, width, rows)
    shown = min(rows, len(names) - state.top)
    if shown > 0:
        titles = len(table) - shown  # one line or, with amounts in columns, two
        table[titles + state.selected - state.top].stylize("reverse")
    if shown < len(names):
        legend = f"{state.large} {state.top + 1} to {state.top + shown} of {len(names)}"
    if state.filter:
        legend = f"with '{state.filter}': {legend}" if legend else f"with '{state.filter}' in the name"
    lines = [Text(), *table[: rows + 2], Text(cut(legend, width), style="dim"), Text(), *tail]
    if state.large == "roles" and room - len(lines) > len(_TITLE_LINES) + 1 and overview.listed:
        listed = _bare(_frameworks(overview.listed))
        most = room - len(lines) - len(_TITLE_LINES)
        lines += [Text(), *_lines_of_report(listed._replace(rows=listed.rows[: most - 1]), width)[:most]]
    return lines


_TITLE_LINES = ("", "title")
"""Lines of a table that are not rows of it."""


def _large(overview: Overview, state: TopState, aside: Aside, width: int, rows: int) -> "tuple[list[Any], str]":
    """The lines of the large table, its title first, and what is said below it."""
    if state.large != "roles":
        report = _rows_of(overview, state, aside)
        return _lines_of_report(report._replace(rows=report.rows[state.top : state.top + rows]), width), ""
    amounts, legend = (QUOTA_USE, LEGEND) if width >= _ROOMY else ("AMOUNTS", f"AMOUNTS: {LEGEND}")
    wide = max(8, min(_WIDEST_BAR, width - 45 - len(amounts)))
    roles = _matching_roles(overview, state)[state.top : state.top + rows]
    return _lines_of_report(_role_table(overview, roles, wide, amounts, full=width >= _VERY_ROOMY), width), legend


def _one_role(overview: Overview, state: TopState, aside: Aside, width: int, room: int) -> "list[Any]":
    """One role: its line, its frameworks and offers, and why it is not offered more."""
    from rich.text import Text

    roles = [role for role in overview.roles if role.role == state.role]
    listed = [one for one in overview.listed if state.role is not None and one.serves(state.role)]
    ids = {one.id for one in listed}
    offers = replace(overview, offers=[one for one in overview.offers if one.framework_id in ids])
    amounts = QUOTA_USE if width >= _ROOMY else "AMOUNTS"
    wide = max(8, min(_WIDEST_BAR, width - 45 - len(amounts)))
    lines: list[Any] = [
        Text(),
        *_lines_of_report(_role_table(overview, roles, wide, amounts, full=width >= _VERY_ROOMY), width),
        Text(),
        *_lines_of_report(_frameworks(listed), width),
        Text(),
        *_report_lines(_offer_parts(offers), width),
        Text(),
        Text("Why it is not offered more:", style="bold"),
        *(_lines_of_report(aside, width) if isinstance(aside, Report) else [Text(cut(_waits(aside), width))]),
    ]
    state.top = max(0, min(state.top, len(lines) - room))
    return lines[state.top :]


def _report_lines(parts: "Sequence[str | Report]", width: int) -> "list[Any]":
    return _lines_of_report(Report((), (), (), _no_document, list, remark=list(parts)), width)


def _lines_of_report(report: Report, width: int) -> "list[Any]":
    from mesosctl.output.formats.terminal import text_lines, view

    return text_lines(view(report, wide=False, width=width), width)
