"""Losses of agents, each forecast as if it were the only one, the worst first.

That of every single agent, of which alike ones are tried once, or that of all agents with each value of an attribute.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mesosctl.mesos.amounts.holding import dominant_share
from mesosctl.mesos.amounts.notation import listed, natural
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.names import agent_names
from mesosctl.mesos.roles import did_you_mean
from mesosctl.reading.side_by_side import side_by_side
from mesosctl.whatif.losses import EACH_AGENT, Loss, Losses

if TYPE_CHECKING:
    from fake_master import DryRun

_MOST_AGENTS = 200_000
"""Agents that all forecasts may have together: their number decides how long one takes."""
_OPTION = "--lose-each"
_FEWEST, _MOST = 10, 1000
"""Losses that are tried however many agents there are, and however few."""


class Candidate(NamedTuple):
    """Agents that may be lost together, and what names them."""

    name: str
    agents: tuple[str, ...]
    """Their ids."""
    alike: tuple[str, ...] = ()
    """The names of the other agents of which the loss of one would do the same."""


def candidates(dry_run: "DryRun", by: str) -> tuple[list[Candidate], int]:
    """Return the losses to try, those first that take most, and the number of those that are too many.

    Raises UsageError for an attribute that no agent has, and without agents.
    """
    groups = groups_in_service(dry_run, _OPTION)
    known = {agent.id: agent for agent in dry_run.agents}
    if by == EACH_AGENT:
        names = agent_names({agent.id: agent.hostname for agent in known.values()})
        found = [Candidate(names.word(first), (first,), tuple(map(names.word, alike))) for first, *alike in groups]
    else:
        found = by_value(known, [agent_id for group in groups for agent_id in group], by, _OPTION)
    most = max(_FEWEST, min(_MOST, _MOST_AGENTS // len(known)))
    return found[:most], max(0, len(found) - most)


def groups_in_service(dry_run: "DryRun", option: str) -> list[tuple[str, ...]]:
    """The ids of the agents in service in groups of alike ones.  Raises UsageError if there are none."""
    groups: list[tuple[str, ...]] = dry_run.alike_agents()
    if not groups:
        raise UsageError("no agent is in service that could be lost", field=option)
    return groups


def by_value(
    known: Mapping[str, RegisteredAgent], in_service: Sequence[str], attribute: str, option: str
) -> list[Candidate]:
    """The agents with each value of an attribute, the most first.  Raises UsageError if no agent has it."""
    having: dict[str, list[str]] = {}
    for agent_id in in_service:
        value = known[agent_id].attributes.get(attribute)
        if value is not None:
            having.setdefault(value if isinstance(value, str) else format_double(value), []).append(agent_id)
    if not having:
        names = sorted({name for agent_id in in_service for name in known[agent_id].attributes})
        there = f"the attributes are {listed(names)}" if names else "the agents have no attributes"
        raise UsageError(
            f"no agent has an attribute '{attribute}'",
            field=option,
            hint=did_you_mean(attribute, [EACH_AGENT, *names], f"{EACH_AGENT} tries every single agent; {there}"),
        )
    found = [Candidate(f"{attribute}={value}", tuple(agents)) for value, agents in having.items()]
    return sorted(found, key=lambda candidate: -len(candidate.agents))


def forecast_losses(
    dry_run: "DryRun", by: Sequence[str], lose: Callable[[Sequence[str]], None], progress: Callable[[str], None]
) -> Losses:
    """Try every loss in a process of its own, from the same state; `lose` takes agents away on the dry run's master.

    Raises UsageError, and what `lose` raises.
    """
    tried: list[Candidate] = []
    not_tried = 0
    for name in dict.fromkeys(by):
        found, left = candidates(dry_run, name)
        tried += found
        not_tried += left

    def run(candidate: Candidate) -> Loss:
        dry_run.be_silent()
        lose(candidate.agents)
        return Loss.of(dry_run.forecast(), candidate.name, len(candidate.agents), candidate.alike)

    def answers() -> Iterator[Loss]:
        running = side_by_side(tried, run)
        for done in range(1, len(tried) + 1):
            progress(f"forecasting loss {done} of {len(tried)}")
            yield next(running)

    worst_first = sorted(
        answers(),
        key=lambda loss: (
            -loss.severity,
            -len(loss.starved),
            -loss.tasks,
            -dominant_share(loss.lost, dry_run.before.totals)[1],
            natural(loss.name),
        ),
    )
    return Losses(tuple(dict.fromkeys(by)), tuple(worst_first), dry_run.assumption, not_tried)
