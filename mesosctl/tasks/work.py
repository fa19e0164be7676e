"""The work of `tasks`: it reads the tasks that hold resources, and selects those that are wanted."""

from collections.abc import Sequence
from typing import NamedTuple

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import natural
from mesosctl.mesos.cluster.displacement import RunningTask
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.selectors import Selectors
from mesosctl.mesos.cluster.tasks import UNREACHABLE, ListedTask
from mesosctl.mesos.errors import NotFound, UsageError
from mesosctl.mesos.messages import tasks as tasks_api
from mesosctl.mesos.messages.elements.tasks import TASK, ShownTask
from mesosctl.mesos.messages.frameworks import completed_frameworks, listed_frameworks
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, mesos_message
from mesosctl.mesos.names import Spelling, framework_names, task_names
from mesosctl.mesos.roles import did_you_mean
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES
from mesosctl.reading.lists import Progress, frameworks_named
from mesosctl.reading.selection import SortKey, role_key, serving, sort_entries
from mesosctl.reading.targets import find_agent, names_of, on_agents, read_agents
from mesosctl.suggestion import command

TASK_KEYS = ("task", "name", "framework", "role", "agent", "state", "since")
"""The keys that a list of tasks can be sorted by, in addition to the names of resources."""


def read_tasks(master: LeadingMaster) -> list[ShownTask]:
    """Every task that holds resources and that this principal may see.  Raises UnexpectedAnswer."""
    shown = tasks_kept(master)
    return [task for task in shown if task.state not in TERMINAL_STATES and task.state != UNREACHABLE]


def tasks_kept(master: LeadingMaster) -> list[ShownTask]:
    """Every task of a registered agent, with those that have ended without an acknowledgement.

    Raises UnexpectedAnswer.
    """
    return _shown(master, tasks_api.RUNNING)


def tasks_out_of_reach(master: LeadingMaster) -> list[ShownTask]:
    """The tasks on unreachable agents that this principal may see.  Raises UnexpectedAnswer."""
    return [task for task in _shown(master, *tasks_api.PRESENT) if task.state == UNREACHABLE]


def running_tasks(master: LeadingMaster, *, agents: frozenset[str]) -> list[RunningTask]:
    """The tasks on these agents, with the names of their frameworks."""
    return _with_names(master, [task for task in read_tasks(master) if task.agent_id in agents])


def unreachable_tasks(master: LeadingMaster, *, agents: frozenset[str]) -> list[RunningTask]:
    """The tasks on these agents, which are unreachable, with the names of their frameworks."""
    return _with_names(master, [task for task in tasks_out_of_reach(master) if task.agent_id in agents])


def _with_names(master: LeadingMaster, held: Sequence[ShownTask]) -> list[RunningTask]:
    """Tasks, with the names of their frameworks."""
    if not held:
        return []
    names = {framework.id: framework.title for framework in listed_frameworks(master.ask("GET_FRAMEWORKS"))}
    return [
        RunningTask(task.id, names.get(task.framework_id, task.framework_id), task.agent_id, task.role, task.resources)
        for task in held
    ]


def _shown(master: LeadingMaster, *lists: str, progress: Progress = lambda *_: None) -> list[ShownTask]:
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
    attributes: Selectors = ()
    """Of the agent that a task is on."""
    states: Sequence[str] = ()
    """As Mesos names them.  By default, all states that are not final."""
    ended: bool = False
    """Whether tasks in final states are among them too."""
    sort: str | None = None
    """One of `TASK_KEYS`, or as in `selection.Selection`."""


class FoundTasks(NamedTuple):
    """The tasks that were found."""

    tasks: list[ListedTask]
    agents: list[RegisteredAgent]
    """All agents."""
    spelling: Spelling
    """How names are typed, which may mean any task in a wanted state."""


def list_tasks(master: LeadingMaster, wanted: WantedTasks, progress: Progress = lambda *_: None) -> FoundTasks:
    """Return the selected tasks, by default sorted by id.

    Raises NotFound for a task, a framework or an agent that does not exist, and UsageError for an unknown key, or for a
    word that several agents match.
    """
    may_have_ended = wanted.names or wanted.ended or not TERMINAL_STATES.isdisjoint(wanted.states)
    shown = _shown(master, *(tasks_api.ALL if may_have_ended else tasks_api.PRESENT), progress=progress)
    answer = master.ask("GET_FRAMEWORKS")
    frameworks = [*listed_frameworks(answer), *completed_frameworks(answer)]
    agents = read_agents(master, progress, recovering=True)
    master.settings.learn(
        "/tasks", {"tasks": [{"id": task.id, "name": task.name, "state": task.state} for task in shown]}
    )
    of_framework = (
        None
        if wanted.framework is None
        else {framework.id for framework in frameworks_named(frameworks, [wanted.framework], "--framework")}
    )
    on_agent = None if wanted.agent is None else find_agent(agents, wanted.agent).id
    having = on_agents(agents, wanted.attributes) if wanted.attributes else None
    titles = {framework.id: framework.title for framework in frameworks}
    hostnames = {agent.id: agent.hostname for agent in agents}
    found = [
        ListedTask(
            task.id,
            task.name,
            task.framework_id,
            titles.get(task.framework_id, task.framework_id),
            task.role,
            task.agent_id,
            hostnames.get(task.agent_id),
            task.state,
            task.resources,
            task.time,
        )
        for task in sorted(shown, key=lambda task: (task.id, task.framework_id))
    ]
    named = _named(found, wanted)
    chosen = [
        task
        for task in serving(named, wanted.role)
        if (of_framework is None or task.framework_id in of_framework)
        and (on_agent is None or task.agent_id == on_agent)
        and (having is None or task.agent_id in having)
    ]
    keys: dict[str, SortKey[ListedTask]] = {
        "task": lambda task: natural(task.id),
        "name": lambda task: natural(task.name),
        "framework": lambda task: (natural(task.framework), task.framework_id),
        "role": lambda task: role_key(task.role),
        "agent": lambda task: (natural(task.agent), task.agent_id),
        "state": lambda task: task.state,
        "since": lambda task: (task.since is None, task.since),
    }
    amounts = (task.resources.quantities() for task in found)
    if wanted.sort is not None:
        chosen.sort(key=keys["task"])  # the order of those that the key does not tell apart
    ordered = sort_entries(chosen, wanted.sort, keys, lambda task: task.resources.quantities(), amounts, own="task")
    spelling = Spelling(
        agent=names_of(agents).speller(),
        framework=framework_names({framework.id: framework.name for framework in frameworks}).speller(),
        task=task_names((task.id, task.name) for task in found if _is_in_state(task, wanted)).speller(),
    )
    return FoundTasks(ordered, agents, spelling)


def _named(tasks: list[ListedTask], wanted: WantedTasks) -> list[ListedTask]:
    """The tasks with the names that are wanted, of those in a wanted state.

    Raises NotFound for a name that none of them has, UsageError for one that is the id of some and the name of others.
    """
    present = [task for task in tasks if _is_in_state(task, wanted)]
    if not wanted.names:
        return present
    names = task_names((task.id, task.name) for task in present)
    others = task_names((task.id, task.name) for task in tasks)
    for word in wanted.names:
        if names.every(word, "task"):
            continue
        if not others.every(word, "task"):
            raise names.absent(word, "task", f"{command('tasks')} shows all of them")
        raise NotFound(
            f"task '{word}' " + ("is in another state" if wanted.states else "has ended"),
            field="task",
            rule="task.exists",
            hint=f"{command('tasks list', word, all=True)} shows it",
        )
    return [present[place] for place in names.chosen(wanted.names, "task")]


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
