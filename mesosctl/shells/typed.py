"""The words of a command line that is not finished yet, as the shell would pass them on.

Nothing is expanded or run: variables, substitutions and tildes stay as they were typed.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Typed(NamedTuple):
    """The words before the cursor."""

    words: tuple[str, ...]
    """The whole words after the name of the program."""
    begun: str
    """The word at the cursor so far; empty if none has begun."""
    kept: str = ""
    """The beginning of `begun` that the shell keeps as it is; it replaces what follows."""
    quote: str = ""
    """The quote that is open at the cursor: ', ", $' or none."""


def typed_in_bash(line: str, replaced: str) -> Typed:
    """The words on a line of bash, which replaces the text `replaced` at its end, as it was typed."""
    words, begun, quote, start = _split(line, _SH)
    if not quote:
        start = len(line) - len(replaced) if line.endswith(replaced) else len(line)
    # Otherwise bash replaces what follows the open quote, whatever else it says.
    return Typed(tuple(words[1:]), begun, _split(line[:start], _SH).begun, quote)


def typed_in_zsh(line: str, history: str = "") -> Typed:
    """The words on a line of zsh, which finds out by itself what it replaces.

    `history` is the character that begins an expansion of history, if zsh has any: a backslash quotes it in double
    quotes too.
    """
    in_double_quotes = frozenset({*'$`"\\\n', *history})
    words, begun, quote, _ = _split(line, _SH._replace(escaped={**_SH.escaped, '"': in_double_quotes}))
    return Typed(tuple(words[1:]), begun, quote=quote)


def typed_in_fish(line: str, program: str) -> Typed:
    """The words on a line of fish, which may have assignments and the like before the program."""
    words, begun, quote, _ = _split(line, _FISH)
    names = (number for number, word in enumerate(words) if word.rpartition("/")[2] == program)
    return Typed(tuple(words[next(names, 0) + 1 :]), begun, quote=quote)


class _Dialect(NamedTuple):
    """How a shell quotes; by the open quote, or "" outside of quotes."""

    escaped: Mapping[str, frozenset[str] | None]
    """The characters before which a backslash is special; None for all."""
    letters: str
    """The open quote in which a letter after a backslash stands for a control character."""
    quotes: tuple[str, ...]
    """The beginnings of quotes; the last character of one closes it."""
    substitutions: Mapping[str, re.Pattern[str]]


_SH = _Dialect(
    escaped={"": None, "'": frozenset(), '"': frozenset('$`"\\\n'), "$'": None},
    letters="$'",
    quotes=("$'", '$"', "'", '"'),
    substitutions={"": re.compile(r"[$<>]\(|\$\{|`"), '"': re.compile(r"\$\(|\$\{|`")},
)
_FISH = _Dialect(
    escaped={"": None, "'": frozenset("'\\"), '"': frozenset('"$\\\n')},
    letters="",
    quotes=("'", '"'),
    substitutions={"": re.compile(r"\$?\("), '"': re.compile(r"\$\(")},
)
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CLOSING = {"(": ")", "{": "}", "`": "`"}


class _Line(NamedTuple):
    words: list[str]
    """The whole words."""
    begun: str
    quote: str
    start: int
    """The place after the quote that is open."""


def _split(line: str, dialect: _Dialect) -> _Line:
    """Split a line into words; a substitution is a part of its word."""
    words: list[str] = []
    word: str | None = None
    quote, start, at = "", 0, 0
    while at < len(line):
        if not quote and line[at] in " \t\n":
            if word is not None:
                words.append(word)
            word, at = None, at + 1
            continue
        opened = "" if quote else next((mark for mark in dialect.quotes if line.startswith(mark, at)), "")
        if opened:
            at += len(opened)
            word, quote, start = word or "", opened.replace('$"', '"'), at
        elif quote and line[at] == quote[-1]:
            quote, at = "", at + 1
        else:
            text, at = _piece(line, at, quote, dialect)
            word = (word or "") + text
    return _Line(words, word or "", quote, start)


def _piece(line: str, at: int, quote: str, dialect: _Dialect) -> tuple[str, int]:
    """The text of the next character, escape or substitution, and the place after it."""
    char, rest = line[at], line[at + 1 : at + 2]
    special = dialect.escaped[quote]
    if char == "\\" and (special is None or rest in special):
        text = "" if rest == "\n" else rest
        return _LETTERS.get(rest, text) if quote == dialect.letters else text, at + 2
    pattern = dialect.substitutions.get(quote)
    opens = pattern and pattern.match(line, at)
    end = _end_of_substitution(line, opens.end()) if opens else at + 1
    return line[at:end], end


def _end_of_substitution(line: str, at: int) -> int:
    """The place after a substitution whose text begins at `at`; the end of the line if it is not finished."""
    closing = [_CLOSING[line[at - 1]]]
    while at < len(line) and closing:
        char = line[at]
        if char == "\\":
            at += 1
        elif char == closing[-1]:
            closing.pop()
        elif closing[-1] != "`" and char in "'\"":
            end = line.find(char, at + 1)
            at = len(line) if end < 0 else end
        elif closing[-1] != "`" and char in _CLOSING:
            closing.append(_CLOSING[char])
        at += 1
    return min(at, len(line))
