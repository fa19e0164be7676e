"""Several changes, each tried from the same state, side by side.

The state is made once: a dry run settles, or a recording is played without changes.  Each change is then tried in a
forked process, so that none affects another, and none reads, settles or plays the same again.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from mesosctl.reading.side_by_side import side_by_side
from mesosctl.whatif.variants import Answer, LargestVariant, Search, Template, Variant

Tried = TypeVar("Tried")


class SearchRange(NamedTuple):
    """The amounts among which the largest is searched, in thousandths."""

    total: int
    precision: int
    """The step between amounts that are tried."""
    guess: int
    """The amount that is likely the answer."""


class Variants(Generic[Tried, Answer]):
    """Answers about changes, each known by its word.

    `run` tries a change in a process of its own, and `answer` makes the answer of what that sent back.  `doing` is the
    word for it in the progress, and `at_once` the number of processes; by default, one for each core.
    """

    def __init__(
        self,
        run: Callable[[str], Tried],
        answer: Callable[[str, Tried], Answer],
        progress: Callable[[str], None],
        doing: str,
        at_once: int | None = None,
    ) -> None:
        self._run = run
        self._answer = answer
        self._progress = progress
        self._doing = doing
        self._at_once = at_once

    def each(self, words: Sequence[str]) -> Iterator[Variant[Answer]]:
        """Yield an answer for each word, in order.  Raises what `run` raises."""
        answers = self._answers(words)
        for done, word in enumerate(words, 1):
            self._progress(f"{self._doing} change {done} of {len(words)}")
            yield Variant(word, next(answers))

    def find_largest(self, template: Template, within: SearchRange) -> LargestVariant[Answer]:
        """Return the largest amount for the question mark that is accepted and harmless.  Raises what `run` raises."""

        def ask(words: Sequence[str]) -> list[Answer]:
            self._progress(f"trying {words[0]}")
            return list(self._answers(words))

        return Search(template, within.total, within.precision, ask).largest(within.guess)

    def _answers(self, words: Sequence[str]) -> Iterator[Answer]:
        for word, tried in zip(words, side_by_side(words, self._run, self._at_once), strict=True):
            yield self._answer(word, tried)
