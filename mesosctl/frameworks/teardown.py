"""Removing frameworks for good, and reading back that they are gone."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.messages.frameworks import listed_frameworks
from mesosctl.mesos.messages.operator_calls import tear_down_framework
from mesosctl.mesos.rules.offers.frameworks import ListedFramework, TornDown
from mesosctl.reading.lists import as_typed, find_framework
from mesosctl.reading.targets import read_agents
from mesosctl.suggestion import command
from mesosctl.tasks.work import read_tasks


class TeardownPlan(NamedTuple):
    """A framework to remove, and what that would do."""

    framework: ListedFramework
    tasks: int
    left: str
    """A sentence about what stays reserved for its roles; empty if nothing does."""

    @property
    def title(self) -> str:
        """The framework in a phrase."""
        name = self.framework.title
        return f"'{name}'" if name == self.framework.id else f"'{name}' ({self.framework.id})"

    @property
    def loss(self) -> str:
        """A sentence about the loss."""
        tasks = counted(self.tasks, "task")
        return f"{self.title} cannot subscribe again, and {tasks} of it will be killed"


def plan_teardowns(
    master: LeadingMaster, words: Sequence[str], progress: Callable[..., None] = lambda *_: None
) -> list[TeardownPlan]:
    """The frameworks that words name, by id or name, and what their removal would do; each once.

    Raises NotFound, and UsageError if several have a name.
    """
    everybody = listed_frameworks(master.ask("GET_FRAMEWORKS"))
    names = {known.id: known.name for known in everybody}
    shows = f"{command('frameworks')} shows all of them"
    meant = dict.fromkeys(find_framework(names, word, "framework", shows) for word in words)
    chosen = {known.id: known for known in as_typed([known for known in everybody if known.id in meant], everybody)}
    tasks = Counter(task.framework_id for task in read_tasks(master))
    agents = read_agents(master, progress)
    return [TeardownPlan(chosen[known_id], tasks[known_id], _left_of(chosen[known_id], agents)) for known_id in meant]


def _left_of(framework: ListedFramework, agents: Sequence[RegisteredAgent]) -> str:
    """A sentence about what stays reserved for the roles of a framework; empty if nothing does."""
    reserved: dict[str, Quantities] = {}
    volumes = 0
    for agent in agents:
        for role, owned in agent.total.by_owner().items():
            if role in framework.roles:
                reserved[role] = reserved.get(role, Quantities()) + owned.quantities()
                volumes += sum(entry.is_persistent_volume for entry in owned)
    if not reserved:
        return ""
    parts = [f"{amounts} for '{role}'" for role, amounts in sorted(reserved.items())]
    more = f", with {counted(volumes, 'volume')}" if volumes else ""
    role = next(iter(sorted(reserved)))
    return f"stays reserved: {listed(parts)}{more}; {command('reservations', role=role)} shows it"


def tear_down_all(
    master: LeadingMaster, plans: Sequence[TeardownPlan], *, v1: bool = False, wait: bool = True
) -> list[TornDown]:
    """Remove the frameworks in order; if one of several fails, those before it stay removed, and a notice names them.

    Raises what `tear_down` raises.
    """
    done: list[TornDown] = []
    for plan in plans:
        try:
            done.append(tear_down(master, plan, v1=v1, wait=wait))
        except BaseException as stopped:
            if done:
                removed = listed([torn_down.framework.title for torn_down in done])
                if isinstance(stopped, KeyboardInterrupt):
                    stopped.add_note(f"removed {len(done)} of {len(plans)}: {removed}")
                else:
                    master.notice(f"removed before that: {removed}")
            raise
    return done


def tear_down(master: LeadingMaster, plan: TeardownPlan, *, v1: bool = False, wait: bool = True) -> TornDown:
    """Remove the framework, and read back that the master does not list it any more.

    Raises NotConfirmed and what `client.Master` raises.
    """
    framework_id = plan.framework.id

    def send() -> None:
        if v1:
            master.call(tear_down_framework(framework_id).body())
        else:
            master.post_form("/teardown", {"frameworkId": framework_id})

    def is_shown() -> bool:
        return all(framework.id != framework_id for framework in listed_frameworks(master.ask("GET_FRAMEWORKS")))

    what = f"the teardown of {plan.title}"
    confirmed = confirm(
        master, send, is_shown, what=what, wait=wait, shown_by=command("frameworks list", plan.framework.typed_id)
    )
    return TornDown(plan.framework, plan.tasks, confirmed)
