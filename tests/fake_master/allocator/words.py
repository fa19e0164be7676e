"""The short hand for resources in which scenarios are written.

`2/1024` is `cpus:2;mem:1024`.  An entry is NAME, then any of `(a>a/b)` for a reservation stack
(the first static, the rest dynamic; `(+a)` makes the first dynamic too), `[id]` for a volume,
`{REV}` for revocable, `<S>` for shared, then `:VALUE`.
"""

import dataclasses
import re

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources

_ENTRY = re.compile(r"(\w+)(?:\((\+?)([^)]*)\))?(?:\[(\w+)\])?(\{REV\})?(<S>)?:(.+)")


def entry(token: str) -> Resource:
    match = _ENTRY.fullmatch(token)
    assert match is not None, token
    name, dynamic, stack, volume, revocable, shared, value = match.groups()
    plain = parse_entries(f"{name}:{value}")[0]
    levels = (stack or "").split(">") if stack else []
    return dataclasses.replace(
        plain,
        reservations=tuple(
            Reservation("STATIC" if index == 0 and not dynamic else "DYNAMIC", role)
            for index, role in enumerate(levels)
        ),
        disk=Disk(persistence_id=volume) if volume else None,
        revocable=bool(revocable),
        shared=bool(shared),
    )


def expand(text: str) -> Resources:
    """Resources in short hand."""
    text = re.sub(r"(?:^|(?<=;))([\d.]+)/([\d.]+)(?=;|$)", r"cpus:\1;mem:\2", text)
    return Resources(entry(token) for token in text.split(";") if token)
