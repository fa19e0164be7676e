"""Frameworks that are alike in an explanation: their holdings are one row, and they share one answer.

With 200 alike frameworks in a role, each of them sees 199 equal rows, so that a table would grow with the square of
their number.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.door.offer_explanation import OfferAccount, OfferExplanation, WithheldResources
from mesosctl.offers.sentences import is_held

MOST_ALIKE = 3
"""More equal rows, or explanations, are shown as one."""


class Crowd(NamedTuple):
    """Explanations that differ in the name of the framework alone."""

    first: OfferExplanation
    lines: tuple[WithheldResources, ...]
    """The lines of each, with alike holders added up; `agents` is 0 where the frameworks differ in their number."""
    others: tuple[OfferExplanation, ...] = ()

    @property
    def frameworks(self) -> list[str]:
        """The names of all of them."""
        accounts = (explanation.account for explanation in (self.first, *self.others))
        return [account.framework or account.framework_id for account in accounts]


def crowds(explanations: Sequence[OfferExplanation]) -> list[Crowd]:
    """Return the explanations in order, many alike ones where the first of them is."""
    alike: dict[object, list[OfferExplanation]] = {}
    for explanation in explanations:
        likeness = (
            account_likeness(explanation.account),
            explanation.hindrance,
            explanation.failover_timeout,
            explanation.offers,
            explanation.useless,
            explanation.could_borrow,
        )
        alike.setdefault(likeness, []).append(explanation)
    found = []
    for members in alike.values():
        lines = [tuple(added_up(member.account)) for member in members]
        if len(members) > MOST_ALIKE:
            found.append(Crowd(members[0], tuple(map(_same_agents, *lines)), tuple(members[1:])))
        else:
            found += map(Crowd, members, lines)
    place = {id(explanation): index for index, explanation in enumerate(explanations)}
    return sorted(found, key=lambda crowd: place[id(crowd.first)])


def _same_agents(*lines: WithheldResources) -> WithheldResources:
    """Return the first of some lines that differ in the number of agents at most."""
    return lines[0] if len({line.agents for line in lines}) == 1 else replace(lines[0], agents=0)


def account_likeness(account: OfferAccount) -> tuple[object, ...]:
    """Return a value that is equal for accounts of alike frameworks in one snapshot."""
    lines = tuple(
        replace(line, framework=None if line.own else line.framework, framework_id=None, agents=0)
        if line.own or _is_of_many(line)
        else line
        for line in added_up(account)
    )
    return (account.role, account.minimum, lines)


def _is_of_many(line: WithheldResources) -> bool:
    return is_held(line) and line.framework_id is None


def added_up(account: OfferAccount) -> Iterator[WithheldResources]:
    """Yield the lines of an account; equal holdings of many others are one line, in the place of the first.

    Its framework is their number in words.
    """
    equal: dict[object, list[WithheldResources]] = {}
    for line in account.lines:
        if is_held(line):
            equal.setdefault(_kind(line), []).append(line)
    for line in account.lines:
        lines = equal.get(_kind(line), []) if is_held(line) else []
        if len(lines) <= MOST_ALIKE:
            yield line
        elif line is lines[0]:
            yield replace(
                line,
                framework=f"{len(lines)} frameworks",
                framework_id=None,
                amounts=Quantities.total(other.amounts for other in lines),
                agents=_agents_of(account, lines),
            )


def _kind(line: WithheldResources) -> object:
    return line.cause, line.roles, line.amounts, line.agents


def _agents_of(account: OfferAccount, lines: Iterable[WithheldResources]) -> int:
    """Return on how many agents these holdings are."""
    holders = {(line.cause, line.roles, line.framework_id) for line in lines}
    return sum(
        any((line.cause, line.roles, line.framework_id) in holders for line in agent.lines) for agent in account.agents
    )
