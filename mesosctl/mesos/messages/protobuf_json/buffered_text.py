"""JSON text that comes in chunks, of which no more is held than what is being looked at."""

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mesosctl.mesos.messages.protobuf_json.decoding import (
    DECODER,
    MOST_TO_RESPELL,
    STRICT,
    ConversionError,
    NotJson,
    check_characters,
    end_of_number,
    in_plain_numbers,
    place_as_typed,
    repeated_key,
)

LONGEST_VALUE = 32 * 1024 * 1024
"""The longest value, in characters, that is not split; an agent, a framework or a task has some thousands."""
_LONG_TEXT = 1 << 14
"""Characters.  Hardly any element that has a shortcut is longer, and in less text a shortcut would save nothing."""
_BLANK = " \t\n\r"
_BLANKS = re.compile(f"[{_BLANK}]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_LONGEST_WORD = 16
"""Characters: more than any literal or escape has, so that a fault farther from the end is not just incomplete text."""


class Run(NamedTuple):
    """The values of several elements that follow each other."""

    values: list[Any]


Shortcut = Callable[[str, int], tuple[Any, int] | None]
"""Reads the value at a place of a text, or a `Run` of several, faster than a JSON parser: it and its end, or None."""
FindShortcuts = Callable[[], Mapping[str, Shortcut]]
"""Returns the shortcuts by the name of the list that each is for; called once text is long enough for them."""


class BufferedText:
    """Text that arrives in chunks; the part that was read is dropped."""

    def __init__(self, chunks: Iterable[bytes], shortcuts: FindShortcuts | None, *, each_key_once: bool) -> None:
        self._find_shortcuts = shortcuts
        self._shortcuts: Mapping[str, Shortcut] | None = None
        self._each_key_once = each_key_once
        self._decode = (STRICT if each_key_once else DECODER).raw_decode
        self._chunks = iter(chunks)
        # Like `decoding.decode`: a master may show bytes that are not UTF-8.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self.at = 0
        """The place of the next value."""
        self._passed = 0
        """Characters before the text that is held."""
        self._ended = False
        self._typed: str | None = None
        """The buffered text before its numbers were made plain."""

    def peek(self) -> str:
        """The next character that is not whitespace; "" at the end."""
        if self.at < len(self._text) and (found := self._text[self.at]) not in _BLANK:  # as a program writes it
            return found
        while True:
            blanks = _BLANKS.match(self._text, self.at)
            assert blanks is not None, "zero blanks match too"
            self.at = blanks.end()
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._read_on():
                return ""

    def names(self) -> Iterator[str]:
        """The names in an object that begins here; read the value after each."""
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

    def places(self) -> Iterator[None]:
        """The places in a list that begins here; after each its element, or a run of them, has to be taken."""
        self.at += 1
        if self.peek() == "]":
            self.at += 1
            return
        while True:
            yield None
            if not self._goes_on("]"):
                return

    def element(self, name: str) -> Any:
        """The value that begins here, in a list of this name, or a `Run` of values."""
        self.peek()
        shortcut = self._shortcut(name)
        short = shortcut(self._text, self.at) if shortcut is not None else None
        if short is None:
            return self.value()
        value, self.at = short
        return value

    def _shortcut(self, name: str) -> Shortcut | None:
        """The shortcut for a list of this name, if enough text is held, of this element and those after it."""
        if self._find_shortcuts is None:
            return None
        while len(self._text) - self.at < _LONG_TEXT:
            if not self._read_on():
                return None
        if self._shortcuts is None:
            self._shortcuts = self._find_shortcuts()
        return self._shortcuts.get(name)

    def value(self) -> Any:
        """The value that begins here, whole."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self.at)
            except json.JSONDecodeError as error:
                if not self._may_be_mended(error.pos):
                    raise self.error(error.msg, error.pos) from None
                continue
            if self._is_cut(value, end):
                if not self._may_be_mended(end):
                    raise self.error("Extra data", end)
                continue
            check_characters(self._text, self.at, end)
            self.at = end
            return value

    def error(self, sentence: str, at: int) -> ConversionError:
        """Return the error at `at` in the buffered text."""
        place = at if self._typed is None else place_as_typed(self._typed, at)
        return NotJson(f"{sentence} (char {self._passed + place})")

    def _goes_on(self, closing: str) -> bool:
        """Whether there is another member or element, after a comma; if not, skip the bracket."""
        found = self.peek()
        if found not in (",", closing):
            raise self.error("Expecting ',' delimiter", self.at)
        self.at += 1
        return found == ","

    def _is_cut(self, value: Any, end: int) -> bool:
        """Whether a number may be only the beginning of one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return not self._ended if end == len(self._text) else end_of_number(self._text, end) > end

    def _may_be_mended(self, at: int) -> bool:
        """Whether what is wrong at `at` may be right in the text that is held now.

        More is read if the text may only be cut there, and if a number is spelled as JSON does not, until
        there is too much of it.
        """
        end = end_of_number(self._text, at)
        in_string = self._text[at : at + 1] == '"' and _STRING.match(self._text, at) is None  # which is not closed
        is_cut = in_string or end + _LONGEST_WORD > len(self._text)
        if is_cut and self._read_on():
            return True
        if end == at or len(self._text) - self.at > MOST_TO_RESPELL:
            return False
        return self._read_on() or self._in_plain_numbers()

    def _read_on(self) -> bool:
        """Hold more text; False at the end.

        It reads at least as much again as is not parsed yet, so that a value of any length is parsed about twice.
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
        """At the end of the text, rewrite the remaining numbers as in JSON; return False if nothing changes."""
        if self._typed is not None:
            return False
        self._typed = self._text[self.at :]
        self._passed += self.at
        self._text, self.at = in_plain_numbers(self._typed), 0
        return self._text != self._typed
