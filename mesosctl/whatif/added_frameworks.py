"""Frameworks that do not exist yet, as words of the command line, and whether their tasks could run anywhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from mesosctl.mesos.amounts.notation import check_one_type, parse_entries, parse_span
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.added_framework import FrameworkToAdd
from mesosctl.mesos.errors import MesosctlError, RuleViolation, UsageError
from mesosctl.mesos.roles import check_role, closest

OPTION = "--add-framework"
EXAMPLE = "role=db;task=cpus:2,mem:4GiB;tasks=200;every=10s;lasts=1h"
OF_ONE_TASK = "--wait"
_KEYS = ("role", "task", "tasks", "every", "lasts")
_EXAMPLES = {OPTION: EXAMPLE, OF_ONE_TASK: "role=db;task=cpus:4"}
_MOST_TASKS = 1_000_000
_LONGEST = 366 * 86400.0
"""Seconds from the first task to the end of the last: a forecast lives through all of them."""


def parse_added_framework(word: str, option: str = OPTION) -> FrameworkToAdd:
    """The value of --add-framework, such as `EXAMPLE`, or of --wait, which names a role and a task.

    Raises UsageError, and RuleViolation for invalid resources.
    """
    keys = _KEYS if option == OPTION else _KEYS[:2]

    def wrong(sentence: str, hint: str = "") -> UsageError:
        return UsageError(sentence, field=option, hint=f"{hint}for example, {option} '{_EXAMPLES[option]}'")

    given: dict[str, str] = {}
    for part in filter(str.strip, word.split(";")):
        key, equals, value = (text.strip() for text in part.partition("="))
        if key not in keys:
            if ":" in key and "task" in given:
                raise wrong(f"'{part.strip()}' belongs to the task", "separate its resources with commas; ")
            likely = closest(key, keys)
            raise wrong(f"'{key}' is not a part of {option}", f"did you mean {likely}? " if likely else "")
        if not equals or not value or key in given:
            raise wrong(f"'{part.strip()}' is not {key}=VALUE" if key not in given else f"{key} is given twice")
        given[key] = value
    if any(value.partition(",")[2].partition("=")[0].strip() in keys for value in given.values()):
        raise wrong(f"'{word}' has a comma between parts", "separate them with semicolons; ")
    missing = [key for key in ("role", "task") if key not in given]
    if missing:
        raise wrong(f"{option} has no {' and no '.join(missing)}")
    role, task = _role_and_task(given, option, wrong)
    text = given.get("tasks", "1")
    tasks = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= tasks <= _MOST_TASKS:
        raise wrong(f"tasks is '{text}': it must be a number from 1 to {_MOST_TASKS:,}")
    every = parse_span(given["every"], option) if "every" in given else 0.0
    lasts = parse_span(given["lasts"], option) if "lasts" in given else None
    if (tasks - 1) * every + (lasts or 0.0) > _LONGEST:
        raise wrong(f"'{word}' goes on for more than 366 days", "give a shorter lasts or every; ")
    return FrameworkToAdd(word, role, task, tasks, every, lasts)


def _role_and_task(given: Mapping[str, str], option: str, wrong: Callable[[str], UsageError]) -> tuple[str, Resources]:
    try:
        role = check_role(given["role"])
        entries = parse_entries(given["task"].replace(",", ";"))
        check_one_type(entries)
    except MesosctlError as error:
        error.field = option
        raise
    task = Resources(entries)
    if len({entry.name for entry in entries}) < len(entries):
        raise wrong(f"'{given['task']}' names a resource twice")
    if not task or any(not entry.is_scalar or entry.is_reserved for entry in task):
        raise wrong(f"'{given['task']}' is not the size of a task: amounts above zero are needed")
    return role, task


def check_resources(added: Sequence[FrameworkToAdd], totals: Iterable[Resources], option: str = OPTION) -> None:
    """Raise RuleViolation for a task of `option` with a resource that no agent has, which may be mistyped."""
    known = sorted({entry.name for total in totals for entry in total})
    for framework in added:
        for entry in framework.task:
            if entry.name not in known:
                likely = closest(entry.name, known)
                raise RuleViolation(
                    f"no agent has the resource '{entry.name}'",
                    field=option,
                    rule="resource.known",
                    hint=f"did you mean {likely}?" if likely else None,
                    override="allow_new_resource",
                )
