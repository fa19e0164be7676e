"""Numbers that JSON lacks, which come in protobuf, and end a real master that shows them as JSON.

Seen on a master of each release.
"""

import math
from collections.abc import Iterator
from typing import Any

from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.protobuf_json.messages import QUOTED_INFINITY
from mesosctl.mesos.messages.protobuf_json.releases import has

_FIRST = "1.7.3"
"""The first release that ends of them; `QUOTED_INFINITY` is the next that does not."""


def ending_number(message: Message, document: Any) -> str | None:
    """The path of a number that ends masters of the message's release once they show `document` so; None if none does.

    Fields that the message does not have are not shown, such as the health check of a task before Mesos 1.8.
    """
    if not has(message.release, _FIRST) or has(message.release, QUOTED_INFINITY):
        return None
    return next(_not_finite(message, document, ""), None)


def _not_finite(message: Message, document: Any, path: str) -> Iterator[str]:
    for name, value in document.items():
        field = message.fields.get(name)
        if field is None:
            continue
        parts = [value]
        if field.label in ("repeated", "map"):
            parts = list(value.values()) if isinstance(value, dict) else value
        for part in parts:
            if isinstance(field.type, Message):
                yield from _not_finite(field.type, part, f"{path}{name}.")
            elif isinstance(part, float) and not math.isfinite(part):
                yield path + name
