"""Quota as reports."""

from collections.abc import Mapping, Sequence

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.notation import FEW, counted, listed
from mesosctl.mesos.amounts.quantities import format_milli
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.rules.quota.capacity import CapacityCheck, CheckedRule, GuaranteeRoom
from mesosctl.mesos.rules.quota.desired import ChangedQuota
from mesosctl.quota import documents
from mesosctl.quota.task_room import TasksThatFit
from mesosctl.show.amounts import quota_use_text
from mesosctl.show.lists import Figure, figures_report, list_report, rows_of
from mesosctl.show.report import OF_ANSWERS, Column, Meaning, Minor, Report, Verdict, naturally
from mesosctl.suggestion import command

GUARANTEE_STATES: dict[str, Meaning] = {"met": "met", "kept": "at risk", "unmet": "not met"}
GUARANTEE_IS = "GUARANTEE IS"
"""The title of the column that says whether a guarantee is met, kept or unmet."""
_COLUMNS: Sequence[Column[RoleStatus]] = (
    Column("ROLE", lambda status: status.role),
    Column("GUARANTEE", lambda status: status.quota.guarantees, kind="amounts"),
    Column("LIMIT", lambda status: status.quota.limits, kind="amounts", rank=1),
    Column("CONSUMED", lambda status: status.usage and status.usage.consumed, wide=True, kind="amounts"),
    Column("ALLOCATED", lambda status: status.usage and status.usage.allocated, wide=True, kind="amounts", rank=3),
    Column("OFFERED", lambda status: status.usage and status.usage.offered, wide=True, kind="amounts", rank=4),
    Column("RESERVED", lambda status: status.usage and status.usage.reserved, wide=True, kind="amounts", rank=5),
    Column("FRAMEWORKS", lambda status: status.usage and status.usage.frameworks, wide=True, kind="number", rank=2),
    Column(GUARANTEE_IS, lambda status: status.guarantee_state, wide=True, meaning=GUARANTEE_STATES),
)


