"""Selectors of agents by their attributes, written as those of kubectl: `rack!=r1`, `rack in (r1,r2)`, `!gpu`.

As in kubectl, `!=` and `notin` take agents without the attribute too.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mesosctl.mesos.errors import UsageError

EXAMPLES = "rack=r1, rack!=r1, 'rack in (r1,r2)', 'rack notin (r1,r2)', gpu or '!gpu'"

_SET = re.compile(r"(\S+)\s+(in|notin)(?:\s+(.*)|\s*(\(.*))?", re.DOTALL)
_WITHOUT_SIGNS = re.compile(r"[^\s=!(),:<>]+")
_COMPARED = re.compile(r"([^=!]*)(!=|==|=)(.*)", re.DOTALL)


class Selector(NamedTuple):
    """A condition on one attribute."""

    text: str
    name: str
    values: tuple[str, ...] | None
    """None for any value."""
    negated: bool = False
    """Whether agents without the attribute, or with another value, are meant."""

    def __str__(self) -> str:
        return self.text

    def takes(self, attributes: Mapping[str, str | float]) -> bool:
        """Whether an agent with these attributes is meant; numbers are compared as numbers."""
        value = attributes.get(self.name)
        there = value is not None and (self.values is None or any(_same(value, word) for word in self.values))
        return there is not self.negated


Selectors = tuple[Selector, ...]
"""An agent is meant if every one takes it; without any, all are."""


def _same(attribute: str | float, word: str) -> bool:
    if isinstance(attribute, int | float):
        try:
            return float(word) == attribute
        except ValueError:
            return False
    return attribute == word


def take(selectors: Iterable[Selector], attributes: Mapping[str, str | float]) -> bool:
    """Whether every one of the selectors takes an agent with these attributes."""
    return all(selector.takes(attributes) for selector in selectors)


def is_selector(word: str) -> bool:
    """Whether a word that may name an agent as well is meant as a selector."""
    return "=" in word or word.startswith("!") or _SET.fullmatch(word.strip()) is not None


def parse_selectors(words: Iterable[str] | None, option: str) -> Selectors:
    """The selectors of an option that is given several times.  Raises UsageError."""
    return tuple(parse_selector(word, option) for word in words or ())


def parse_selector(word: str, option: str) -> Selector:
    """A selector as it is typed.  Raises UsageError, which names the part that is wrong."""

    def wrong(part: str, why: str, hint: str = "") -> UsageError:
        return UsageError(
            f"'{word}' does not select agents: '{part}' {why}", field=option, hint=hint or f"write {EXAMPLES}"
        )

    text = word.strip()
    if (compared := _COMPARED.fullmatch(text)) is not None and compared[1].strip():
        name, sign, value = (part.strip() for part in compared.groups())
        _check_name(name, wrong)
        if value.startswith("(") and value.endswith(")"):
            several = f"'{name} {'notin' if sign == '!=' else 'in'} {value}'"
            raise wrong(value, "is one value here", f"write {several} for several")
        return Selector(word, name, (value,), negated=sign == "!=")
    if (of_set := _SET.fullmatch(text)) is not None:
        name, verb, values = of_set[1], of_set[2], (of_set[3] or of_set[4] or "").strip()
        _check_name(name, wrong)
        if not values:
            raise wrong(verb, "has no values after it")
        if not (values.startswith("(") and values.endswith(")")):
            raise wrong(values, "is not in parentheses", f"write '{name} {verb} ({values.strip('()')})'")
        members = tuple(part.strip() for part in values[1:-1].split(","))
        if not all(members):
            raise wrong(values, "has an empty value")
        return Selector(word, name, members, negated=verb == "notin")
    negated, name = text.startswith("!"), text.removeprefix("!").strip()
    if not name:
        raise wrong(word, "names no attribute")
    _check_name(name, wrong)
    return Selector(word, name, None, negated=negated)


def _check_name(name: str, wrong: Callable[..., UsageError]) -> None:
    """Raise the error that `wrong` makes for a name that no attribute has."""
    if _WITHOUT_SIGNS.fullmatch(name) is None:
        after = name.split(None, 1)
        if len(after) > 1 and _WITHOUT_SIGNS.fullmatch(after[0]) is not None:
            raise wrong(after[1], "is not =, !=, in or notin")
        likely = name.replace(":", "=", 1) if re.fullmatch(r"[^\s=!(),:<>]+:\S+", name) else ""
        raise wrong(name, "is not the name of an attribute", f"did you mean {likely}?" if likely else "")
