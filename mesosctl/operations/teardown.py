"""Removing a framework for good, and reading back that it is gone."""

from collections.abc import Callable
from typing import NamedTuple

from mesosctl.api.frameworks import listed_frameworks
from mesosctl.client.leading_master import Master
from mesosctl.model.notation import counted, listed
from mesosctl.model.offers.frameworks import ListedFramework, TornDown
from mesosctl.model.quantities import Quantities
from mesosctl.model.suggestion import command
from mesosctl.operations.cluster import find_framework
from mesosctl.operations.confirm import confirm
from mesosctl.operations.reservations.targets import read_agents
from mesosctl.operations.tasks import read_tasks


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


def plan_teardown(master: Master, word: str, progress: Callable[..., None] = lambda *_: None) -> TeardownPlan:
    """The framework that `word` names, by id or name, and what its removal would do.

    Raises NotFound, and UsageError if several have the name.
    """
    frameworks = {one.id: one for one in listed_frameworks(master.ask("GET_FRAMEWORKS"))}
    names = {one.id: one.name for one in frameworks.values()}
    framework = frameworks[find_framework(names, word, "framework", f"{command('frameworks')} shows all of them")]
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


def tear_down(master: Master, plan: TeardownPlan, *, v1: bool = False, wait: bool = True) -> TornDown:
    """Remove the framework, and read back that the master does not list it any more.

    Raises NotConfirmed and what `client.Master` raises.
    """
    from mesosctl.api.teardown import TeardownFrameworkCall

    framework_id = plan.framework.id

    def send() -> None:
        if v1:
            master.call(TeardownFrameworkCall.of(framework_id).body())
        else:
            master.post_form("/teardown", {"frameworkId": framework_id})

    def is_shown() -> bool:
        return all(one.id != framework_id for one in listed_frameworks(master.ask("GET_FRAMEWORKS")))

    what = f"the teardown of {plan.title}"
    confirmed = confirm(master, send, is_shown, what=what, wait=wait, shown_by=command("frameworks list", framework_id))
    return TornDown(plan.framework, plan.tasks, confirmed)
