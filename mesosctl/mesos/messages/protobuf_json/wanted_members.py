"""Elements of a list in JSON text, many at once, of which only the members that are wanted are decoded.

A cluster has hundreds of thousands of tasks.  msgspec decodes a run of them in one step, and skips what is not wanted.
What it refuses, or might judge differently from `decoding`, is left to the JSON reader, which accepts every spelling
and reports mistakes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import msgspec

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message
from mesosctl.mesos.messages.responses import NATURAL

EMPTY_LIST, EMPTY_OBJECT = msgspec.Raw(b"[]"), msgspec.Raw(b"{}")
"""The values that an absent member stands for."""

_OPENING = re.compile(r'\{("[^"\\]*":)(?:"[^"\\]*",("[^"\\]*":))?')
"""The name of an object's first member, and of its second if the first is a string."""
_ALIKE = bytes.maketrans(b"123456789E\t\n\r ]}", b"000000000e,,,,,,")
"""Every digit as 0, and everything that ends a number as a comma: what is looked for then begins with fixed text, which
takes a tenth of the time of a pattern of classes."""
_EXPONENT = re.compile(rb"0e\+?0+,")
_LONGEST_RUN = 1 << 16
"""Characters."""
_MOST_LEFT = 1 << 16
"""Elements."""


_TYPES: Mapping[str, type] = {
    "string": str,
    "bool": bool,
    "double": float,
    **dict.fromkeys(("int32", "int64", "uint32", "uint64"), int),
}


def decoded_members(message: Message, *paths: str) -> Any:
    """The type for msgspec of an element: these members of a message, such as `agent_info.hostname`, and no others.

    Lists, maps and whole messages stay undecoded (`Raw`).
    """
    inner: dict[str, list[str]] = {}
    for path in paths:
        name, _, rest = path.partition(".")
        inner.setdefault(name, []).extend([rest] if rest else [])
    members = {name: _member(message.fields[name], wanted) for name, wanted in inner.items()}
    return TypedDict(message.title, members)  # type: ignore[operator]


def _member(field: Field, wanted: Sequence[str]) -> Any:
    kind: Any = msgspec.Raw
    if wanted and isinstance(field.type, Message):
        kind = decoded_members(field.type, *wanted)
    elif field.label not in ("repeated", "map"):
        kind = str if isinstance(field.type, Enumeration) else _TYPES.get(str(field.type), msgspec.Raw)
    # In a TypedDict, msgspec refuses a Raw that is required.
    return kind if field.label == "required" and kind is not msgspec.Raw else NotRequired[kind]


class WantedMembers:
    """Reads the elements of one list."""

    def __init__(self, kind: Any, make: Callable[[Any], Any]) -> None:
        """`kind`: a type for msgspec, such as `decoded_members` returns.

        `make` makes a value of an element; it may raise for one that needs a closer look.
        """
        self._decode = msgspec.json.Decoder(list[kind]).decode
        self._make = make
        self._left = 0
        """The number of elements that are left to the reader of JSON."""
        self._left_next = 1

    def read(self, text: str, at: int) -> tuple[Run, int] | None:
        """Return some elements from `at` on, not the last one that `text` holds, and their end; None if in doubt."""
        if self._left:
            self._left -= 1
            return None
        most = _LONGEST_RUN
        while (end := _end_of_run(text, at, most)) is not None:
            values = self._values(text[at:end])
            if values is not None:
                self._left_next = 1
                return Run(values), end
            most = (end - at) // 2  # the list may have ended before
        # If most are in doubt, trying must not take longer than reading them.
        self._left = self._left_next
        self._left_next = min(2 * self._left_next, _MOST_LEFT)
        return None

    def _values(self, run: str) -> list[Any] | None:
        try:
            elements = self._decode(f"[{run}]")  # first, because it ends soon where the list does
            return None if may_differ(run.encode(errors="surrogatepass")) else list(map(self._make, elements))
        except (*NATURAL, UnexpectedAnswer, msgspec.MsgspecError, RecursionError):
            return None


def may_differ(text: bytes) -> bool:
    """Whether there is perhaps half a surrogate pair or a number beyond a double, which msgspec skips unread."""
    alike = text.translate(_ALIKE)
    return b"\\u" in text or b"0" * 300 in alike or _EXPONENT.search(alike) is not None


def text_of(raw: msgspec.Raw) -> str:
    """JSON that was not decoded, as text."""
    return str(raw, "utf-8")


def _end_of_run(text: str, at: int, most: int) -> int | None:
    """Return the end of the last element that is followed by one like that at `at`, by the names of their members.

    It looks at most `most` characters ahead. After a false match, inside an element or behind the list, the text before
    it is not JSON, so that the run is refused.
    """
    first = _OPENING.match(text, at)
    if first is None:
        return None
    name, second = first.groups()
    same = re.compile(rf"\{{{re.escape(name)}" + (rf'"[^"\\]*",{re.escape(second)}' if second else ""))
    end = at + most
    while (end := text.rfind(f"}},{{{name}", at, end)) >= 0:
        if same.match(text, end + 2):
            return end + 1
    return None
