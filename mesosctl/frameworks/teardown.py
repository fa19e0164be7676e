"""Removing a framework for good, and reading back that it is gone."""

from collections.abc import Callable
from typing import NamedTuple

from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Quantities
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


def plan_teardown(master: LeadingMaster, word: str, progress: Callable[..., None] = lambda *_: None) -> TeardownPlan:
    """The framework that `word` names, by id or name, and what its removal would do.

    Raises NotFound, and UsageError if several have the name.
    """
    everybody = listed_frameworks(master.ask("GET_FRAMEWORKS"))
    names = {known.id: known.name for known in everybody}
    meant = find_framework(names, word, "framework", f"{command('frameworks')} shows all of them")
    (framework,) = as_typed([known for known in everybody if known.id == meant], everybody)
    tasks = sum(task.framework_id == framework.id for task in read_tasks(master))
    reserved: dict[str, Quantities] = {}
    volumes = 0
    for agent in read_agents(master, progress):
        for role, owned in agent.total.by_owner().items():
            if role in framework.roles:
                reserved[role] = reserved.get(role, Quantities()) + owned.quantities()
                volumes += sum(entry.is_persistent_volume for entry in owned)
    left = ""
    if reserved:
        parts = [f"{amounts} for '{role}'" for role, amounts in sorted(reserved.items())]
        more = f", with {counted(volumes, 'volume')}" if volumes else ""
        role = next(iter(sorted(reserved)))
        left = f"stays reserved: {listed(parts)}{more}; {command('reservations', role=role)} shows it"
    return TeardownPlan(framework, tasks, left)


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
