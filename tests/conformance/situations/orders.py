"""All that the fake master may offer in a situation, over the orders in which its runs may visit the agents."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fake_master.allocator.options import Shuffle, keep_order
from tests.conformance.masters.fakes import start_in_order
from tests.conformance.situations.playing import Shares, Situation, play

MOST_ORDERED = 6
"""Up to so many agents, each of their orders is tried; orders of more are drawn."""
DRAWN = 500
DRAWN_TOO, DRAWN_IF_ALIKE = 40, 12
"""Beside the fixed orders: each run has an order of its own, and agents that are partly offered are alike no more."""


def outcomes(release: str, situation: Situation, folder: Path) -> Iterator[Shares]:
    """The possible results, with repetitions: first one after another of the orders in which agents may come.

    Then of drawn orders: of agents in each run, and of agents in the master's list, which is that of rescinding.
    """
    for order, shuffle in _orders((*situation.agents, *(f"{text} elsewhere" for text in situation.elsewhere))):
        reordered = replace(situation, order=tuple(order))
        master = start_in_order(release, shuffle, reordered.setup(), folder)
        yield play(master, situation)
        master.stop()


def distinct_outcomes(release: str, situation: Situation, folder: Path) -> list[Shares]:
    """Each of them once."""
    found: list[Shares] = []
    for shares in outcomes(release, situation, folder):
        if shares not in found:
            found.append(shares)
    return found


def _orders(agents: tuple[str, ...]) -> Iterator[tuple[Sequence[int], Shuffle]]:
    places = range(len(agents))
    alike = len(set(agents)) == 1
    if alike:
        yield places, keep_order
    elif len(agents) <= MOST_ORDERED:
        tried = set()  # agents that are alike can take each other's place
        for order in itertools.permutations(places):
            if (texts := tuple(agents[place] for place in order)) not in tried:
                tried.add(texts)
                yield order, keep_order
    for seed in range(DRAWN_IF_ALIKE if alike else DRAWN_TOO if len(agents) <= MOST_ORDERED else DRAWN):
        drawn = random.Random(seed)
        yield drawn.sample(places, len(places)), drawn.shuffle
