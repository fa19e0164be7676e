"""Several questions in one: alternatives that a word lists in braces, and the largest amount for a question mark.

quota:web=cpus:{8,12,16}        three changes; {8..16..4} counts, and several braces make every combination
quota:web=cpus:?;mem:6GiB       the largest number of CPUs for which the answer is still yes
"""

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from mesosctl.mesos.amounts.quantities import WHOLE_NAMES, Quantities, format_milli
from mesosctl.mesos.errors import UsageError

MOST_ALTERNATIVES = 100
"""Changes that one question may list."""
_OF_AMOUNTS = ("quota", "limit", "weight")
"""The changes that have no sets, which are written in braces too."""
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(\d+))?", re.ASCII)
_LIKE_A_RANGE = re.compile(r"[-+\d.]+\.\.[-+\d.]+", re.ASCII)


def expand(word: str) -> tuple[str, ...]:
    """Return the changes that a word lists in braces, in order; one change if it has none.

    Raises UsageError for braces that do not match, list nothing, or make more than MOST_ALTERNATIVES changes.
    """
    parts = _BRACES.split(word)
    if any(brace in text for text in parts[::2] for brace in "{}"):
        raise UsageError(
            f"'{word}': a brace is not closed, not opened, or inside another",
            field="--each",
            hint="write the alternatives as {8,12,16}, or as {8..16..4}",
        )
    choices: list[Sequence[str]] = []
    count = 1
    for index, text in enumerate(parts):
        choices.append(_listed(word, text) if index % 2 else (text,))
        count *= len(choices[-1])
        if count > MOST_ALTERNATIVES:
            raise UsageError(
                f"'{word}' lists more than {MOST_ALTERNATIVES} changes",
                field="--each",
                hint="list fewer, or give a larger step: {0..1000..50}",
            )
    return tuple("".join(choice) for choice in itertools.product(*choices))


def check_one_change(word: str) -> str:
    """Return the word; raise UsageError for amounts in braces, which are alternatives, and for one left open."""
    verb, _, rest = word.partition(":")
    if verb in _VERBS and _UNKNOWN.search(rest.partition("=")[2]):
        raise UsageError(
            f"'{word}' leaves an amount open",
            field="CHANGES",
            hint=f"give it with --find-largest: --find-largest {shlex.quote(word)}",
        )
    if verb in _OF_AMOUNTS and _BRACES.search(rest.partition("=")[2]):
        raise UsageError(
            f"'{word}' lists alternatives in braces",
            field="CHANGES",
            hint=f"give it with --each: --each {shlex.quote(word)}",
        )
    return word


def _listed(word: str, text: str) -> Sequence[str]:
    found = _RANGE.fullmatch(text)
    if found is None and _LIKE_A_RANGE.fullmatch(text):
        raise UsageError(
            f"'{word}': a range counts in whole numbers, and its step has no sign",
            field="--each",
            hint="for example, {8..16..4}; list other amounts: {0.5,1,1.5}",
        )
    if found is None:
        listed = [alternative.strip() for alternative in text.split(",")]
        if not all(listed):
            raise UsageError(
                f"'{word}': an alternative in braces is empty", field="--each", hint="for example, {8,12,16}"
            )
        return listed
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if step == 0:
        raise UsageError(f"'{word}': a step of 0 never ends", field="--each", hint="for example, {8..16..4}")
    # No more than can be refused: a range of a billion is not written out first.
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [str(number) for number in numbers[: MOST_ALTERNATIVES + 1]]


# --- The largest change -----------------------------------------------------------------------------------

_VERBS = ("quota", "reserve")
_UNKNOWN = re.compile(r"(?P<name>[^\s:;=()]+)\s*(?:\([^()]*\))?\s*:\s*\?\s*(?=;|$)")
MANY_AGENTS = 1000
"""A forecast of fewer takes milliseconds, one of more takes seconds."""
_STEPS, _STEPS_IF_SLOW = 1 << 16, 1 << 10
"""How many amounts the search tells apart."""


@dataclass(frozen=True, slots=True)
class Template:
    """A change with one amount left open."""

    word: str
    """As it was typed, with a question mark."""
    resource: str
    head: str
    tail: str

    def with_amount(self, amount: int) -> str:
        """Return the change with an amount, in thousandths."""
        return f"{self.head}{format_milli(amount)}{self.tail}"

    def precision(self, total: int, *, is_slow: bool) -> int:
        """Return the step between amounts that are tried, round and in thousandths, of `total`.

        There are fewer steps if an answer takes seconds, as it does for many agents, or for a recording.
        """
        grain = 1000 if self.resource in WHOLE_NAMES else 1
        finest = total // (_STEPS_IF_SLOW if is_slow else _STEPS)
        tens = int("1" + "0" * (len(str(finest)) - 1))
        return max(grain, *(step * tens for step in (0, 1, 2, 5) if step * tens <= finest))


