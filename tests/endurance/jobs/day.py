"""A day of a cluster in virtual time: `python -m tests.endurance.jobs.day [--hours 24]`.

Frameworks take what they are offered, their tasks end, quotas and weights change, a framework
leaves and another one comes, and after every hour the books are balanced: nothing is lost and
nothing is handed out twice.  Memory is looked at after every hour.
"""

import argparse
import random
import sys
import time
import tracemalloc
from dataclasses import dataclass, field

from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.simulated_frameworks import SimulatedFramework, SimulatedFrameworkSpec
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.offers import OutstandingOffer
from fake_master.state.quota import SentQuota
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from tests.endurance.jobs.memory import python_mib

HOUR = 3600.0
MOST_GROWTH = 1.25
"""The most memory of the second half over the most of the first, in which every book and cache has become full."""
_ROLES = ("web", "batch", "ads")


@dataclass
class Day:
    """What was seen."""

    hours: int
    accepted: int = 0
    launched: int = 0
    mib: list[float] = field(default_factory=list)
    """After each hour."""
    seconds: float = 0

    @property
    def growth(self) -> float:
        half = (len(self.mib) + 1) // 2
        return max(self.mib[half:], default=0.0) / max(self.mib[:half])

    def took(self, _framework: KnownFramework, _offer: OutstandingOffer, tasks: int) -> None:
        self.accepted += 1
        self.launched += tasks

    def __str__(self) -> str:
        return (
            f"{self.hours} simulated hours in {self.seconds:.1f} s: {self.accepted} offers taken, "
            f"{self.launched} tasks; {max(self.mib):.1f} MiB at the most, "
            f"second half over first {self.growth:.2f}"
        )


def play(hours: int, seed: int) -> Day:
    """Let so many hours pass.  Raises AssertionError where the books do not balance."""
    choice, clock, started = random.Random(seed), VirtualClock(0.0), time.monotonic()
    day = Day(hours)
    tracemalloc.start()
    spec = ClusterSpec(
        ("cpus:16;mem:16384",) * 8,
        "1.11",
        flags={
            "allocation_interval": "5secs",
            # Books of this size are full soon; whatever grows later is not one of them.
            "max_completed_frameworks": "2",
            "max_completed_tasks_per_framework": "100",
        },
        task_outcome=TaskOutcome("TASK_FINISHED", 60.0),
    )
    master = spec.start(clock=clock)
    for number, role in enumerate(_ROLES):
        _join(master, number, role, day)
    for hour in range(1, hours + 1):
        _let_pass(master, clock, hour * HOUR)
        check_books(master)
        day.mib.append(python_mib())
        _change(master, hour, choice, day)
    tracemalloc.stop()
    day.seconds = time.monotonic() - started
    return day


def _join(master: Master, number: int, role: str, day: Day) -> None:
    task = parse_resources(f"cpus:{1 + number % 3};mem:{512 * (1 + number % 2)}")
    SimulatedFramework(
        master, SimulatedFrameworkSpec(f"resident-{number}", (role,), task=Resources(task), tasks=40), day.took
    ).subscribe()


def _let_pass(master: Master, clock: VirtualClock, until: float) -> None:
    while clock.now < until:
        due = master.next_deadline()
        clock.now = until if due is None else min(until, max(due, clock.now))
        master.advance()


def _change(master: Master, hour: int, choice: random.Random, day: Day) -> None:
    """What operators and users do in an hour."""
    role = choice.choice(_ROLES)
    amounts = {"cpus": float(choice.randrange(0, 40))}
    with master.transaction():
        master.quotas.update(None, [(role, SentQuota(amounts, amounts))], force=True)
        master.weights.update(None, [(choice.choice(_ROLES), choice.choice([0.5, 1.0, 3.0]))])
    agent_removal = choice.choice(list(master.state.frameworks.values()))
    master.subscriptions.remove(agent_removal)
    _join(master, hour + len(_ROLES), choice.choice(_ROLES), day)


def check_books(master: Master) -> None:
    """Used and offered together are within each agent, and what is used is what tasks hold."""
    for agent in master.state.agents.values():
        state = master.state
        held = state.held_on(agent.id).allocated_to(None)
        assert agent.total.contains(held), f"{agent.id} has {agent.total} and gave {held} away"
        tasks = [task for of in master.state.frameworks.values() for task in of.tasks_on({agent.id})]
        running = Resources(entry for task in tasks if not task.is_terminal for entry in task.resources)
        assert running == master.state.used_on(agent.id), (
            f"{agent.id}: tasks take {running}, of {master.state.used_on(agent.id)}"
        )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    day = play(words.hours, words.seed)
    print(day)
    return 1 if day.growth > MOST_GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