def quota_list(statuses: Sequence[RoleStatus], *, empty: str = "no quota is set", sort: str | None = None) -> Report:
    """A line for every role with quota; `empty` is shown if there is none, and `sort` as in `naturally`."""
    shown = naturally(statuses, lambda status: status.role, sort=sort)
    return list_report(
        documents.QuotaList(quotas=[]),
        statuses,
        _COLUMNS,
        name=lambda status: status.role,
        in_order=shown,
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
    columns: Sequence[Column[RoleStatus]] = (
        Column("ROLE", lambda status: status.role),
        Column("STATUS", lambda status: status.standing, meaning=MEANINGS, rank=-1),
        Column(GUARANTEE_IS, lambda status: status.guarantee_state, meaning=GUARANTEE_STATES, rank=3),
        Column(QUOTA_USE, quota_use, kind="usage"),
        Column("FRAMEWORKS", lambda status: status.usage and status.usage.frameworks, kind="number", rank=1),
        Column("OFFERED", lambda status: status.usage and status.usage.offered, kind="amounts", rank=2),
    )
    return Report(
        columns,
        rows_of(columns, statuses),
        empty=empty,
        remark=[LEGEND] if statuses else (),
        verdicts=[guarantee_verdict(statuses)] if statuses else (),
    )


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
    below = [status for status in promised if status.guarantee_state == "unmet"]
    kept = [
        status.role for status in promised if status.guarantee_state == "kept" and status.standing != "no frameworks"
    ]
    idle = [status.role for status in promised if status.standing == "no frameworks"]
    unsure = [status.role for status in promised if status.standing == "wanting unknown"]
    clauses = [
        f"what {listed(kept, FEW)} {'lacks' if len(kept) == 1 else 'lack'} is kept free" if kept else "",
        f"no framework asks for the guarantee of {listed(idle, FEW)}" if idle else "",
        f"whether a framework wants the guarantee of {listed(unsure, FEW)} is unknown" if unsure else "",
    ]
    if below:
        named = listed([f"{status.role} (lacks {in_words(status.unmet or status.missing)})" for status in below], FEW)
        are = "is" if len(below) == 1 else "are"
        of_all = f"{len(below)} of {len(promised)} guarantees {are}" if len(promised) > 1 else "the guarantee is"
        sentence = f"{of_all} unmet: {named}"
        return Verdict("; ".join(filter(None, (sentence, *clauses))), "not met")
    if idle or unsure or kept:
        return Verdict("; ".join(filter(None, clauses)), "at risk")
    return Verdict("every guarantee is met" if promised else "nothing is guaranteed", "met")


def quota_show(status: RoleStatus) -> Report:
    """One role with quota."""

    def document() -> documents.QuotaShow:
        return documents.QuotaShow(quota=documents.RoleQuota.of(status))

    columns = [column._replace(wide=False) for column in _COLUMNS]
    return Report(columns, rows_of(columns, [status]), [status.role], document, lambda: [document().quota])


def quota_changes(changes: Sequence[ChangedQuota]) -> Report:
    """Changes of quota that were made."""
    return list_report(
        documents.QuotaChanges(changes=[]),
        changes,
        (
            Column("ROLE", lambda change: change.role),
            Column("DONE", lambda change: change.done),
            Column("GUARANTEE", lambda change: change.after and change.after.guarantees, kind="amounts"),
            Column("LIMIT", lambda change: change.after and change.after.limits, kind="amounts", rank=1),
            Column("CONFIRMED", lambda change: change.confirmed, wide=True),
        ),
        name=lambda change: change.role,
        remark=list(filter(None, map(_limit_unsaid, changes))),
        done="; ".join(f"quota of '{change.role}' was {change.done}" for change in changes),
    )


def _limit_unsaid(change: ChangedQuota) -> str:
    """The reason for a limit that the command did not give; empty if it did, or if there is none."""
    if change.limit_given or change.after is None or not change.after.limits:
        return ""
    stays = change.before is not None and change.before.limits == change.after.limits
    why = "you gave none, so it stays" if stays else "POST /quota makes it equal to the guarantee"
    return f"limit of {change.role}: {in_words(change.after.limits)} ({why})"


def quota_check(check: CapacityCheck) -> Report:
    """Every rule as a line, and how much room there is."""

    def document() -> documents.QuotaCheck:
        return documents.QuotaCheck.of(check)

    columns: Sequence[Column[CheckedRule]] = (
        Column("RESULT", lambda checked: _RESULTS[checked.passed], meaning=_MEANINGS),
        Column("RULE", lambda checked: checked.rule, rank=1),
        Column("FINDING", lambda checked: checked.sentence, kind="sentence", rank=-1),
        Column("HINT", lambda checked: checked.hint, wide=True, kind="sentence"),
    )
    room = [
        ("capacity", check.capacity),
        ("guaranteed to others", check.promised),
        ("largest that would be accepted", check.largest),
    ]
    return Report(
        columns,
        rows_of(columns, check.findings),
        [finding.rule for finding in check.findings if finding.passed is False],
        document,
        lambda: document().findings,
        remark=[
            *(f"{title}: {'unknown' if amounts is None else in_words(amounts)}" for title, amounts in room),
            *(
                _what_is_counted(check.role, check.requested, check.largest)
                if check.requested and check.largest
                else ()
            ),
        ],
        verdicts=[Verdict(check.verdict, OF_ANSWERS[check.answer])],
        minor=Minor(lambda row: row[0] == _RESULTS[True], "rules hold", "rule holds"),
        verbatim=True,
    )


def quota_room(room: GuaranteeRoom, tasks: TasksThatFit | None = None) -> Report:
    """The largest quota that would be accepted, and the figures behind it; with `tasks`, how many of them it holds."""
    figures: list[Figure] = [
        ("capacity", room.capacity),
        ("promised" if room.guarantee is None else "guaranteed to others", room.promised),
        ("guaranteed now", room.guarantee),
        ("its limit", room.limits or None),
        ("largest that would be accepted", room.largest),
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
        figures += [
            ("task", tasks.task),
            ("tasks in the guarantee", tasks.by_amounts),
            ("more tasks today", tasks.now),
            ("on agents", tasks.agents),
        ]
        verdict = _verdict_on_tasks(room, tasks)
    report = figures_report(
        lambda: documents.QuotaRoom.of(room, tasks=tasks),
        figures,
        names=names,
        remark=_what_is_counted(room.role or "ROLE", {}, room.largest) if room.largest else (),
        verdicts=[verdict],
    )
    return report._replace(verbatim=True)


def _what_is_counted(role: str, requested: Mapping[str, int], largest: Mapping[str, int]) -> list[str]:
    """Lines about what the largest accepted guarantee leaves out, with the command that counts it.

    The command leaves open the first resource of `requested` of which too much is wanted, or else the first one.
    """
    names = list(requested or largest)
    open_ = next((name for name in names if requested.get(name, 0) > largest.get(name, 0)), names[0])
    others = {name: milli for name, milli in requested.items() if name != open_}
    amounts = ";".join([f"{open_}:?", *(f"{name}:{format_milli(milli)}" for name, milli in others.items())])
    return [
        "that counts guarantees, and not what tasks use; the largest that starves nobody:",
        "  " + command("whatif", find_largest=f"quota:{role}={amounts}"),
    ]


def _verdict_on_tasks(room: GuaranteeRoom, tasks: TasksThatFit) -> Verdict:
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
