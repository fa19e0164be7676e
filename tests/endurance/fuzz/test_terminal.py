"""Hostile answers of a master: nothing of them steers the terminal of the reader."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mesosctl.program.reference.command_tree import Node
from tests.endurance.fuzz.hostile import HostileMaster, steering
from tests.endurance.fuzz.playing import check, play
from tests.endurance.fuzz.words import LEAVES, Typed, lines_of

pytestmark = [pytest.mark.terminal, pytest.mark.process, pytest.mark.socket]

EXAMPLES = int(os.environ.get("MESOSCTL_FUZZ_EXAMPLES", "100"))
patient = settings(max_examples=max(10, EXAMPLES // 5), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("node", LEAVES, ids=lambda node: node.words)
@patient
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_nothing_steers_the_terminal(node: Node, data: st.DataObject, seed: int) -> None:
    form = data.draw(st.sampled_from(["table", "wide", "json", "jsonl", "csv", "name"]))
    drawn = data.draw(lines_of(node))
    # A program may get names as they are; it is whoever looks on that must not be fooled.
    terminal = form in ("csv", "name") or drawn.terminal
    typed = Typed((*drawn.words, "-o", form, "-v"), drawn.files, drawn.stdin, drawn.variables, terminal)
    played = play(typed, lambda inner: HostileMaster(inner, seed))
    check(typed, played)
    assert not steering(played.out), (steering(played.out), typed)
    assert not steering(played.err), (steering(played.err), typed)
