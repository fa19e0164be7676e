"""Tasks of simulated frameworks that run when the master starts, and the resources that they hold."""

from dataclasses import dataclass, replace

from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from mesosctl.model.errors import BadInput
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.roles import did_you_mean
from mesosctl.model.values import Value, value_is_empty, value_subtract
from mesosctl.planning.snapshot import Usage


@dataclass(frozen=True, slots=True)
class RunningTasks:
    """Tasks of a simulated framework that run on an agent when the master starts."""

    agent: str
    """A host name."""
    resources: Resources
    """The resources that they hold together, in text form: a reserved entry names the role that owns it."""
    tasks: int = 1
    """How many of equal size; 0 is an executor without tasks."""
    role: str | None = None
    """One of the framework's roles; None is its only one."""
    volumes: tuple[str, ...] = ()
    """Ids of persistent volumes that they use."""


def usage_of(running: RunningTasks, framework: Framework, state: MasterState) -> Usage:
    """Return what the tasks hold of the free resources of their agent.  Raises BadInput."""
    where = f"framework '{framework.name}': running on {running.agent}"
    agent = next((agent for agent in state.agents.values() if agent.hostname == running.agent), None)
    if agent is None:
        hint = did_you_mean(
            running.agent, [one.hostname for one in state.agents.values()], "name the hostname of an agent"
        )
        raise BadInput(f"{where}: no agent is named '{running.agent}'", field="agent", hint=hint)
    role = running.role or (next(iter(framework.roles)) if len(framework.roles) == 1 else None)
    if role is None:
        raise BadInput(f"{where}: name one of the framework's roles", field="role", hint='role = "web"')
    free = agent.total - agent.used.allocated_to(None)
    held = Resources()
    for entry in running.resources:
        part = _part_of(free - held, entry)
        if part is None:
            problem = f"{where}: {entry} is not free there; {free - held} is"
            raise BadInput(problem, field="resources", hint="resources of other tasks, and volumes, are not free")
        held += part
    for name in running.volumes:
        volume = next((one for one in free if one.disk is not None and one.disk.persistence_id == name), None)
        if volume is None:
            raise BadInput(f"{where}: there is no unused volume '{name}'", field="volumes", hint="see [[volumes]]")
        held += Resources([volume])
    return Usage(framework.id, agent.id, role, held, running.tasks)


def _part_of(free: Resources, wanted: Resource) -> Resources | None:
    """Return entries of an agent that make up `wanted`, which names its owner; None if there is too little."""
    found: list[Resource] = []
    missing = wanted.value
    for entry in free:
        same = entry.name == wanted.name and entry.disk is None and not entry.revocable
        if same and entry.role == wanted.role and entry.is_reserved == wanted.is_reserved:
            taken = _common(missing, entry.value)
            if not value_is_empty(taken):
                found.append(replace(entry, value=taken))
            missing = value_subtract(missing, taken)
    return Resources(found) if value_is_empty(missing) else None


def _common(one: Value, other: Value) -> Value:
    """Return what is in both of two values of one kind."""
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return value_subtract(one, value_subtract(one, other))
