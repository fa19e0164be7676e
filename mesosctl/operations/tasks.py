"""The tasks of a master: those that hold resources, and a list of those that are wanted."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mesosctl.api import tasks as tasks_api
from mesosctl.api.elements.tasks import TASK, ShownTask
from mesosctl.api.frameworks import completed_frameworks, listed_frameworks
from mesosctl.api.protobuf_json.message_tables import Enumeration, mesos_message
from mesosctl.client.leading_master import Master
from mesosctl.model.errors import NotFound, UsageError
from mesosctl.model.notation import natural
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.roles import did_you_mean
from mesosctl.model.suggestion import command
from mesosctl.model.tasks import UNREACHABLE, ListedTask
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.operations.cluster import Progress, frameworks_named
from mesosctl.operations.list_selection import SortKey, role_key, serving, sort_entries
from mesosctl.operations.reservations.targets import find_agent, on_agents, read_agents
from mesosctl.planning.displacement import RunningTask

TASK_KEYS = ("task", "name", "framework", "role", "agent", "state", "since")
"""The keys that a list of tasks can be sorted by, in addition to the names of resources."""


def read_tasks(master: Master) -> list[ShownTask]:
    """Every task that holds resources and that this principal may see.  Raises UnexpectedAnswer."""
    shown = _shown(master, tasks_api.RUNNING)
    return [task for task in shown if task.state not in TERMINAL_STATES and task.state != UNREACHABLE]


def running_tasks(master: Master, *, agents: frozenset[str]) -> list[RunningTask]:
    """The tasks on these agents, with the names of their frameworks."""
    held = [task for task in read_tasks(master) if task.agent_id in agents]
    if not held:
        return []
    names = {one.id: one.title for one in listed_frameworks(master.ask("GET_FRAMEWORKS"))}
    return [
        RunningTask(one.id, names.get(one.framework_id, one.framework_id), one.agent_id, one.role, one.resources)
        for one in held
    ]


def _shown(master: Master, *lists: str, progress: Progress = lambda *_: None) -> list[ShownTask]:
    with master.hearing(lambda size, part: progress(f"reading the tasks: {size / 2**20:.1f} MiB …", part)):
        found: list[ShownTask] = master.stream_call("GET_TASKS", lambda it: tasks_api.tasks_shown(it, *lists))
    return found


class WantedTasks(NamedTuple):
    """The selected tasks of a list, and their order."""

    names: Sequence[str] = ()
    """Ids or names; the default is all."""
    framework: str | None = None
    role: str | None = None
    agent: str | None = None
    attributes: Mapping[str, str] = {}
    """Of the agent that a task is on."""
    states: Sequence[str] = ()
    """As Mesos names them.  By default, all states that are not final."""
    ended: bool = False
    """Whether tasks in final states are among them too."""
    sort: str | None = None
    """One of `TASK_KEYS`, or as in `selection.Selection`."""


class TaskList(NamedTuple):
    """The tasks that were found."""

    tasks: list[ListedTask]
    agents: list[RegisteredAgent]
    """All agents."""
    roles: frozenset[str]
    """Those of all tasks, whether they are wanted or not."""


def list_tasks(master: Master, wanted: WantedTasks, progress: Progress = lambda *_: None) -> TaskList:
    """Return the selected tasks, by default sorted by id.

    Raises NotFound for a task, a framework or an agent that does not exist, and UsageError for an unknown key, or for a
    word that several agents match.
    """
    may_have_ended = wanted.names or wanted.ended or not TERMINAL_STATES.isdisjoint(wanted.states)
    shown = _shown(master, *(tasks_api.ALL if may_have_ended else tasks_api.PRESENT), progress=progress)
    answer = master.ask("GET_FRAMEWORKS")
    frameworks = [*listed_frameworks(answer), *completed_frameworks(answer)]
    agents = read_agents(master, progress, recovering=True)
    master.settings.learn("/tasks", {"tasks": [{"id": one.id, "state": one.state} for one in shown]})
    of_framework = (
        None
        if wanted.framework is None
        else {one.id for one in frameworks_named(frameworks, [wanted.framework], "--framework")}
    )
    on_agent = None if wanted.agent is None else find_agent(agents, wanted.agent).id
    having = on_agents(agents, wanted.attributes) if wanted.attributes else None
    titles = {one.id: one.title for one in frameworks}
    hostnames = {one.id: one.hostname for one in agents}
    found = [
        ListedTask(
            one.id,
            one.name,
            one.framework_id,
            titles.get(one.framework_id, one.framework_id),
            one.role,
            one.agent_id,
            hostnames.get(one.agent_id),
            one.state,
            one.resources,
            one.time,
        )
        for one in sorted(shown, key=lambda one: (one.id, one.framework_id))
    ]
    chosen = [
        one
        for one in serving(_named(found, wanted), wanted.role)
        if (of_framework is None or one.framework_id in of_framework)
        and (on_agent is None or one.agent_id == on_agent)
        and (having is None or one.agent_id in having)
        and _is_in_state(one, wanted)
    ]
    keys: dict[str, SortKey[ListedTask]] = {
        "task": lambda one: natural(one.id),
        "name": lambda one: natural(one.name),
        "framework": lambda one: (natural(one.framework), one.framework_id),
        "role": lambda one: role_key(one.role),
        "agent": lambda one: (natural(one.agent), one.agent_id),
        "state": lambda one: one.state,
        "since": lambda one: (one.since is None, one.since),
    }
    amounts = (one.resources.quantities() for one in found)
    if wanted.sort is not None:
        chosen.sort(key=keys["task"])  # the order of those that the key does not tell apart
    ordered = sort_entries(chosen, wanted.sort, keys, lambda one: one.resources.quantities(), amounts, own="task")
    return TaskList(ordered, agents, frozenset(one.role for one in found))


def _named(tasks: list[ListedTask], wanted: WantedTasks) -> list[ListedTask]:
    """The tasks with the names that are wanted.  Raises NotFound for a name that none has in a wanted state."""
    if not wanted.names:
        return tasks
    names = frozenset(wanted.names)
    found = [one for one in tasks if one.id in names or one.name in names]
    there = {name for one in found if _is_in_state(one, wanted) for name in (one.id, one.name)}
    for word in wanted.names:
        if word in there:
            continue
        if any(word in (one.id, one.name) for one in found):
            every = command("tasks list", word, all=True)
            told, hint = f"task '{word}' is in another state", f"{every} shows it"
            if not wanted.states:
                told = f"task '{word}' has ended"
        else:
            known = [name for one in tasks if _is_in_state(one, wanted) for name in (one.name, one.id) if name]
            told, hint = (
                f"no task is named '{word}'",
                did_you_mean(word, known, f"{command('tasks')} shows all of them"),
            )
        raise NotFound(told, field="task", rule="task.exists", hint=hint)
    return found


def _is_in_state(task: ListedTask, wanted: WantedTasks) -> bool:
    return task.state in wanted.states if wanted.states else wanted.ended or not task.has_ended


def state_names() -> list[str]:
    """The states of tasks, in small letters and without TASK_."""
    states = mesos_message(TASK).fields["state"].type
    assert isinstance(states, Enumeration), "TaskState is one"
    return [name.removeprefix(_PREFIX).lower() for name in states.values]


_PREFIX = "TASK_"


def state_named(word: str, field: str) -> str:
    """The state that a word means, with TASK_ or without, in any case.  Raises UsageError."""
    short = word.upper().removeprefix(_PREFIX).lower()
    known = state_names()
    if short not in known:
        raise UsageError(
            f"'{word}' is not a state of tasks",
            field=field,
            hint=did_you_mean(short, known, f"the states are {', '.join(known)}"),
        )
    return _PREFIX + short.upper()
