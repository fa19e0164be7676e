"""The overview of a cluster as a report, and as a screen that refreshes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.agents.report import agent_list
from mesosctl.frameworks.report import framework_list
from mesosctl.mesos.amounts.amount_text import by_place, exact_percent_text, in_words, percent_text, shown_amount
from mesosctl.mesos.amounts.notation import counted, format_span
from mesosctl.mesos.cluster.account import Overview, WaitingOffers
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.message_rates import PrincipalRates
from mesosctl.mesos.cluster.role_status import RoleStatus, Share
from mesosctl.mesos.names import AGENT, FRAMEWORK, Kind, Noun, kind_of
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.quota.report import (
    GUARANTEE_IS,
    GUARANTEE_STATES,
    MEANINGS,
    QUOTA_USE,
    guarantee_verdict,
    quota_amounts_text,
)
from mesosctl.show.amounts import BAR, bar
from mesosctl.show.lists import rows_of
from mesosctl.show.report import Column, Meaning, Report
from mesosctl.show.screen import cut, moved
from mesosctl.show.terminal import text_lines, view
from mesosctl.top import documents

if TYPE_CHECKING:
    from rich.console import RenderableType


SORTS = ("share", "name", "status")
LEGEND = "█ used or reserved / ▒ guarantee / ░ limit  · rest of the cluster"
KEYS = "q quit   ? help   / filter   Enter one role   Tab next table   s sort   p pause"
LARGE = ("roles", "frameworks", "agents", "offers")
"""The tables that may have most of the screen, by the keys 1 to 4."""
HELP = """\
1 2 3 4   show roles, frameworks, agents or offers large; Tab shows the next of them
↑ ↓       choose a line (also j and k); Page up and Page down move ten lines, Home and End to the first and last
Enter     one role: its frameworks, its offers, and why it is not offered more
/         show only what has these letters in its name; Enter ends typing, Esc shows everything again;
          id:, host: or name: in front says in which name
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
OfRole = Callable[[RoleStatus], object]
"""The cell of a column of roles."""
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
        """Handle a key, where the large table has the lines of these names; ignore others, and "", which is none."""
        if not key:
            return
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


Aside = Report | list[RegisteredAgent] | str | None
"""A part that is read only while it is shown: why a role waits, or the agents.

A sentence says why it cannot be read; None: it is being read.
"""


class LargeTable(NamedTuple):
    """The large table: those of its lines that match the filter, in order, before any is scrolled away."""

    names: Sequence[str]
    """The names in its lines."""
    roles: Sequence[RoleStatus] = ()
    """Of the table of roles, which has a bar that depends on the terminal."""
    report: Report = Report((), ())
    """Any other table."""


def large_table(overview: Overview, state: TopState, aside: Aside) -> LargeTable:
    """The table that has most of the screen."""
    if state.large == "roles":
        ordered = sorted_roles(overview, state.sort, reverse=state.reverse)
        roles = [role for role in ordered if state.filter in role.role]
        return LargeTable([role.role for role in roles], roles)
    report = _rows_of(overview, state, aside)
    return LargeTable([row[0] for row in report.rows], report=report)


def _rows_of(overview: Overview, state: TopState, aside: Aside) -> Report:
    """Return another large table than that of roles: those of its lines that match."""
    letters = state.filter
    if state.large == "agents":
        agents = aside if isinstance(aside, list) else []
        noun, is_empty, nothing = AGENT, not agents, "" if isinstance(aside, list) else _waits(aside)
        of_agents = [
            agent for agent in agents if _fits(letters, agent.typed_name, ("host", agent.hostname), ("id", agent.id))
        ]
        report = _bare(agent_list(of_agents))
    elif state.large == "frameworks":
        noun, is_empty, nothing = FRAMEWORK, not overview.listed, ""
        report = _frameworks(
            [framework for framework in overview.listed if _fits(letters, framework.typed_title, *framework.names)]
        )
    else:
        noun, is_empty, nothing = FRAMEWORK, not overview.offers, _no_offer(overview)
        report = _offer_table(overview, letters)
    if not report.rows:
        report = Report((), (), empty=(nothing or report.empty) if is_empty else _without(letters, noun))
    return report._replace(rows=report.rows[::-1] if state.reverse else report.rows)


def _fits(letters: str, shown: str, *names: tuple[Kind, str]) -> bool:
    """Whether letters are in a name as it is shown; with a kind in front, whether they are in the name of that kind."""
    kind, text = kind_of(letters)
    if kind is None:
        return letters in shown
    return any(of == kind and text in name for of, name in names)


def _without(letters: str, noun: Noun) -> str:
    kind, _ = kind_of(letters)
    return f"no name has '{letters}' in it" if kind is None or kind in noun.kinds else noun.without(kind)


def _waits(aside: Aside) -> str:
    return aside if isinstance(aside, str) else "reading …"


