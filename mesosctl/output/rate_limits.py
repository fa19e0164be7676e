"""Rate limits as reports.  Models are loaded if JSON is written, and not before."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.model.notation import format_bytes, format_span, utc_text
from mesosctl.model.quantities import format_double
from mesosctl.model.rate_limits import MemoryPlan, RateLimit
from mesosctl.output.formats.report import Column, Report
from mesosctl.planning.message_rates import FileCheck, FileEdit, PrincipalStatus, Rates, RatesReading

if TYPE_CHECKING:
    from mesosctl.output.json_documents import rate_limits as documents

DEFAULT_NAME = "(default)"
NOBODY = "(no principal)"
NOTHING_TO_WATCH = (
    "no framework with a principal is registered, so the master counts no messages and there is nothing to watch"
)


def number(value: float | None, digits: int = 1) -> str:
    """A number for a cell: "55.5", "300"; "-" for none."""
    return "-" if value is None else f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"


def qps_text(limit: RateLimit) -> str:
    """The rate, or that there is none."""
    return "unlimited" if limit.qps is None else format_double(limit.qps)


def capacity_text(limit: RateLimit) -> str:
    """The capacity, or that there is none; "-" if nothing waits at all."""
    if limit.qps is None:
        return "-"
    return "unlimited" if limit.capacity is None else str(limit.capacity)


def validation(check: FileCheck) -> Report:
    """Every remark on a file, errors first."""

    def document() -> "documents.RateLimitValidate":
        from mesosctl.output.json_documents import rate_limits as documents

        remarks = [documents.Diagnostic.of(remark) for remark in check.remarks]
        return documents.RateLimitValidate(file=check.file, valid=check.valid, remarks=remarks)

    columns = (
        Column("LEVEL", meaning={"error": "not met", "warning": "at risk"}),
        Column("FIELD"),
        Column("FINDING", kind="sentence", rank=-1),
        Column("RULE", wide=True),
        Column("HINT", wide=True, kind="sentence"),
    )
    rows = [[r.level, r.field, r.sentence, r.rule, r.hint or "-"] for r in check.remarks]
    verdict = "a master would start with it" if check.valid else "a master would not start with it"
    return Report(
        columns,
        rows,
        [remark.field for remark in check.remarks],
        document,
        lambda: document().remarks,
        remark=[f"{check.file}: {verdict}"],
    )


def principal_statuses(found: Sequence[PrincipalStatus]) -> Report:
    """The limits of a running master beside live figures."""

    def document() -> "documents.RateLimitShow":
        from mesosctl.output.json_documents import rate_limits as documents

        return documents.RateLimitShow(principals=[documents.PrincipalStatus.of(status) for status in found])

    columns = (
        Column("PRINCIPAL"),
        Column("QPS", kind="number"),
        Column("CAPACITY", kind="number"),
        Column("LIMITED BY", rank=2),
        Column("RECEIVED", kind="number", rank=1),
        Column("PROCESSED", kind="number", rank=1),
        Column("BACKLOG", kind="number"),
        Column("REFUSED", kind="number", rank=1),
        Column("FRAMEWORKS", wide=True, kind="number"),
    )
    rows = [
        [
            DEFAULT_NAME if status.principal is None else status.principal,
            qps_text(status.limit),
            capacity_text(status.limit),
            "its entry" if status.listed and status.principal is not None else "default",
            *(
                ("-", "-", "-", "-")
                if status.counts is None
                else map(str, (status.counts.received, status.counts.processed, status.waiting, status.refused))
            ),
            number(status.frameworks, 0),
        ]
        for status in found
    ]
    names = [status.principal for status in found if status.principal is not None]
    return Report(columns, rows, names, document, lambda: document().principals)


def file_edit(edit: FileEdit) -> Report:
    """The diff, as other tools read it; csv has a title and nothing under it."""

    def document() -> "documents.RateLimitEdit":
        from mesosctl.output.json_documents import rate_limits as documents

        return documents.RateLimitEdit(file=edit.file, changed=edit.changed, written=edit.written, diff=edit.diff)

    lines = edit.diff or [f"{edit.file} needs no change"]
    return Report(
        (Column("FILE"), Column("CHANGED"), Column("WRITTEN")),
        [],
        [edit.file] if edit.changed else [],
        document,
        lambda: [document()],
        remark=lines,
        verbatim=True,
    )


def memory_plan(plan: MemoryPlan) -> Report:
    """The sum of the capacities against the memory."""

    def document() -> "documents.RateLimitPlan":
        from mesosctl.output.json_documents import rate_limits as documents

        return documents.RateLimitPlan(
            messages=plan.messages,
            message_size=plan.message_size,
            memory=plan.memory,
            worst_case=plan.worst_case,
            head_room=plan.head_room,
            unbounded=list(plan.unbounded),
            fits=plan.fits,
        )

    rows = [
        ["messages in full queues", str(plan.messages)],
        ["size of a message", format_bytes(plan.message_size)],
        ["worst case", format_bytes(plan.worst_case)],
        ["memory", format_bytes(plan.memory)],
        ["headroom", format_bytes(plan.head_room)],
    ]
    if plan.unbounded:
        names = ", ".join(DEFAULT_NAME if who is None else who for who in plan.unbounded)
        rows.append(["queues without a limit", names])
    return Report(
        (Column("FIGURE"), Column("VALUE", kind="number")),
        rows,
        [],
        document,
        lambda: [document()],
        remark=["it fits" if plan.fits else "it does not fit"],
    )


def status_text(one: Rates) -> str:
    """The status of a principal's counters since the reading before, or `full`."""
    return "full" if one.is_full else one.status


def _full_text(one: Rates) -> str:
    """When the queue is full."""
    if one.is_full:
        return "now"
    return "-" if one.seconds_to_full is None else f"in {format_span(one.seconds_to_full)}"


def watched(readings: Sequence[RatesReading]) -> Report:
    """Rates by principal, reading after reading."""

    def document() -> "documents.RateLimitWatch":
        from mesosctl.output.json_documents import rate_limits as documents

        return documents.RateLimitWatch(
            rates=[
                documents.Rates.of(one, at=each.at, time=utc_text(each.time)) for each in readings for one in each.rates
            ]
        )

    columns = [
        Column("AT", kind="number"),
        Column("PRINCIPAL", rank=-1),
        Column("STATUS", meaning={"full": "not met", "restarted": "at risk", "gone": "at risk"}),
        Column("RECEIVED", kind="number", rank=1),
        Column("PROCESSED", kind="number", rank=1),
        Column("BACKLOG", kind="number"),
        Column("IN", kind="number"),
        Column("OUT", kind="number"),
        Column("FULL", meaning={"now": "not met"}),
        Column("TIME", wide=True),
    ]
    rows = [
        [
            format_span(each.at),
            one.principal,
            status_text(one),
            str(one.counts.received),
            str(one.counts.processed),
            str(one.backlog),
            "-" if one.arriving is None else f"{number(one.arriving)}/s",
            "-" if one.processing is None else f"{number(one.processing)}/s",
            _full_text(one),
            utc_text(each.time),
        ]
        for each in readings
        for one in each.rates
    ]
    return Report(
        columns,
        rows,
        sorted({one.principal for each in readings for one in each.rates}),
        document,
        lambda: document().rates,
        empty=NOTHING_TO_WATCH,
    )
