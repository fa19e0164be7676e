"""One JSON value that arrives in chunks, divided into parts while it arrives, so that it is never held as a whole."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mesosctl.mesos.messages.protobuf_json.buffered_text import BufferedText, FindShortcuts, Run
from mesosctl.mesos.messages.protobuf_json.decoding import TOO_DEEP, ConversionError


class JsonPart(NamedTuple):
    """A value and its place: the names of the enclosing objects, and its index if it is an element.

    Of a `Run` of elements, it is the index of the first.
    """

    path: tuple[str, ...]
    place: int | None
    value: Any

    @property
    def where(self) -> str:
        """The path as text: `get_tasks.tasks[3]`."""
        return ".".join(self.path) + ("" if self.place is None else f"[{self.place}]")


def parts(
    chunks: Iterable[bytes],
    depth: int = 1,
    *,
    each_key_once: bool = False,
    shortcuts: FindShortcuts | None = None,
    opened: Mapping[str, str] | None = None,
) -> Iterator[JsonPart]:
    """Yield the parts of one JSON value that comes in chunks.

    Objects are split down to a nesting of `depth`, and so are the lists in them; deeper values stay whole. Both values
    of a duplicate key are yielded, in turn; `each_key_once` refuses it, at any depth. `shortcuts` returns, once the
    text is long, the readers to try on each element of the lists of their names. `opened` maps the name of a list to
    that of a list in its elements: the inner elements come one by one, before the element without them. Raises
    ConversionError for invalid JSON, something after it, or a value that is not split and is longer than
    `LONGEST_VALUE`, and what reading `chunks` raises.
    """
    text = BufferedText(chunks, shortcuts, each_key_once=each_key_once)
    try:
        yield from _of_value(text, (), depth, opened or {})
    except RecursionError:
        raise ConversionError(TOO_DEEP, "") from None
    if text.peek():
        raise text.error("Extra data", text.at)


def _of_value(text: BufferedText, path: tuple[str, ...], depth: int, opened: Mapping[str, str]) -> Iterator[JsonPart]:
    opening = text.peek()
    if opening == "{" and len(path) < depth:
        yield JsonPart(path, None, {})
        for key in text.names():
            yield from _of_value(text, (*path, key), depth, opened)
    elif opening == "[" and path:
        yield from _of_list(text, path, opened)
    else:
        yield JsonPart(path, None, text.value())


def _of_list(text: BufferedText, path: tuple[str, ...], opened: Mapping[str, str]) -> Iterator[JsonPart]:
    name = path[-1]
    inner = opened.get(name)
    yield JsonPart(path, None, [])
    index = 0
    for _ in text.places():
        if inner is not None and text.peek() == "{":
            yield from _of_element(text, path, index, inner)
            index += 1
        else:
            value = text.element(name)
            yield JsonPart(path, index, value)
            index += len(value.values) if isinstance(value, Run) else 1


def _of_element(text: BufferedText, path: tuple[str, ...], index: int, inner: str) -> Iterator[JsonPart]:
    """An object in a list, after the parts of its list `inner`."""
    rest: dict[str, Any] = {}
    for key in text.names():
        if key == inner and text.peek() == "[":
            rest.pop(inner, None)
            yield from _of_list(text, (*path, inner), {})
        else:
            rest[key] = text.value()
    yield JsonPart(path, index, rest)
