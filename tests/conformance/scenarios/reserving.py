"""The words in which the tables about reservations are written."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.conformance.scenarios.scenario import Step, form, get, scalar


def dynamic(role: str, principal: str | None = None, **labels: str) -> dict[str, Any]:
    """One level of a stack, as it is sent and as it is shown."""
    entry: dict[str, Any] = {"type": "DYNAMIC", "role": role}
    if principal is not None:
        entry["principal"] = principal
    if labels:
        entry["labels"] = {"labels": [{"key": key, "value": value} for key, value in labels.items()]}
    return entry


def static(role: str) -> dict[str, Any]:
    return {"type": "STATIC", "role": role}


def cpus(amount: Any, *stack: dict[str, Any], **more: Any) -> dict[str, Any]:
    return scalar("cpus", amount, **({"reservations": list(stack)} if stack else {}), **more)


def mem(amount: Any, *stack: dict[str, Any]) -> dict[str, Any]:
    return scalar("mem", amount, reservations=list(stack))


def disk(amount: Any, *stack: dict[str, Any], **info: Any) -> dict[str, Any]:
    """A disk; `info` is its disk info, none for plain disk."""
    owned = {"reservations": list(stack)} if stack else {}
    return scalar("disk", amount, **owned, **({"disk": info} if info else {}))


def ports(*spans: tuple[int, int], by: dict[str, Any]) -> dict[str, Any]:
    ranges = {"range": [{"begin": begin, "end": end} for begin, end in spans]}
    return {"name": "ports", "type": "RANGES", "ranges": ranges, "reservations": [by]}


def reserve(*resources: Any, on: str = "@A1", **more: Any) -> Step:
    return form("/reserve", slaveId=on, resources=list(resources), **more)


def unreserve(*resources: Any, on: str = "@A1") -> Step:
    return form("/unreserve", slaveId=on, resources=list(resources))


def create(*volumes: Any, on: str = "@A1") -> Step:
    return form("/create-volumes", slaveId=on, volumes=list(volumes))


def destroy(*volumes: Any, on: str = "@A1") -> Step:
    return form("/destroy-volumes", slaveId=on, volumes=list(volumes))


def shows(number: int = 1, /, **by_role: list[dict[str, Any]]) -> Step:
    """What an agent has reserved, as /slaves writes it; "__" in a name stands for "/"."""
    shown = {role.replace("__", "/"): [_shown(entry) for entry in entries] for role, entries in by_role.items()}
    part: Callable[[Any], Any] = partial(_reserved_on, number)
    return get("/slaves").gives(200, shown, part=part)


def _reserved_on(number: int, slaves: Any) -> Any:
    """`reserved_resources_full` of the agent with that number in its pid."""
    return next(
        agent["reserved_resources_full"] for agent in slaves["slaves"] if agent["pid"].startswith(f"slave({number})@")
    )


def _shown(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry in the format of the endpoints, where a single reservation is written twice."""
    stack = entry["reservations"]
    if len(stack) > 1:
        return entry
    only = stack[0]
    before = {key: value for key, value in only.items() if key not in ("type", "role")}
    return {**entry, "role": only["role"], **({"reservation": before} if only["type"] == "DYNAMIC" else {})}
