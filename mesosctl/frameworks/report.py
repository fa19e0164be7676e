"""A framework that was torn down, as a report."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from mesosctl.frameworks import documents
from mesosctl.mesos.amounts.notation import format_span, utc_text
from mesosctl.mesos.roles import short_ids
from mesosctl.mesos.rules.offers.frameworks import ListedFramework, TornDown
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import Column, Report, naturally
from mesosctl.show.states import STATES


def teardown_report(done: Sequence[TornDown]) -> Report:
    """The frameworks, and what each used until then."""
    columns: Sequence[Column[TornDown]] = (
        Column("FRAMEWORK", lambda torn_down: torn_down.framework.typed_title),
        Column("TASKS", lambda torn_down: torn_down.tasks, kind="number"),
        Column("USED", lambda torn_down: torn_down.framework.used, kind="amounts"),
        Column("CONFIRMED", lambda torn_down: torn_down.confirmed, wide=True),
        Column("FRAMEWORK ID", lambda torn_down: torn_down.framework.typed_id, wide=True),
    )

    def document() -> documents.TeardownDocument:
        return documents.TeardownDocument.of(done[0], frameworks=list(map(documents.TornDownFramework.of, done)))

    return Report(
        columns,
        rows_of(columns, done),
        [torn_down.framework.typed_id for torn_down in done],
        document,
        (lambda: document().frameworks) if len(done) > 1 else None,
        done="; ".join(f"framework {torn_down.framework.title} was torn down" for torn_down in done),
    )


def framework_list(
    frameworks: Sequence[ListedFramework],
    *,
    empty: str = "no frameworks are registered",
    sort: str | None = None,
    lost: Mapping[str, int] = MappingProxyType({}),
) -> Report:
    """A line for every framework; `empty` is shown if there is none, and `sort` as in `naturally`.

    `lost` is how many tasks are on unreachable agents, by framework id.
    """
    is_shared = len({framework.title for framework in frameworks}) < len(frameworks)
    ends = short_ids({framework.id: framework.name for framework in frameworks}) if is_shared else {}
    short = {framework.typed_id: ends[framework.id] for framework in frameworks if framework.id in ends}
    return list_report(
        documents.FrameworkList(frameworks=[], unreachable_tasks=dict(sorted(lost.items()))),
        frameworks,
        (
            Column("FRAMEWORK", lambda framework: framework.typed_title),
            Column("STATUS", lambda framework: framework.status, meaning=STATES),
            Column("ROLES", lambda framework: framework.roles),
            Column("USED", lambda framework: framework.used, kind="amounts"),
            Column("OFFERS", lambda framework: framework.offers, kind="number", rank=1),
            Column("OFFERED", lambda framework: framework.offered, kind="amounts", rank=2),
            Column("PRINCIPAL", lambda framework: framework.principal, rank=3),
            Column("FRAMEWORK ID", lambda framework: framework.typed_id, wide=not is_shared, short=short, rank=-1),
            Column("FAILOVER TIMEOUT", lambda framework: format_span(framework.failover_timeout), wide=True),
            *_ended_column(frameworks),
        ),
        name=lambda framework: framework.typed_id,
        in_order=naturally(frameworks, lambda framework: framework.title, lambda framework: framework.id, sort=sort),
        empty=empty,
        remark=list(_away(frameworks)),
    )


def _ended_column(frameworks: Sequence[ListedFramework]) -> Sequence[Column[ListedFramework]]:
    """The column ENDED, if any framework is completed."""
    if not any(framework.status == "completed" for framework in frameworks):
        return ()
    return (Column("ENDED", lambda framework: None if framework.ended is None else utc_text(framework.ended), rank=3),)


def _away(frameworks: Sequence[ListedFramework]) -> Iterator[str]:
    """A sentence for each framework that is disconnected: when the master removes it at the latest."""
    for framework in frameworks:
        if framework.status == "disconnected" and framework.failover_timeout:
            yield (
                f"{framework.typed_title} is disconnected; a master does not show since when. If it stays away, the "
                f"master removes it with its tasks within {format_span(framework.failover_timeout)} from now"
            )
