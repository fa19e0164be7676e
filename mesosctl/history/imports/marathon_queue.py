"""The launch queue of Marathon as demand: who waits, for how many tasks, and since when.

`GET /v2/queue` answers with an item for each app that has instances left to launch. These are the members that are read
(Marathon's REST API, `queue.raml` and `app.raml`): `count` and `since` of the item, and of its `app` the `id`, `role`,
`cpus`, `mem`, `disk` and `gpus`.

An answer says how many instances wait, and not which ones. So those that were asked for first are taken to start first.
The instances with which an app enters the queue were asked for at `since`. Those by which its count grows later were
asked for when an answer first shows them.
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from mesosctl.history.imports.demand import DemandRow
from mesosctl.history.imports.log_file import LogText
from mesosctl.history.imports.rows import LONGEST_NAME, LocalTimes, Unusable, amounts, micros_in, milli_in, role_in
from mesosctl.history.records import MICROS, Micros
from mesosctl.mesos.errors import BadInput

FRAMEWORK = "marathon"
"""The name that Marathon gives to itself, unless it is started with another --framework_name."""
_MOST = 64 << 20
"""The most characters of an answer that is written in several lines."""
_MOST_INSTANCES = 1_000_000
"""The most instances of all answers, which are in memory while they are joined."""


class _App(msgspec.Struct):
    id: str
    role: str | None = None
    cpus: float = 0
    mem: float = 0
    disk: float = 0
    gpus: float = 0


class _Item(msgspec.Struct):
    count: int
    since: datetime
    app: _App | None = None
    """None for a pod: each of its containers is a task."""


class _Answer(msgspec.Struct):
    queue: list[_Item] = []
    at: str | float | None = None
    """The time at which it came, added by those who keep several answers."""


class _Kind(NamedTuple):
    """The tasks of an app as one version of it has them."""

    app: str
    role: str | None
    amounts: tuple[float, ...]


class _Instance:
    """An instance that was seen to wait."""

    __slots__ = ("asked", "is_told", "kind", "left", "line", "number", "seen")

    def __init__(self, line: int, number: int, kind: _Kind, asked: Micros, seen: Micros | None) -> None:
        self.line, self.number, self.kind, self.asked, self.seen = line, number, kind, asked, seen
        self.left = False
        self.is_told = False
        """Whether it was told after it had left."""


class MarathonQueue:
    """Answers of one Marathon, in the order of time.

    queue.take(1, at, answer)        the text of an answer, and when it came
    queue.rows()                     an instance a row, by when each was asked for
    """

    def __init__(self, framework: str = FRAMEWORK) -> None:
        self._framework = framework
        self._instances: list[_Instance] = []
        self._waiting: dict[_Kind, deque[_Instance]] = {}
        self._last: Micros | None = None
        self._came = 0
        """The number of instances that were seen."""
        self.pods = 0
        """The number of pods that were seen, which are left out."""

    def take(self, line: int, text: str | bytes, at: Micros | None = None) -> None:
        """Take an answer; `at` is when it came, unless it says so itself.  Raises Unusable."""
        try:
            answer = _ANSWERS.decode(text)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            raise Unusable("it is not an answer of /v2/queue", "") from None
        if answer.at is not None:
            at = micros_in(str(answer.at), "at", LocalTimes(UTC))
        if self._instances and (at is None or at < (self._last or 0)):
            raise Unusable("of several answers, each needs the member 'at', in the order of time", "")
        present: dict[_Kind, _Item] = {}
        for item in answer.queue:
            if item.app is None:
                self.pods += 1
            else:
                present[_kind_of(item.app)] = item
        for kind in self._waiting.keys() - present.keys():
            for instance in self._waiting.pop(kind):
                instance.left = True
        for kind, item in present.items():
            self._count(line, kind, item, at)
        self._last = at

    def _count(self, line: int, kind: _Kind, item: _Item, at: Micros | None) -> None:
        since = round(item.since.timestamp() * MICROS)
        waiting = self._waiting.setdefault(kind, deque())
        is_new = not waiting or self._last is None or since > self._last
        for _ in range(len(waiting) - max(0, item.count)):
            waiting.popleft().left = True
        for instance in waiting:
            instance.seen = at
        more = item.count - len(waiting)
        if len(self._instances) + more > _MOST_INSTANCES:
            raise Unusable(f"more than {_MOST_INSTANCES:,} instances wait, in all answers together", "count")
        for _ in range(more):
            asked = since if is_new or at is None else at
            self._came += 1
            waiting.append(_Instance(line, self._came, kind, asked, at))
            self._instances.append(waiting[-1])

    def forget_left(self) -> None:
        """Forget those that had left already when this was called before: what became of them is known."""
        self._instances = [instance for instance in self._instances if not instance.is_told]
        for instance in self._instances:
            instance.is_told = instance.left

    def rows(self) -> Iterator[DemandRow]:
        """Yield an instance a row."""
        for instance in self._instances:
            kind = instance.kind
            held = amounts(
                {
                    name: milli_in(str(amount), name)
                    for name, amount in zip(("cpus", "mem", "disk", "gpus"), kind.amounts, strict=True)
                    if amount
                }
            )
            yield DemandRow(
                instance.line,
                instance.asked,
                None,
                self._framework,
                kind.role,
                held,
                seen=instance.seen,
                left=instance.left,
                name=f"{kind.app}#{instance.number}",
            )


_ANSWERS: msgspec.json.Decoder[_Answer] = msgspec.json.Decoder(_Answer)


def _kind_of(app: _App) -> _Kind:
    """Raises Unusable for names that nobody can have given."""
    if len(app.id) > LONGEST_NAME or len(app.role or "") > LONGEST_NAME:
        raise Unusable(f"a name in it is longer than {LONGEST_NAME} characters", "")
    if app.role is not None:
        role_in(app.role, "role")
    return _Kind(app.id, app.role, (app.cpus, app.mem, app.disk, app.gpus))


class MarathonQueueFile:
    """`--format marathon-queue`: one answer, or an answer a line, each with the time at which it came as `at`."""

    def __init__(self, file: LogText, framework: str = FRAMEWORK) -> None:
        self._file = file
        self._queue = MarathonQueue(framework)

    def remarks(self) -> list[str]:
        """The sentences about what is left out, once all rows are read."""
        pods = self._queue.pods
        return [f"pods were left out, {pods:,} in all: each of their containers is a task of its own"] if pods else []

    def __iter__(self) -> Iterator[DemandRow]:
        """Yield an instance a row.  Raises BadInput for an answer that cannot be used."""
        file, line = self._file, 0
        try:
            for line, text in file.rows():
                if not text.strip():
                    continue
                if line == 1 and not _is_whole(text):
                    self._queue.take(line, text + self._rest())
                    break
                self._queue.take(line, text)
            yield from self._queue.rows()
        except Unusable as error:
            raise BadInput(
                f"{file.name}, line {line}: {error.cause}; nothing was imported",
                field="FILE",
                hint="write what GET /v2/queue of Marathon answers; to several answers, one a line, add their times",
            ) from None

    def _rest(self) -> str:
        found, length = [], 0
        for text in self._file:
            self._file.begin_row()
            found.append(text)
            length += len(text)
            if length > _MOST:
                raise Unusable("it is too long for one answer", "")
        return "".join(found)


def _is_whole(text: str) -> bool:
    """Whether a line is JSON by itself."""
    try:
        found: Any = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return False
    return found is not None
