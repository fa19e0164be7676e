"""Random command lines and files: each ends, with an exit status of the documents and a sentence."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mesosctl.program.reference.command_tree import Node
from tests.endurance.fuzz.playing import check, play
from tests.endurance.fuzz.words import LEAVES, Typed, any_line, lines_of

EXAMPLES = int(os.environ.get("MESOSCTL_FUZZ_EXAMPLES", "100"))
patient = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(
    "typed",
    [Typed(("top",), terminal=True), Typed(("whatif", "--find-largest", "quota:web=cpus:?;mem:6GiB"))],
    ids=lambda typed: " ".join(typed.words),
)
def test_what_was_once_found(typed: Typed) -> None:
    """The cluster on a terminal, and forecasts in processes of their own."""
    check(typed, play(typed))


@patient
@given(any_line)
def test_any_line(typed: Typed) -> None:
    check(typed, play(typed))


@pytest.mark.parametrize("node", LEAVES, ids=lambda node: node.words)
@settings(patient, max_examples=max(10, EXAMPLES // 5))
@given(data=st.data())
def test_every_command(node: Node, data: st.DataObject) -> None:
    typed = data.draw(lines_of(node))
    check(typed, play(typed))
