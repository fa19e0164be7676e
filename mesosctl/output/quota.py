"""Quota as reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.model.amount_text import in_words
from mesosctl.model.notation import FEW, counted, listed
from mesosctl.model.quantities import Quantities, format_milli
from mesosctl.model.quota.role_status import RoleStatus
from mesosctl.output.formats.amounts import amounts_text, quota_use_text
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Minor, Report, Verdict, naturally

if TYPE_CHECKING:
    from mesosctl.model.quota.capacity import QuotaCheck, QuotaRoom
    from mesosctl.model.quota.desired import QuotaChange
    from mesosctl.output.json_documents import quota
    from mesosctl.planning.task_room import TaskRoom

_COLUMNS = (
    Column("ROLE"),
    Column("GUARANTEE", kind="amounts"),
    Column("LIMIT", kind="amounts", rank=1),
    Column("CONSUMED", wide=True, kind="amounts"),
    Column("ALLOCATED", wide=True, kind="amounts", rank=3),
    Column("OFFERED", wide=True, kind="amounts", rank=4),
    Column("RESERVED", wide=True, kind="amounts", rank=5),
    Column("FRAMEWORKS", wide=True, kind="number", rank=2),
)


def quota_list(statuses: Sequence[RoleStatus], *, empty: str = "no quota is set", sort: str | None = None) -> Report:
    """A line for every role with quota; `empty` is shown if there is none, and `sort` as in `naturally`."""

    def items() -> "list[quota.RoleQuota]":
        from mesosctl.output.json_documents import quota

        return [quota.RoleQuota.of(status) for status in statuses]

    def document() -> "quota.QuotaList":
        from mesosctl.output.json_documents import quota

        return quota.QuotaList(quotas=items())

    shown = naturally(statuses, lambda one: one.role, sort=sort)
    return Report(
        _COLUMNS,
        [_row(status) for status in shown],
        [status.role for status in shown],
        document,
        items,
        empty=empty,
        terminal=lambda: _quota_screen(shown, empty),
    )


MEANINGS: dict[str, Meaning] = {
    "below guarantee": "not met",
    "wanting unknown": "at risk",
    "no frameworks": "at risk",
    "met by offers": "at risk",
    "met": "met",
    "met (at limit)": "at risk",
    "within limit": "met",
    "at limit": "at risk",
    "over limit": "not met",
    "unknown": "at risk",
}
"""Of the standings of a role."""
QUOTA_USE = "USED OR RESERVED/GUARANTEE/LIMIT"
LEGEND = "█ used or reserved   ▒ guaranteed, not used   ░ up to the limit"


def quota_use(status: RoleStatus, *, everything: bool = False) -> str:
    """The cell of what a role uses of its quota; with `everything` of what it uses beside that too."""
    used = None if status.usage is None else status.counted
    names = dict.fromkeys([*status.quota.guarantees, *status.quota.limits, *(used or () if everything else ())])
    return quota_use_text(used, status.quota, status.missing, names)


def quota_amounts_text(status: RoleStatus, name: str) -> str:
    """`16/24/32` of one resource: used or reserved, guarantee and limit."""
    used = None if status.usage is None else status.counted
    return quota_use_text(used, status.quota, status.missing, [name]).partition(":")[2].rstrip("█▒░ ")


def _quota_screen(statuses: Sequence[RoleStatus], empty: str) -> Report:
    columns = (
        Column("ROLE"),
        Column("STATUS", meaning=MEANINGS, rank=-1),
        Column(QUOTA_USE, kind="usage"),
        Column("FRAMEWORKS", kind="number", rank=1),
        Column("OFFERED", kind="amounts", rank=2),
    )
    rows = [
        [
            status.role,
            status.standing,
            quota_use(status),
            NOTHING if status.usage is None else str(status.usage.frameworks),
            amounts_text(None if status.usage is None else status.usage.offered),
        ]
        for status in statuses
    ]
    return Report(
        columns,
        rows,
        (),
        _no_document,
        list,
        empty=empty,
        remark=[LEGEND] if rows else (),
        verdicts=[guarantee_verdict(statuses)] if rows else (),
    )


def _no_document() -> "quota.QuotaList":
    raise AssertionError("the report beside it has the document")


def guarantee_verdict(statuses: Sequence[RoleStatus]) -> Verdict:
    """The answer to who is below its guarantee, above a list."""
    return _guarantee_verdict(statuses)._replace(on_terminals_only=True)


def _guarantee_verdict(statuses: Sequence[RoleStatus]) -> Verdict:
    promised = [status for status in statuses if status.quota.guarantees]
    if any(status.usage is None for status in promised):
        return Verdict(
            "whether guarantees are met is unknown: this principal may not see what roles use",
            "at risk",
            on_terminals_only=True,
        )
    below = [status for status in promised if status.standing == "below guarantee"]
    idle = [status.role for status in promised if status.standing == "no frameworks"]
    unsure = [status.role for status in promised if status.standing == "wanting unknown"]
    clauses = [
        f"no framework asks for the guarantee of {listed(idle, FEW)}" if idle else "",
        f"whether a framework wants the guarantee of {listed(unsure, FEW)} is unknown" if unsure else "",
    ]
    if below:
        named = listed([f"{one.role} (lacks {in_words(one.missing)})" for one in below], FEW)
        are = "is" if len(below) == 1 else "are"
        of_all = f"{len(below)} of {len(promised)} guarantees {are}" if len(promised) > 1 else "the guarantee is"
        sentence = f"{of_all} not met: {named}"
        return Verdict("; ".join(filter(None, (sentence, *clauses))), "not met")
    if idle or unsure:
        return Verdict("; ".join(filter(None, clauses)), "at risk")
    return Verdict("every guarantee is met" if promised else "nothing is guaranteed", "met")


def quota_show(status: RoleStatus) -> Report:
    """One role with quota."""

    def document() -> "quota.QuotaShow":
        from mesosctl.output.json_documents import quota

        return quota.QuotaShow(quota=quota.RoleQuota.of(status))

    columns = [column._replace(wide=False) for column in _COLUMNS]
    return Report(columns, [_row(status)], [status.role], document, lambda: [document().quota])


def _row(status: RoleStatus) -> list[str]:
    usage = status.usage
    held = [None] * 4 if usage is None else [usage.consumed, usage.allocated, usage.offered, usage.reserved]
    return [
        status.role,
        amounts_text(status.quota.guarantees),
        amounts_text(status.quota.limits),
        *(amounts_text(amounts) for amounts in held),
        NOTHING if usage is None else str(usage.frameworks),
    ]


def quota_changes(changes: "Sequence[QuotaChange]") -> Report:
    """Changes of quota that were made."""

    def items() -> "list[quota.QuotaChange]":
        from mesosctl.output.json_documents import quota

        return [quota.QuotaChange.of(change) for change in changes]

    def document() -> "quota.QuotaChanges":
        from mesosctl.output.json_documents import quota

        return quota.QuotaChanges(changes=items())

    columns = (
        Column("ROLE"),
        Column("DONE"),
        Column("GUARANTEE", kind="amounts"),
        Column("LIMIT", kind="amounts", rank=1),
        Column("CONFIRMED", wide=True),
    )
    rows = [
        [
            change.role,
            change.done,
            amounts_text(change.after.guarantees if change.after else None),
            amounts_text(change.after.limits if change.after else None),
            "yes" if change.confirmed else "no",
        ]
        for change in changes
    ]
    remark = list(filter(None, map(_limit_unsaid, changes)))
    done = "; ".join(f"quota of '{change.role}' was {change.done}" for change in changes)
    return Report(columns, rows, [change.role for change in changes], document, items, remark=remark, done=done)


def _limit_unsaid(change: "QuotaChange") -> str:
    """The reason for a limit that the command did not give; empty if it did, or if there is none."""
    if change.limit_given or change.after is None or not change.after.limits:
        return ""
    stays = change.before is not None and change.before.limits == change.after.limits
    why = "you gave none, so it stays" if stays else "POST /quota makes it equal to the guarantee"
    return f"limit of {change.role}: {in_words(change.after.limits)} ({why})"


def quota_check(check: "QuotaCheck") -> Report:
    """Every rule as a line, and how much room there is."""

    def document() -> "quota.QuotaCheck":
        from mesosctl.output.json_documents import quota

        return quota.QuotaCheck.of(check)

    rows = [[_RESULTS[f.passed], f.rule, f.sentence, f.hint or NOTHING] for f in check.findings]
    room = [
        ("capacity", check.capacity),
        ("guaranteed to others", check.promised),
        ("largest that would be accepted", check.largest),
    ]
    return Report(
        (
            Column("RESULT", meaning=_MEANINGS),
            Column("RULE", rank=1),
            Column("FINDING", kind="sentence", rank=-1),
            Column("HINT", wide=True, kind="sentence"),
        ),
        rows,
        [finding.rule for finding in check.findings if finding.passed is False],
        document,
        lambda: document().findings,
        remark=[f"{title}: {'unknown' if amounts is None else in_words(amounts)}" for title, amounts in room],
        verdicts=[_verdict(check)],
        minor=Minor(lambda row: row[0] == _RESULTS[True], "rules hold", "rule holds"),
    )


def quota_room(room: "QuotaRoom", tasks: "TaskRoom | None" = None) -> Report:
    """The largest quota that would be accepted, and the figures behind it; with `tasks`, how many of them it holds."""

    def document() -> "quota.QuotaRoom":
        from mesosctl.output.json_documents import quota

        return quota.QuotaRoom.of(room, tasks=tasks)

    others = "promised" if room.guarantee is None else "guaranteed to others"
    rows = [
        ["capacity", amounts_text(room.capacity)],
        [others, amounts_text(room.promised)],
        *([["guaranteed now", amounts_text(room.guarantee)]] if room.guarantee is not None else []),
        *([["its limit", amounts_text(room.limits)]] if room.limits else []),
        ["largest that would be accepted", amounts_text(room.largest)],
    ]
    names = [f"{name}:{format_milli(milli)}" for name, milli in room.largest.items()]
    whom = "" if room.role is None else f" for {room.role}"
    if room.overcommitted:
        short = in_words(room.overcommitted)
        verdict = Verdict(f"no quota{whom} would be accepted: the guarantees exceed the cluster by {short}", "not met")
    elif not room.largest:
        why = f"its limit is {in_words(room.bounding)}" if room.bounding else "everything is already guaranteed"
        verdict = Verdict(f"no quota{whom} would be accepted: {why}", "not met")
    else:
        within = f", within its limit of {in_words(room.bounding)}" if room.bounding else ""
        verdict = Verdict(f"the largest quota{whom} that would be accepted is {in_words(room.largest)}{within}", "met")
    if tasks is not None:
        rows += [
            ["task", amounts_text(tasks.task)],
            ["tasks in the guarantee", str(tasks.by_amounts)],
            ["more tasks today", str(tasks.now)],
            ["on agents", str(tasks.agents)],
        ]
        verdict = _verdict_on_tasks(room, tasks)
    columns = (Column("WHAT"), Column("AMOUNT", kind="amounts"))
    return Report(columns, rows, names, document, lambda: [document()], verdicts=[verdict])


def _verdict_on_tasks(room: "QuotaRoom", tasks: "TaskRoom") -> Verdict:
    whose = "the largest quota" if room.guarantee is None else "the guarantee"
    whose += "" if room.role is None else f" {'for' if room.guarantee is None else 'of'} {room.role}"
    size = in_words(tasks.task)
    if len(tasks.not_guaranteed) == len(tasks.task):
        return Verdict(f"{whose} names no {' or '.join(tasks.not_guaranteed)}", "not met")
    unnamed = f"; it names no {' or '.join(tasks.not_guaranteed)}" if tasks.not_guaranteed else ""
    if not tasks.now:
        return Verdict(f"{whose} holds no more tasks of {size} today{unnamed}", "not met")
    more = f"{counted(tasks.now, 'more task')} of {size} today"
    where = f"on {counted(tasks.agents, 'agent')}"
    return Verdict(f"{whose} holds {more}, {where}{unnamed}", "at risk" if unnamed else "met")


_RESULTS = {True: "pass", False: "FAIL", None: "unknown"}
_MEANINGS: dict[str, Meaning] = {"pass": "met", "FAIL": "not met", "unknown": "at risk"}


def _verdict(check: "QuotaCheck") -> Verdict:
    limits = Quantities(check.limits)
    asked = f"{in_words(check.requested)} for {check.role}" if check.requested else "it"
    if limits and not check.requested:
        asked = f"a limit of {in_words(limits)} for {check.role}"
    broken = [finding for finding in check.findings if finding.passed is False]
    unknown = [finding for finding in check.findings if finding.passed is None]
    if broken:
        more = f"; other rules broken: {len(broken) - 1}" if len(broken) > 1 else ""
        return Verdict(f"NO: {asked} would be refused: {broken[0].sentence}{more}", "not met")
    if unknown:
        return Verdict(f"PERHAPS: {asked} breaks no rule that was checked; not checked: {len(unknown)}", "at risk")
    return Verdict(f"YES: {asked} would be accepted", "met")
