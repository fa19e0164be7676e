"""The differences for a cluster under another release of Mesos, as tables and sentences."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from mesosctl.mesos.amounts.notation import and_more, counted, listed
from mesosctl.mesos.door.upgrade import TriedRequest, Upgrade, UpgradeDifference
from mesosctl.show.lists import rows_of
from mesosctl.show.report import Column, Report
from mesosctl.whatif.upgrade import commands_after, commands_before

_MOST_METRICS = 20
"""Names of metrics in a table for people; -o json has each."""


def sections(upgrade: Upgrade) -> Iterator[tuple[str, Report]]:
    """Each table with its title, as far as there is anything to tell."""
    if upgrade.differences:
        yield f"different in {upgrade.master}, for this cluster", differences(upgrade)
    if upgrade.requests:
        yield f"answered differently by {upgrade.master}, of {counted(upgrade.tried, 'request')}", requests(upgrade)


def differences(upgrade: Upgrade) -> Report:
    """A row for each setting and for each name that is gone."""
    columns: Sequence[Column[UpgradeDifference]] = (
        Column("WHAT", lambda found: found.subject),
        Column("NAME", lambda found: found.name, rank=-1),
        Column("TODAY", lambda found: found.today, rank=1),
        Column("THERE", lambda found: found.there),
    )
    return Report(columns, rows_of(columns, list(_folded(upgrade.differences))))


def _folded(found: Sequence[UpgradeDifference]) -> Iterator[UpgradeDifference]:
    """The differences, of many metrics only the first."""
    for subject, group in groupby(found, lambda difference: difference.subject):
        same = list(group)
        if subject != "metric" or len(same) <= _MOST_METRICS:
            yield from same
            continue
        yield from same[: _MOST_METRICS - 1]
        left = len(same) - _MOST_METRICS + 1
        yield same[-1]._replace(name=and_more(left))


def requests(upgrade: Upgrade) -> Report:
    """A row for each request that the two masters answer differently."""
    columns: Sequence[Column[TriedRequest]] = (
        Column("REQUEST", lambda tried: tried.request),
        Column("TIMES", lambda tried: tried.times, rank=3),
        Column("TODAY", lambda tried: tried.today, rank=1),
        Column("THERE", lambda tried: tried.there),
        Column("WHY", _why, rank=2),
    )
    return Report(columns, rows_of(columns, upgrade.requests))


def _why(tried: TriedRequest) -> str:
    """The refusal, or the members that the answer lacks."""
    return f"without {listed(tried.members_gone)}" if tried.members_gone else tried.message


def commands(upgrade: Upgrade) -> Iterator[tuple[str, list[str]]]:
    """The commands that keep today's meaning, with a title that says when they are run."""
    for when, lines in (
        ("before the new master starts", commands_before(upgrade)),
        ("when it leads", commands_after(upgrade)),
    ):
        if lines:
            yield f"to keep what quotas mean today, {when}", lines
