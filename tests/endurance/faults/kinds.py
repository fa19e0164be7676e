"""The faults that a proxy makes: what befalls one request on its way, and its answer.

A fault has three parts, so that every sensible mixture has a name: whether the master gets the request, when,
and what the client is told.
"""

from dataclasses import dataclass
from enum import Enum


class Way(Enum):
    """What the master gets of a request."""

    NOTHING = "nothing"
    HALF = "half of it"
    WHOLE = "the whole"
    TWICE = "the whole, twice"
    LATE = "the whole, after the next request was answered"


class Word(Enum):
    """What the client gets; of the master's answer where the master has given one."""

    ANSWER = "the answer"
    FIRST_ANSWER = "the first of two answers"
    ANSWER_TWICE = "the answer twice"
    STALE = "the answer of an earlier request"
    DELAYED = "the answer, a little later"
    DRIPPING = "the answer, a byte at a time"
    RESET = "a reset"
    CLOSED = "the end of the connection"
    GONE = "no connection, from now on"
    SILENCE = "nothing at all"
    HALF_HEAD = "half of the header"
    HALF_BODY = "half of the body, and the end"
    SHORT_BODY = "half of the body, as if that were all"
    LONG_BODY = "the body, and more than its length says"
    CUT_CHUNKS = "half of the body in chunks, and the end"
    PAGE_502 = "502 as a page"
    PAGE_503 = "503 as a page"
    PAGE_504 = "504 as a page"
    PLAIN_503 = "503 in plain text"
    PAGE_200 = "200 as a page"
    GARBAGE = "something that is not HTTP"


WITHOUT_AN_ANSWER = frozenset(
    {
        Word.RESET,
        Word.CLOSED,
        Word.GONE,
        Word.SILENCE,
        Word.STALE,
        Word.PAGE_502,
        Word.PAGE_503,
        Word.PAGE_504,
        Word.PLAIN_503,
        Word.PAGE_200,
        Word.GARBAGE,
    }
)
"""What a proxy can say of its own."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One request's fate."""

    way: Way
    word: Word

    def __str__(self) -> str:
        return f"the master gets {self.way.value}, the client {self.word.value}"

    @property
    def is_slow(self) -> bool:
        """Whether a client waits for its deadline."""
        return self.word in (Word.SILENCE, Word.DRIPPING)


NONE = Fault(Way.WHOLE, Word.ANSWER)
EVERY_FAULT = tuple(
    Fault(way, word)
    for way in Way
    for word in Word
    if (word in WITHOUT_AN_ANSWER or way in (Way.WHOLE, Way.TWICE))
    and (word is not Word.FIRST_ANSWER or way is Way.TWICE)
)
"""Every mixture; `NONE` is among them."""
