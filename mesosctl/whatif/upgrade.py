"""An upgrade of the master: the requests that are tried, and the commands that keep today's meaning.

A line of a file of requests is `METHOD PATH [BODY]`, or a line of an access log, or of a Mesos master's own log.
"""

import re
from collections import Counter
from collections.abc import Callable
from io import BufferedIOBase

from mesosctl.files.reading import read_within
from mesosctl.mesos.amounts.amount_text import as_typed
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.door.upgrade import SentRequest, Upgrade
from mesosctl.mesos.errors import BadInput
from mesosctl.suggestion import command

_METHODS = "GET|HEAD|POST|PUT|DELETE"
_FORMS = (
    re.compile(rf"\s*(?P<method>{_METHODS})\s+(?P<target>/\S*)(?:\s+(?P<body>\S.*?))?\s*"),
    re.compile(rf'.*?"(?P<method>{_METHODS}) (?P<target>/\S*) HTTP/[0-9.]+".*'),
    re.compile(rf".*\bHTTP (?P<method>{_METHODS}) for (?P<target>/\S*) from .*"),
)


def read_requests(file: BufferedIOBase, where: str, note: Callable[[str], None]) -> list[SentRequest]:
    """The requests of a file, each once, in the order in which they first come.

    Lines without a request are passed over with a note.  Raises BadInput for a file without any, and OSError.
    """
    text = read_within(file)
    times, others = Counter[SentRequest](), 0
    for line in text.decode(errors="replace").splitlines():
        sent = _request(line)
        if sent is not None:
            times[sent] += 1
        elif line.strip() and not line.lstrip().startswith("#"):
            others += 1
    if not times:
        raise BadInput(
            f"no line of {where} is a request",
            field="--requests",
            hint='write a line for each, such as GET /state, or POST /api/v1 {"type": "GET_ROLES"}',
        )
    if others:
        note(f"{where}: {counted(others, 'line')} without a request")
    return [sent._replace(times=count) for sent, count in times.items()]


def _request(line: str) -> SentRequest | None:
    for form in _FORMS:
        if found := form.fullmatch(line):
            groups = found.groupdict()
            return SentRequest(groups["method"], groups["target"], (groups.get("body") or "").encode())
    return None


def commands_before(upgrade: Upgrade) -> list[str]:
    """The commands that keep today's meaning, to be run before the new master starts."""
    roles = [role for role, _ in upgrade.set_again]
    return [command("quota remove", *roles)] if roles else []


def commands_after(upgrade: Upgrade) -> list[str]:
    """The commands that keep today's meaning, to be run when the new master leads."""
    return [command("quota set", role, *as_typed(guarantee)) for role, guarantee in upgrade.set_again if guarantee]
