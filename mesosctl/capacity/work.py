"""Every single loss of a cluster, each forecast as if it were the only one, from one state.

Losses that look alike are played twice, the first and the last of a kind; if these differ, every one is played.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from mesosctl.capacity.losses import Spare, SpareLoss
from mesosctl.mesos.amounts.holding import dominant_share
from mesosctl.mesos.amounts.notation import natural
from mesosctl.mesos.names import agent_names
from mesosctl.reading.side_by_side import side_by_side
from mesosctl.whatif.changes import LoseAgents
from mesosctl.whatif.loss_runs import Candidate, by_value, groups_in_service
from mesosctl.whatif.losses import EACH_AGENT, Loss
from mesosctl.whatif.work import ChangeRunner

if TYPE_CHECKING:
    from fake_master import DryRun


class SpareTerms(NamedTuple):
    """The losses that are asked about."""

    by: str
    """`agent`, or the name of an attribute, whose agents of one value are lost together."""
    at_once: int = 1
    every: bool = False
    """Whether each loss is played, however many look alike."""
    option: str = "--each"
    """The option that names them."""


class _Kind(NamedTuple):
    """Losses that look alike."""

    size: int
    first: Candidate
    last: Candidate
    members: Callable[[], Iterable[Candidate]]


def find_spare(
    dry_run: "DryRun", runner: ChangeRunner, asked: Sequence[SpareTerms], progress: Callable[[str], None]
) -> list[Spare]:
    """Play the losses, each in a process of its own, from the same state.

    Raises UsageError for an attribute that no agent has, and without agents.
    """
    kinds = [(terms, kind) for terms in asked for kind in _kinds(dry_run, terms)]
    first: list[tuple[int, Candidate]] = []
    for place, (terms, kind) in enumerate(kinds):
        ends = kind.members() if terms.every else dict.fromkeys((kind.first, kind.last))
        first += ((place, candidate) for candidate in ends)
    found = _played(dry_run, runner, first, progress)
    differing = [
        place
        for place, (terms, _) in enumerate(kinds)
        if not terms.every and any(_without_name(one) != _without_name(found[place][0]) for one in found[place])
    ]
    rest = [
        (place, candidate)
        for place in differing
        for candidate in kinds[place][1].members()
        if candidate not in (kinds[place][1].first, kinds[place][1].last)
    ]
    for place, others in _played(dry_run, runner, rest, progress).items():
        found[place] += others
    spare = []
    for terms in asked:
        losses: list[SpareLoss] = []
        for place, (owner, kind) in enumerate(kinds):
            if owner is terms:
                separate = terms.every or place in differing
                losses += found[place] if separate else [_alike(found[place], kind)]
        spare.append(Spare(terms.by, terms.at_once, _worst_first(dry_run, losses)))
    return spare


def _alike(played: Sequence[SpareLoss], kind: _Kind) -> SpareLoss:
    """The one row of losses that look alike and ended in the same way."""
    return replace(played[0], count=kind.size, played=len(played))


def _without_name(one: SpareLoss) -> SpareLoss:
    return replace(one, loss=replace(one.loss, name="", alike=()))


def _played(
    dry_run: "DryRun",
    runner: ChangeRunner,
    wanted: Sequence[tuple[int, Candidate]],
    progress: Callable[[str], None],
) -> dict[int, list[SpareLoss]]:
    """Play losses side by side, and return what each would do by the place of its kind."""

    def run(one: tuple[int, Candidate]) -> SpareLoss:
        _, candidate = one
        dry_run.be_silent()
        runner.attempt([("agents lost", LoseAgents(candidate.agents))])
        loss = Loss.of(dry_run.forecast(), candidate.name, len(candidate.agents), candidate.alike)
        return SpareLoss(loss, dry_run.tasks_without_place())

    found: dict[int, list[SpareLoss]] = {}
    answers = side_by_side(wanted, run)
    for done, (place, _) in enumerate(wanted, 1):
        progress(f"forecasting loss {done} of {len(wanted)}")
        found.setdefault(place, []).append(next(answers))
    return found


def _worst_first(dry_run: "DryRun", losses: Iterable[SpareLoss]) -> tuple[SpareLoss, ...]:
    totals = dry_run.before.totals
    return tuple(
        sorted(
            losses,
            key=lambda one: (
                -one.loss.severity,
                -len(one.loss.starved),
                -one.tasks_without_place,
                -one.loss.tasks,
                -dominant_share(one.loss.lost, totals)[1],
                natural(one.loss.name),
            ),
        )
    )


# --- Which losses look alike --------------------------------------------------------------------------


def _kinds(dry_run: "DryRun", terms: SpareTerms) -> list[_Kind]:
    """The losses in kinds.  Raises UsageError."""
    groups = _alike_candidates(dry_run, terms.by, terms.option)
    if terms.at_once == 1:
        return [_single(group) for group in groups]
    return list(_pairs(groups))


def _alike_candidates(dry_run: "DryRun", by: str, option: str) -> list[list[Candidate]]:
    """The agents, or the agents with each value of an attribute, in groups that look alike."""
    groups = groups_in_service(dry_run, option)
    known = {agent.id: agent for agent in dry_run.agents}
    if by == EACH_AGENT:
        names = agent_names({agent.id: agent.hostname for agent in known.values()})
        return [[Candidate(names.word(agent_id), (agent_id,)) for agent_id in group] for group in groups]
    kind_of = {agent_id: place for place, group in enumerate(groups) for agent_id in group}
    found: dict[tuple[int, ...], list[Candidate]] = {}
    for candidate in by_value(known, list(kind_of), by, option):
        found.setdefault(tuple(sorted(map(kind_of.__getitem__, candidate.agents))), []).append(candidate)
    return [sorted(group, key=lambda candidate: natural(candidate.name)) for group in found.values()]


def _single(group: Sequence[Candidate]) -> _Kind:
    first = group[0]._replace(alike=tuple(candidate.name for candidate in group[1:]))
    return _Kind(len(group), first, group[-1], lambda: [first, *group[1:]] if len(group) == 1 else group)


def _pairs(groups: Sequence[Sequence[Candidate]]) -> Iterator[_Kind]:
    """Each pair of losses, by the groups of both."""
    for place, one in enumerate(groups):
        if len(one) > 1:
            count = len(one) * (len(one) - 1) // 2
            yield _Kind(count, _both(one[0], one[1]), _both(one[-2], one[-1]), lambda one=one: _within(one))  # type: ignore[misc]
        for other in groups[place + 1 :]:
            first, last = _both(one[0], other[0]), _both(one[-1], other[-1])
            yield _Kind(len(one) * len(other), first, last, lambda one=one, other=other: _across(one, other))  # type: ignore[misc]


def _within(group: Sequence[Candidate]) -> Iterator[Candidate]:
    return (_both(one, other) for one, other in combinations(group, 2))


def _across(one: Sequence[Candidate], other: Sequence[Candidate]) -> Iterator[Candidate]:
    return (_both(*pair) for pair in product(one, other))


def _both(one: Candidate, other: Candidate) -> Candidate:
    first, second = sorted((one, other), key=lambda candidate: natural(candidate.name))
    return Candidate(f"{first.name} and {second.name}", (*first.agents, *second.agents))
