"""RecordIO: how a stream of events is cut into records (Mesos documentation, "HTTP Endpoints").

Each record is its length in bytes as decimal text, a line feed, and the record.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mesosctl.api.protobuf.decoding import (
    DECODER,
    MOST_TO_RESPELL,
    STRICT,
    TOO_DEEP,
    ConversionError,
    check_characters,
    end_of_number,
    in_plain_numbers,
    place_as_typed,
    repeated_key,
)

LARGEST_RECORD = 128 * 1024 * 1024
"""The largest record, in bytes: the offers of 50,000 agents in one event are smaller."""
_LONGEST_LENGTH = 20


class BrokenRecord(ValueError):
    """The stream is not RecordIO, or one of its records is larger than its reader takes."""


def encode(record: bytes) -> bytes:
    """Return a record with its length before it, as it stands in a stream."""
    return b"%d\n%s" % (len(record), record)


def decode(chunks: Iterable[bytes], *, largest: int = LARGEST_RECORD) -> Iterator[bytes]:
    """Yield the records of a stream that arrives in any pieces.  Raises BrokenRecord.

    A record of more than `largest` bytes raises before it is read; a stream that ends inside a record raises too, and
    one that ends between two just ends.
    """
    buffer = bytearray()
    wanted: int | None = None
    for chunk in chunks:
        buffer += chunk
        while True:
            if wanted is None:
                wanted = _take_length(buffer)
                if wanted is not None and wanted > largest:
                    raise BrokenRecord(f"a record has {wanted} bytes, but at most {largest} are read")
            if wanted is None or len(buffer) < wanted:
                break
            yield bytes(buffer[:wanted])
            del buffer[:wanted]
            wanted = None
    if buffer or wanted is not None:
        raise BrokenRecord("the stream ended inside a record")


def _take_length(buffer: bytearray) -> int | None:
    end = buffer.find(b"\n", 0, _LONGEST_LENGTH + 1)
    if end < 0:
        if len(buffer) > _LONGEST_LENGTH:
            raise BrokenRecord("a record has no length")
        return None
    head = bytes(buffer[:end])
    if not head.isdigit():
        raise BrokenRecord(f"{head[:20]!r} is not the length of a record")
    del buffer[: end + 1]
    return int(head)


LONGEST_VALUE = 32 * 1024 * 1024
"""Characters of what is not taken apart; an agent, a framework or a task has some thousands."""
_BLANKS = re.compile(r"[ \t\n\r]*")
_LONGEST_WORD = 16
"""Characters: more than any literal or escape has, so that what is wrong farther from the end is not merely cut."""


class Part(NamedTuple):
    """A value and where it stands: the names of the objects around it, and its place if it is an element."""

    path: tuple[str, ...]
    place: int | None
    value: Any

    @property
    def where(self) -> str:
        """The path as text: `get_tasks.tasks[3]`."""
        return ".".join(self.path) + ("" if self.place is None else f"[{self.place}]")


Shortcut = Callable[[str, int], tuple[Any, int] | None]
"""Reads what begins at a place of a text, faster than JSON is read: the value and its end, or None."""


def parts(
    chunks: Iterable[bytes],
    depth: int = 1,
    *,
    each_key_once: bool = False,
    shortcuts: Mapping[str, Shortcut] | None = None,
) -> Iterator[Part]:
    """Yield the parts of one JSON value that comes in chunks.

    Objects are taken apart down to `depth` of them, and the lists that are found in them; what lies deeper
    is whole.  Of a key that stands twice both values come, in turn; `each_key_once` refuses it, at any depth.
    `shortcuts` are tried on each element of the lists that they are named for.
    Raises ConversionError if there is no JSON, something after it, or a value that is not taken apart and is longer
    than `LONGEST_VALUE`, and what reading `chunks` raises.
    """
    text = _Text(chunks, shortcuts or {}, each_key_once=each_key_once)
    try:
        yield from _of_value(text, (), depth)
    except RecursionError:
        raise ConversionError(TOO_DEEP, "") from None
    if text.peek():
        raise text.error("Extra data", text.at)


def _of_value(text: "_Text", path: tuple[str, ...], depth: int) -> Iterator[Part]:
    opening = text.peek()
    if opening == "{" and len(path) < depth:
        yield Part(path, None, {})
        for key in text.names():
            yield from _of_value(text, (*path, key), depth)
    elif opening == "[" and path:
        yield Part(path, None, [])
        for index, value in enumerate(text.elements(path[-1])):
            yield Part(path, index, value)
    else:
        yield Part(path, None, text.value())


class _Text:
    """Text that comes in chunks; what has been looked through is let go of."""

    def __init__(self, chunks: Iterable[bytes], shortcuts: Mapping[str, Shortcut], *, each_key_once: bool) -> None:
        self._shortcuts = shortcuts
        self._each_key_once = each_key_once
        self._decode = (STRICT if each_key_once else DECODER).raw_decode
        self._chunks = iter(chunks)
        # As `decoding.decode` does: bytes that are no UTF-8 are a master's to show.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self.at = 0
        """Where the next thing is."""
        self._passed = 0
        """Characters before the text that is held."""
        self._ended = False
        self._typed: str | None = None
        """The buffered text before its numbers were made plain."""

    def peek(self) -> str:
        """The next character that is no blank; "" at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self.at)
            assert blanks is not None, "no blank at all will do"
            self.at = blanks.end()
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._read_on():
                return ""

    def names(self) -> Iterator[str]:
        """The names in an object that begins here; after each its value has to be taken."""
        self.at += 1
        if self.peek() == "}":
            self.at += 1
            return
        known: set[str] = set()
        while True:
            if self.peek() != '"':
                raise self.error("Expecting property name enclosed in double quotes", self.at)
            key = self.value()
            if self._each_key_once and key in known:
                raise repeated_key(key)
            known.add(key)
            if self.peek() != ":":
                raise self.error("Expecting ':' delimiter", self.at)
            self.at += 1
            yield key
            if not self._goes_on("}"):
                return

    def elements(self, name: str) -> Iterator[Any]:
        """The values in a list of this name that begins here."""
        shortcut = self._shortcuts.get(name)
        self.at += 1
        if self.peek() == "]":
            self.at += 1
            return
        while True:
            self.peek()
            short = shortcut(self._text, self.at) if shortcut is not None else None
            value, self.at = short or (self.value(), self.at)
            yield value
            if not self._goes_on("]"):
                return

    def value(self) -> Any:
        """The value that begins here, whole."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self.at)
            except json.JSONDecodeError as error:
                if not self._may_be_mended(error.msg, error.pos):
                    raise self.error(error.msg, error.pos) from None
                continue
            if self._is_cut(value, end):
                if not self._may_be_mended("Extra data", end):
                    raise self.error("Extra data", end)
                continue
            check_characters(self._text, self.at, end)
            self.at = end
            return value

    def error(self, sentence: str, at: int) -> ConversionError:
        """Return the error at `at` in the buffered text."""
        place = at if self._typed is None else place_as_typed(self._typed, at)
        return ConversionError(f"Not JSON: {sentence} (char {self._passed + place})", "")

    def _goes_on(self, closing: str) -> bool:
        """Whether there is another member or element, after a comma; if not, step over the bracket."""
        found = self.peek()
        if found not in (",", closing):
            raise self.error("Expecting ',' delimiter", self.at)
        self.at += 1
        return found == ","

    def _is_cut(self, value: Any, end: int) -> bool:
        """Whether a number is perhaps only the beginning of one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return not self._ended if end == len(self._text) else end_of_number(self._text, end) > end

    def _may_be_mended(self, problem: str, at: int) -> bool:
        """Whether what is wrong at `at` may be right in the text that is held now.

        More is read if the text may only be cut there, and if a number is spelled as JSON does not, until
        there is too much of it.
        """
        end = end_of_number(self._text, at)
        is_cut = problem.startswith("Unterminated string") or end + _LONGEST_WORD > len(self._text)
        if is_cut and self._read_on():
            return True
        if end == at or len(self._text) - self.at > MOST_TO_RESPELL:
            return False
        return self._read_on() or self._in_plain_numbers()

    def _read_on(self) -> bool:
        """Hold more text; False at the end.

        At least as much again as waits to be understood, so that a value of any length is looked at about twice.
        """
        if self._ended:
            return False
        waiting = self._text[self.at :]
        if len(waiting) > LONGEST_VALUE:
            raise self.error(f"A value has more than {LONGEST_VALUE} characters", self.at)
        self._passed += self.at
        self.at = 0
        came, size = [waiting], 0
        while size <= len(waiting) and not self._ended:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            piece = self._decoder.decode(chunk or b"", self._ended)
            came.append(piece)
            size += len(piece)
        self._text = "".join(came)
        return True

    def _in_plain_numbers(self) -> bool:
        """At the end of the text: spell the numbers of what is left as JSON does; False if nothing changes."""
        if self._typed is not None:
            return False
        self._typed = self._text[self.at :]
        self._passed += self.at
        self._text, self.at = in_plain_numbers(self._typed), 0
        return self._text != self._typed
