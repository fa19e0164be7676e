"""A framework that does not exist yet: the option that describes it, and what becomes of its tasks in a replay."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mesosctl.model.errors import MesosctlError, RuleViolation, UsageError
from mesosctl.model.notation import check_one_type, counted, format_span, parse_entries, parse_span
from mesosctl.model.resources import Resources
from mesosctl.model.roles import check_role, closest

OPTION = "--add-framework"
EXAMPLE = "role=db;task=cpus:2,mem:4GiB;tasks=200;every=10s;lasts=1h"
OF_ONE_TASK = "--wait"
_KEYS = ("role", "task", "tasks", "every", "lasts")
_EXAMPLES = {OPTION: EXAMPLE, OF_ONE_TASK: "role=db;task=cpus:4"}
_MOST_TASKS = 1_000_000
_LONGEST = 366 * 86400.0
"""Seconds from the first task to the end of the last: a forecast lives through all of them."""


@dataclass(frozen=True, slots=True)
class AddedFramework:
    """A framework, and the tasks of one size that it asks for from the beginning on."""

    word: str
    """As it was typed."""
    role: str
    task: Resources
    tasks: int = 1
    every: float = 0.0
    """Seconds from one task to the next; 0 if it asks for all of them at once."""
    lasts: float | None = None
    """Seconds that each runs; None if it runs until the end."""


def parse_added_framework(word: str, option: str = OPTION) -> AddedFramework:
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
    return AddedFramework(f"{option} {word}", role, task, tasks, every, lasts)


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


def check_resources(added: Sequence[AddedFramework], totals: Iterable[Resources]) -> None:
    """Raise RuleViolation for a task with a resource that no agent has, which may be mistyped."""
    known = sorted({entry.name for total in totals for entry in total})
    for one in added:
        for entry in one.task:
            if entry.name not in known:
                likely = closest(entry.name, known)
                raise RuleViolation(
                    f"no agent has the resource '{entry.name}'",
                    field=OPTION,
                    rule="resource.known",
                    hint=f"did you mean {likely}?" if likely else "--allow-new-resource skips this check",
                )


# --- The answer -----------------------------------------------------------------------------------------


class AddedOutcome(NamedTuple):
    """When the tasks of an added framework start and end.  Times are seconds after the beginning."""

    framework: AddedFramework
    tasks: int
    """Those that it asks for before the end."""
    started_at_once: int
    """Within one allocation interval."""
    started: int
    never_fit: int
    last_start: float | None
    """None unless all that fit start."""
    all_done: float | None
    """None unless all that fit end."""
    asked_later: int = 0
    """Tasks that it would ask for only after the end."""

    @property
    def sentence(self) -> str:
        """Return it in a sentence."""
        said = self._course()
        return f"{said}; it asks for {self.asked_later:,} more after the end" if self.asked_later else said

    def _course(self) -> str:
        role, fit = self.framework.role, self.tasks - self.never_fit
        if not fit:
            return f"{role}: no agent has room for such a task, even if it is empty"
        said = f"{role}: {self.started_at_once:,} of {counted(self.tasks, 'task')} start at once"
        if self.last_start is None:
            return f"{said}, and {fit - self.started:,} do not start before the end"
        if self.started_at_once < fit:
            said += f", the last starts after {format_span(self.last_start)}"
        if self.framework.lasts is None:
            return said
        if self.all_done is None:
            return f"{said}; not all of them are done before the end"
        return f"{said}; all are done after {format_span(self.all_done)}"
