"""Names of roles, agents, frameworks and contexts, kept for a while so that a shell completes them without a master.

One file for each kind: seconds since 1970 until which it holds in the first line, a name in every other.  The names of
a master are in a folder for the way in which it was chosen: by its address, by a context, or by neither. Nothing here
ever makes a command fail.
"""

import contextlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mesosctl.cli.configuration.settings import Settings
from mesosctl.cli.environment import Kind
from mesosctl.files.redaction import Secrets
from mesosctl.files.user_folders import own_folder
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.errors import steers
from mesosctl.mesos.names import agent_names, framework_names, task_names
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

HOLDS = 120
"""Seconds for which names are valid."""
HOLDS_NOTHING = 30
"""Seconds for which a master that did not answer is not asked again."""
MOST = 5000
_LONGEST = 1000
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def kept_names(kind: Kind, settings: Settings, variables: Mapping[str, str]) -> list[str] | None:
    """The names that were kept for the master that `settings` choose; None if they are too old, or none were."""
    folder = _folder(variables)
    if folder is None:
        return None
    try:
        path = folder / kind if kind == "context" else folder / _chosen(settings) / kind
        until, *names = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return names if int(until) >= time.time() else None
    except (OSError, ValueError):
        return None


def keep_names(path: str, answer: Any, settings: Settings, variables: Mapping[str, str], secrets: Secrets) -> None:
    """Keep the names that a master's answer at `path` holds, if it holds all of a kind, and none of `secrets`."""
    folder = _folder(variables)
    if folder is None:
        return
    # It is untrusted data: anything unexpected has no names.
    with contextlib.suppress(AttributeError, KeyError, TypeError):
        for kind, names in names_in(path, answer):
            plain = [name for name in names[: 2 * MOST] if secrets.redact(name) == name]
            _write(folder / _chosen(settings) / kind, plain, HOLDS)


def keep_none(kind: Kind, settings: Settings, variables: Mapping[str, str]) -> None:
    """Remember that a master gave no names, so that it is not asked again at once."""
    folder = _folder(variables)
    if folder is not None:
        _write(folder / _chosen(settings) / kind, (), HOLDS_NOTHING)


def keep_contexts(names: Iterable[str], variables: Mapping[str, str]) -> None:
    """Keep the names of contexts."""
    folder = _folder(variables)
    if folder is not None:
        _write(folder / "context", names, HOLDS)


def forget(variables: Mapping[str, str]) -> None:
    """Drop every name: a context may name another master now."""
    folder = _folder(variables)
    if folder is not None:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def names_in(path: str, answer: Any) -> Iterator[tuple[Kind, list[str]]]:
    """Yield the names in a master's answer at `path`, by kind, as they have to be typed.

    Raises KeyError or the like if it is not as expected.
    """
    if path == "/roles":
        yield "role", [role["name"] for role in answer["roles"]]
    if path in ("/slaves", "/state"):
        agents = {agent["id"]: agent["hostname"] for agent in answer["slaves"]}
        spell = agent_names(agents).speller()
        yield "agent", [*(spell("host", host) for host in agents.values()), *(spell("id", agent) for agent in agents)]
        if all("attributes" in agent for agent in answer["slaves"]):  # not of every source
            yield "attribute", sorted({pair for agent in answer["slaves"] for pair in _pairs(agent["attributes"])})
    if path in ("/frameworks", "/state"):
        frameworks = {framework["id"]: framework["name"] for framework in answer["frameworks"]}
        spell = framework_names(frameworks).speller()
        names, ids = frameworks.values(), frameworks
        yield "framework", [*(spell("name", name) for name in names), *(spell("id", known_id) for known_id in ids)]
    if path == "/tasks":  # without more words the newest hundred, which is enough for a shell
        tasks = [(task["id"], task.get("name", "")) for task in answer["tasks"] if task["state"] not in TERMINAL_STATES]
        spell = task_names(tasks).speller()
        yield "task", [spell("id", task_id) for task_id, _ in tasks]


def _pairs(attributes: Mapping[str, str | float]) -> Iterator[str]:
    """The attributes of an agent as they are typed."""
    for name, value in attributes.items():
        yield f"{name}={value if isinstance(value, str) else format_double(value)}"


def _chosen(settings: Settings) -> str:
    """The folder for the way in which the master was chosen."""
    if settings.origin("master").kind in ("flag", "environment"):
        address = settings.options.master or ""
        start, slashes, rest = address.partition("//")
        # The text before an @ is a password.
        return "master-" + _UNSAFE.sub("_", f"{start}{slashes}{rest.rpartition('@')[2]}")
    if settings.origin("context").kind in ("flag", "environment"):
        return f"context-{settings.context}"
    return "default"


def _folder(variables: Mapping[str, str]) -> Path | None:
    folder = own_folder("XDG_CACHE_HOME", variables)
    return None if folder is None else folder / "names"


def _write(path: Path, names: Iterable[str], holds: int) -> None:
    from mesosctl.files.writing import make_private_folder, replace_file

    fitting = dict.fromkeys(name for name in names if not steers(name) and 0 < len(name) <= _LONGEST)
    lines = [str(int(time.time()) + holds), *list(fitting)[:MOST]]
    with contextlib.suppress(OSError, UnicodeError):
        make_private_folder(path.parent)
        replace_file(path, ("\n".join(lines) + "\n").encode(), settled=False)