def _frameworks(listed: Sequence[ListedFramework]) -> Report:
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

    def document() -> documents.Top:
        return documents.Top.of(overview)

    def percent(take: Callable[[Share], float | None]) -> OfRole:
        return _of_share(overview, lambda share: None if (part := take(share)) is None else exact_percent_text(part))

    roles = sorted_roles(overview, SORTS[0])
    columns: Sequence[Column[RoleStatus]] = (
        Column("ROLE", lambda role: role.role),
        Column("STATUS", lambda role: role.standing),
        Column("RESOURCE", _of_share(overview, lambda share: share.resource)),
        Column("SHARE", percent(lambda share: share.used), kind="number"),
        Column("GUARANTEE", percent(lambda share: share.guarantee or None)),
        Column("LIMIT", percent(lambda share: share.limit)),
        Column(GUARANTEE_IS, lambda role: role.guarantee_state),
    )
    names = [role.role for role in roles]
    used = f"used: {in_words(overview.used)} of {in_words(overview.total)}"
    if overview.revocable:
        used += f"; revocable, beyond that: {in_words(overview.revocable)}"
    remark = ["", _cluster_line(overview), used, *_offer_parts(overview), *_principal_parts(overview)]
    return Report(
        columns,
        rows_of(columns, roles),
        names,
        document,
        lambda: document().roles,
        remark=remark,
        empty="there are no roles",
        terminal=lambda: _once(overview, roles),
    )


def _of_share(overview: Overview, take: Callable[[Share], object]) -> OfRole:
    """The cell of a figure of a role's share of the cluster; empty if the share is unknown."""
    return lambda role: None if (share := role.share_of(overview.total)) is None else take(share)


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
    columns: Sequence[Column[RoleStatus]] = (
        Column("ROLE", lambda role: role.role),
        Column("STATUS", lambda role: role.standing, meaning=MEANINGS, rank=1),
        Column("SHARE", _of_share(overview, lambda share: percent_text(share.used)), kind="number", rank=-1),
        Column("OF", _of_share(overview, lambda share: share.resource), rank=-1),
        Column("CLUSTER", _of_share(overview, lambda share: _share_bar(share, width)), rank=-1),
        Column(
            amounts,
            lambda role: (share := role.share_of(overview.total)) and quota_amounts_text(role, share.resource),
            rank=2,
        ),
    )
    if full:
        more: Sequence[Column[RoleStatus]] = (
            Column(
                "FRAMEWORKS",
                _frameworks_of,
                kind="number",
                rank=3,
            ),
            Column("WEIGHT", lambda role: role.weight, kind="number", rank=3),
            Column("USED", lambda role: role.used, kind="amounts", rank=4),
            Column(GUARANTEE_IS, lambda role: role.guarantee_state, meaning=GUARANTEE_STATES, rank=3),
            Column("MISSING", lambda role: role.missing, kind="amounts", rank=3),
        )
        columns = (*columns, *more)
    return Report(columns, rows_of(columns, roles), empty="there are no roles")


def _frameworks_of(role: RoleStatus) -> int | None:
    return role.usage and (role.usage.subscribers or role.usage.frameworks)


def _share_bar(share: Share, width: int) -> str:
    drawn = bar(share.used, max(share.used, share.guarantee), 1.0, width).replace("░", "·")
    if share.limit is None:
        return drawn
    reach = max(len(drawn.rstrip("·")), round(min(1.0, share.limit) * width))
    return drawn.rstrip("·").ljust(reach, "░").ljust(width, "·")


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


def _no_offer(overview: Overview) -> str:
    return f"no offer is outstanding{overview.recovery and ': '}{overview.recovery}"


def _offer_parts(overview: Overview, most: int = 20) -> list[str | Report]:
    offers = overview.offers
    if not offers:
        return [_no_offer(overview)]
    count = sum(waiting.offers for waiting in offers)
    more = f" to {len(offers)} frameworks; the {most} with the oldest offers" if len(offers) > most else ""
    title = f"{count} offer{' is' if count == 1 else 's are'} outstanding{more}:"
    return [title, _offer_table(overview, most=most)]


def _offer_table(overview: Overview, letters: str = "", most: int | None = None) -> Report:
    """The offers of the first frameworks whose names have these letters."""
    typed = {framework.id: framework.typed_title for framework in overview.listed}

    def title(waiting: WaitingOffers) -> str:
        return typed.get(waiting.framework_id, waiting.framework)

    columns: Sequence[Column[WaitingOffers]] = (
        Column("FRAMEWORK", title),
        Column("OFFERS", lambda waiting: waiting.offers, kind="number"),
        Column("OLDEST", _age_text, kind="number", rank=-1),
        Column("ROLES", lambda waiting: waiting.roles, rank=2),
        Column("RESOURCES", lambda waiting: waiting.resources, kind="amounts", rank=1),
    )
    offers = [
        waiting
        for waiting in overview.offers
        if _fits(letters, title(waiting), ("name", waiting.framework), ("id", waiting.framework_id))
    ]
    return Report(columns, rows_of(columns, offers[:most]))


