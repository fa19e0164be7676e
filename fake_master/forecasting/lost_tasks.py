"""The frameworks of a snapshot that suppress offers and then lose tasks: they run as much again, and no more.

lost = LostTasks(master.state)        before anything is lost
lost.ask_again(master)                REVIVE for what is lacking, SUPPRESS for what is there again
lost.answer(master)                   as many tasks as are lacking; the rest of each offer is declined

Of the tasks of a framework in a role only the number and the sum are known, so all of them count as equally large.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from fake_master.master import Master
from fake_master.sources.waiting_tasks import part_of
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import SilentStream
from fake_master.state.tasks import KnownTask, TaskGroup
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources


class _Held(NamedTuple):
    """The amounts that a framework held at first in one role, and those of each of its tasks."""

    amounts: Quantities
    task: Quantities


class LostTasks:
    """The amounts that each of them held at first, and those of them that it lacks.

    Simulated frameworks are none of them: they ask again by themselves.
    """

    def __init__(self, state: MasterState) -> None:
        self._had = {
            framework.id: _held(framework, framework.suppressed)
            for framework in state.frameworks.values()
            if framework.suppressed and framework.active and isinstance(framework.stream, SilentStream)
        }
        self._seen: dict[str, Resources] = {}
        """The resources that each used when it was last looked at, by framework id."""
        self._asking: dict[str, dict[str, Quantities]] = {}
        """The amounts that each lacks, by framework id and role."""
        self.were_asked_for = False
        """Whether any framework has asked again."""

    def restart(self) -> None:
        """Another master leads, on which the frameworks have subscribed as they were at first."""
        self._seen.clear()
        self._asking.clear()

    def ask_again(self, master: Master) -> None:
        """Let each framework say whether it wants offers."""
        for framework, had in self._frameworks(master.state):
            lacking = _lacking(framework, had)
            asking = self._asking.get(framework.id, {})
            for role in lacking.keys() - asking.keys():
                master.subscriptions.revive(framework, (role,))
                self.were_asked_for = True
            for role in asking.keys() - lacking.keys():
                master.subscriptions.suppress(framework, (role,))
            self._asking[framework.id] = lacking

    def _frameworks(self, state: MasterState) -> Iterator[tuple[KnownFramework, dict[str, _Held]]]:
        """Yield those that hold something else than when they were last looked at."""
        for framework_id, had in self._had.items():
            framework = state.frameworks.get(framework_id)
            if framework is None or not framework.active:
                continue
            used = framework.used()
            if self._seen.get(framework_id) is not used:
                self._seen[framework_id] = used
                yield framework, had

    def waiting(self, state: MasterState) -> dict[tuple[str, str], int]:
        """The number of tasks that each lacks in each role, by framework id and role; 0 if it has them all again."""
        found = {}
        for framework_id, had in self._had.items():
            framework = state.frameworks.get(framework_id)
            if framework is None or not framework.active:
                continue
            lacking = _lacking(framework, had)
            for role, held in had.items():
                lacks = lacking.get(role, Quantities())
                parts = (-(-lacks.get_amount(name) // milli) for name, milli in held.task.items())
                found[framework_id, role] = max(parts, default=0)
        return found

    def answer(self, master: Master) -> None:
        """Let each framework that asked again answer its offers."""
        for framework_id, asking in self._asking.items():
            framework = master.state.frameworks.get(framework_id)
            if not asking or framework is None:
                continue
            for offer in list(framework.offers.values()):
                if offer.role in asking and offer.id in framework.offers:
                    _answer(master, framework, offer, self._had[framework_id])


def _answer(master: Master, framework: KnownFramework, offer: OutstandingOffer, had: dict[str, _Held]) -> None:
    lacking = _lacking(framework, had).get(offer.role, Quantities())
    left, tasks = offer.resources, list[KnownTask]()
    # The last task is what the others leave: their size is rounded up.
    while wanted := {name: min(milli, lacking.get_amount(name)) for name, milli in had[offer.role].task.items()}:
        part = part_of(left, Resources(Resource(name, milli) for name, milli in wanted.items() if milli))
        if not any(wanted.values()) or part is None:
            break
        name = f"again-{offer.id}-{len(tasks)}"
        tasks.append(KnownTask(name, framework.id, offer.agent_id, {"name": name}, part, offer.role))
        left -= part
        lacking -= Quantities(wanted)
    if tasks:
        master.offer_answers.launch(framework, offer.id, tasks, offer.resources - left)
    else:
        master.offer_answers.decline(framework, (offer.id,), None)


def _lacking(framework: KnownFramework, had: dict[str, _Held]) -> dict[str, Quantities]:
    used = _used(framework, had)
    lacking = {role: held.amounts - used[role] for role, held in had.items()}
    return {role: amounts for role, amounts in lacking.items() if amounts}


def _held(framework: KnownFramework, of: Collection[str]) -> dict[str, _Held]:
    counts: Counter[str] = Counter()
    for task in framework.tasks_or_groups():
        counts[task.role] += len(task) if isinstance(task, TaskGroup) else 1
    return {
        role: _Held(amounts, amounts.average(max(1, counts[role]), up=True))
        for role, amounts in _used(framework, of).items()
    }


def _used(framework: KnownFramework, of: Iterable[str]) -> dict[str, Quantities]:
    parts: dict[str, list[Resource]] = {role: [] for role in of}
    for entry in framework.used():
        role = entry.allocation_role or roles.DEFAULT_ROLE
        if role in parts:
            parts[role].append(entry)
    return {role: Resources(entries).scalar_quantities() for role, entries in parts.items()}