def parse_template(word: str) -> Template:
    """Read a change with a question mark for one amount.  Raises UsageError."""
    verb, _, rest = word.partition(":")
    head, equals, amounts = rest.partition("=")
    found = list(_UNKNOWN.finditer(amounts)) if equals else []
    if verb not in _VERBS or len(found) != 1 or amounts.count("?") != 1:
        problem = f"'{word}' does not leave exactly one amount open"
        if equals and verb not in _VERBS:
            problem = f"it finds the largest quota or reservation, and '{verb}:' is neither"
        raise UsageError(
            problem,
            field="--find-largest",
            hint="write a question mark for the amount of one resource: 'quota:web=cpus:?;mem:6GiB', "
            "or 'reserve:agent-1=cpus(web):?'",
        )
    (match,) = found
    mark = amounts.index("?")
    return Template(word, match["name"], f"{verb}:{head}={amounts[:mark]}", amounts[mark + 1 :])


class Answering(Protocol):
    """An answer to a question: a forecast, or a replay."""

    @property
    def is_harmless(self) -> bool:
        """Whether the change is accepted and nobody is worse off than is allowed."""


Answer = TypeVar("Answer", bound=Answering)


@dataclass(frozen=True, slots=True)
class Variant(Generic[Answer]):
    """One of several changes, and what it would do."""

    change: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class LargestVariant(Generic[Answer]):
    """The largest change of a template for which the answer is yes."""

    template: Template
    precision: int
    """The step between amounts that were tried, in thousandths."""
    tried: int
    """Amounts that were tried."""
    largest: int | None
    """In thousandths; None if even the smallest amount is refused or does harm."""
    best: Variant[Answer] | None
    """Its answer; absent if there is none."""
    beyond: Variant[Answer] | None
    """The answer for the next larger amount; absent if the amount is all that the agents have."""


class Search(Generic[Answer]):
    """The search for the largest amount of a template; `ask` answers some changes, which may be done side by side.

    It keeps the answers for the largest amount that is harmless, and for the smallest that is not: each may be large.
    """

    def __init__(
        self, template: Template, total: int, precision: int, ask: Callable[[Sequence[str]], Sequence[Answer]]
    ) -> None:
        self._template = template
        self._total = total
        self._precision = precision
        self._ask = ask
        self._kept: dict[int, Variant[Answer]] = {}
        self._tried = 0

    def largest(self, guess: int) -> LargestVariant[Answer]:
        """Search, beginning at an amount that is likely the answer.  Raises what the questions raise."""
        largest = search(self._are_harmless, self._total, self._precision, guess)
        return LargestVariant(
            template=self._template,
            precision=self._precision,
            tried=self._tried,
            largest=largest or None,
            best=self._kept.get(largest),
            beyond=self._kept.get(largest + self._precision),
        )

    def _are_harmless(self, amounts: Sequence[int]) -> list[bool]:
        words = [self._template.with_amount(amount) for amount in amounts]
        answers = self._ask(words)
        self._tried += len(words)
        self._kept |= {
            amount: Variant(word, answer) for amount, word, answer in zip(amounts, words, answers, strict=True)
        }
        harmful = min(
            (amount for amount, variant in self._kept.items() if not variant.answer.is_harmless),
            default=self._total + 1,
        )
        harmless = max((amount for amount in self._kept if amount < harmful), default=0)
        self._kept = {amount: variant for amount, variant in self._kept.items() if amount in (harmless, harmful)}
        return [answer.is_harmless for answer in answers]


def search(ask: Callable[[Sequence[int]], Sequence[bool]], total: int, precision: int, guess: int = 0) -> int:
    """Return the largest multiple of `precision` up to `total` for which the answer is yes, or 0.

    `ask` says of some amounts whether the answer is yes.
    Whatever is harmless is taken to be harmless in a smaller amount too.  `guess` is an amount
    that is likely the answer.  Two amounts are asked about at a time, as they can be answered side by side.
    """
    top = total // precision
    yes, no = 0, top + 1
    asked: Iterator[list[int]] = iter(([min(top, guess // precision), min(top, guess // precision) + 1],))
    while no - yes > 1:
        third = max(1, (no - yes) // 3)
        pair = next(asked, [yes + third, yes + 2 * third])
        steps = sorted({step for step in pair if yes < step < no})
        if not steps:
            continue
        for step, answer in zip(steps, ask([step * precision for step in steps]), strict=True):
            if answer:
                yes = max(yes, step)
            else:
                no = min(no, step)
                break
    return yes * precision


def likely_amount(template: Template, unpromised: Quantities, guarantees: Mapping[str, Quantities]) -> int:
    """Return what the capacity heuristic leaves for a guarantee: what no role is promised, and what the role has.

    Source: Mesos documentation, "Quota", "Capacity Heuristic Check".
    """
    role = template.head.partition(":")[2].partition("=")[0]
    own = guarantees.get(role, Quantities())
    return unpromised.get_amount(template.resource) + own.get_amount(template.resource)