def _age_text(waiting: WaitingOffers) -> str:
    age = f"{waiting.oldest:.0f}s" if waiting.oldest < 60 else format_span(waiting.oldest)
    return age + " or more" * waiting.was_there


def _principal_parts(overview: Overview) -> list[str | Report]:
    if not overview.throttled:
        return ["no principal is throttled"]
    meanings: dict[str, Meaning] = {"full": "not met", "throttled": "at risk"}
    columns: Sequence[Column[PrincipalRates]] = (
        Column("PRINCIPAL", lambda rates: rates.principal),
        Column("STATUS", lambda rates: "full" if rates.is_full else "throttled", meaning=meanings),
        Column("WAITING", lambda rates: rates.backlog, kind="number"),
        Column("IN", lambda rates: _rate_text(rates.arriving), kind="number"),
        Column("OUT", lambda rates: _rate_text(rates.processing), kind="number"),
    )
    return ["throttled principals:", Report(columns, rows_of(columns, overview.throttled))]


def _rate_text(rate: float | None) -> str | None:
    return None if rate is None else f"{rate:.1f}/s"


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
    overview: Overview,
    state: TopState,
    around: ScreenStatus,
    width: int,
    height: int,
    large: LargeTable,
    aside: Aside = None,
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
        body = _tables(overview, state, around, width, room, large)
    lines = [*head, *body][: height - 1]
    lines += [Text()] * (height - 1 - len(lines))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    keys = f"/{state.filter}█   Enter ends typing   Esc shows everything" if state.typing else KEYS
    return Group(*lines, Text(cut(keys, width).ljust(width), style="reverse", end=""))


def _head(overview: Overview, state: TopState, around: ScreenStatus, width: int) -> list[Any]:
    from rich.text import Text

    at = time.strftime("%H:%M:%S", time.localtime(overview.taken_at))
    pace = "paused" if state.paused else f"updated {'at each event and ' * around.is_live}every {around.every:g}s"
    order = f"sorted by {state.sort}{', reversed' if state.reverse else ''}"
    title = f"{around.master}  {overview.version}  {at}  {pace}  {order}"
    if len(title) > width:
        title = f"{around.master}  {at}  {pace}  {order}"
    head = [Text(cut(title, width).ljust(width), style="bold reverse"), Text(cut(_cluster_line(overview), width))]
    if around.trouble:
        head.append(Text(cut(f"no answer since {at}: {around.trouble}; trying again", width), style="bold red"))
    return [*head, *(Text(cut(line, width)) for line in _resource_lines(overview, width))]


def _tables(
    overview: Overview, state: TopState, around: ScreenStatus, width: int, room: int, large: LargeTable
) -> list[Any]:
    """The large table, and below it the others as far as there is room."""
    from rich.text import Text

    parts = [*_offer_parts(overview, 5), *_principal_parts(overview)] if state.large == "roles" else []
    tail = _report_lines(parts, width) if parts else []
    tail += [Text(cut(f"· {event}", width), style="dim") for event in list(around.events)[-2:]]
    tail = tail[: max(1, (room - 2) // 2)]
    names = large.names
    rows = max(1, room - 2 - len(tail) - 4)
    state.selected = max(0, min(state.selected, len(names) - 1))
    state.top = max(0, min(state.top, len(names) - rows, state.selected), state.selected - rows + 1)
    table, legend = _large(overview, state, large, width, rows)
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


def _large(overview: Overview, state: TopState, large: LargeTable, width: int, rows: int) -> tuple[list[Any], str]:
    """The lines of the large table, its title first, and what is said below it."""
    if state.large != "roles":
        shown = large.report.rows[state.top : state.top + rows]
        return _lines_of_report(large.report._replace(rows=shown), width), ""
    amounts, legend = (QUOTA_USE, LEGEND) if width >= _ROOMY else ("AMOUNTS", f"AMOUNTS: {LEGEND}")
    wide = max(8, min(_WIDEST_BAR, width - 45 - len(amounts)))
    roles = large.roles[state.top : state.top + rows]
    return _lines_of_report(_role_table(overview, roles, wide, amounts, full=width >= _VERY_ROOMY), width), legend


def _one_role(overview: Overview, state: TopState, aside: Aside, width: int, room: int) -> list[Any]:
    """One role: its line, its frameworks and offers, and why it is not offered more."""
    from rich.text import Text

    roles = [role for role in overview.roles if role.role == state.role]
    listed = [framework for framework in overview.listed if state.role is not None and framework.serves(state.role)]
    ids = {framework.id for framework in listed}
    offers = replace(overview, offers=[waiting for waiting in overview.offers if waiting.framework_id in ids])
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


def _report_lines(parts: Sequence[str | Report], width: int) -> list[Any]:
    return _lines_of_report(Report((), (), remark=list(parts)), width)


def _lines_of_report(report: Report, width: int) -> list[Any]:
    return text_lines(view(report, wide=False, width=width), width)
