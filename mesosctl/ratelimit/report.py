"""Rate limits as reports."""

from collections.abc import Sequence

from mesosctl.mesos.amounts.notation import format_bytes, format_span, utc_text
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.cluster.message_rates import FileCheck, FileEdit, PrincipalQueue, PrincipalRates, RatesReading
from mesosctl.mesos.rules.rate_limits import MemoryPlan, RateLimit
from mesosctl.ratelimit import documents
from mesosctl.show.lists import Figure, figures_report, list_report
from mesosctl.show.report import Column, Meaning, Report

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
    verdict = "a master would start with it" if check.valid else "a master would not start with it"
    return list_report(
        documents.RateLimitValidate(file=check.file, valid=check.valid, remarks=[]),
        check.remarks,
        (
            Column("LEVEL", lambda finding: finding.level, meaning={"error": "not met", "warning": "at risk"}),
            Column("FIELD", lambda finding: finding.field),
            Column("FINDING", lambda finding: finding.sentence, kind="sentence", rank=-1),
            Column("RULE", lambda finding: finding.rule, wide=True),
            Column("HINT", lambda finding: finding.hint, wide=True, kind="sentence"),
        ),
        name=lambda finding: finding.field,
        remark=[f"{check.file}: {verdict}"],
    )


def principal_statuses(found: Sequence[PrincipalQueue]) -> Report:
    """The limits of a running master beside live figures."""
    return list_report(
        documents.RateLimitShow(principals=[]),
        found,
        (
            Column("PRINCIPAL", lambda queue: DEFAULT_NAME if queue.principal is None else queue.principal),
            Column("QPS", lambda queue: qps_text(queue.limit), kind="number"),
            Column("CAPACITY", lambda queue: capacity_text(queue.limit), kind="number"),
            Column(
                "LIMITED BY",
                lambda queue: "its entry" if queue.listed and queue.principal is not None else "default",
                rank=2,
            ),
            Column("RECEIVED", lambda queue: queue.received, kind="number", rank=1),
            Column("PROCESSED", lambda queue: queue.processed, kind="number", rank=1),
            Column("BACKLOG", lambda queue: queue.waiting, kind="number"),
            Column("REFUSED", lambda queue: queue.refused, kind="number", rank=1),
            Column("FRAMEWORKS", lambda queue: queue.frameworks, wide=True, kind="number"),
        ),
        names=[queue.principal for queue in found if queue.principal is not None],
    )


def file_edit(edit: FileEdit) -> Report:
    """The diff, as other tools read it; csv has a title and nothing under it."""

    def document() -> documents.RateLimitEdit:
        return documents.RateLimitEdit(file=edit.file, changed=edit.changed, written=edit.written, diff=edit.diff)

    lines = edit.diff or [f"{edit.file} needs no change"]
    return Report(
        (Column("FILE"), Column("CHANGED"), Column("WRITTEN")),
        [],
        [edit.file] if edit.changed else [],
        document,
        remark=lines,
        verbatim=True,
    )


def memory_plan(plan: MemoryPlan) -> Report:
    """The sum of the capacities against the memory."""
    figures: list[Figure] = [
        ("messages in full queues", plan.messages),
        ("size of a message", format_bytes(plan.message_size)),
        ("kept beside each", format_bytes(plan.message_overhead)),
        ("worst case", format_bytes(plan.worst_case)),
        ("memory", format_bytes(plan.memory)),
        ("headroom", format_bytes(plan.head_room)),
        ("queues without a limit", ", ".join(DEFAULT_NAME if who is None else who for who in plan.unbounded) or None),
    ]
    return figures_report(
        lambda: documents.RateLimitPlan.of(plan),
        figures,
        ("FIGURE", "VALUE"),
        kind="number",
        remark=["it fits" if plan.fits else "it does not fit"],
    )


def status_text(rates: PrincipalRates) -> str:
    """The status of a principal's counters since the reading before, or `full`."""
    return "full" if rates.is_full else rates.status


def _full_text(rates: PrincipalRates) -> str:
    """When the queue is full."""
    if rates.is_full:
        return "now"
    return "-" if rates.seconds_to_full is None else f"in {format_span(rates.seconds_to_full)}"


def watched(readings: Sequence[RatesReading]) -> Report:
    """Rates by principal, reading after reading."""
    rates = [(each, principal_rates) for each in readings for principal_rates in each.rates]
    return list_report(
        documents.RateLimitWatch(rates=[]),
        rates,
        (
            Column("AT", lambda pair: format_span(pair[0].at), kind="number"),
            Column("PRINCIPAL", lambda pair: pair[1].principal, rank=-1),
            Column("STATUS", lambda pair: status_text(pair[1]), meaning=_MEANINGS),
            Column("RECEIVED", lambda pair: pair[1].counts.received, kind="number", rank=1),
            Column("PROCESSED", lambda pair: pair[1].counts.processed, kind="number", rank=1),
            Column("BACKLOG", lambda pair: pair[1].backlog, kind="number"),
            Column("IN", lambda pair: _rate(pair[1].arriving), kind="number"),
            Column("OUT", lambda pair: _rate(pair[1].processing), kind="number"),
            Column("FULL", lambda pair: _full_text(pair[1]), meaning={"now": "not met"}),
            Column("TIME", lambda pair: utc_text(pair[0].time), wide=True),
        ),
        names=sorted({principal_rates.principal for _, principal_rates in rates}),
        element=lambda pair: documents.Rates.of(pair[1], at=pair[0].at, time=pair[0].time),
        empty=NOTHING_TO_WATCH,
    )


_MEANINGS: dict[str, Meaning] = {"full": "not met", "restarted": "at risk", "gone": "at risk"}


def _rate(value: float | None) -> str | None:
    return None if value is None else f"{number(value)}/s"
