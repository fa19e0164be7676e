"""A master after a failover, of which most agents are not back: every screen says why nothing is offered."""

from dataclasses import replace

import pytest

from fake_master.registry.interface import MemoryRegistry
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from tests.helpers.lab import CommandLine, Lab

SENTENCE = "7 of 10 agents are back after a failover; nothing is offered until 8 are back, or until the master has been"


@pytest.fixture
def recovering():
    kept = MemoryRegistry()
    frameworks = (SimulatedFrameworkSpec("spark", ("ads",), answer="hold"),)
    lab = Lab(*["cpus:4;mem:4096"] * 10, version="1.11", registry=lambda: kept, frameworks=frameworks)
    cpus = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}}
    assert lab.post("/quota", {"role": "web", "guarantee": [cpus]}) == 200
    lab.wait(2.0)
    lab.restart(replace(lab.spec, agents=lab.spec.agents[:7]))
    lab.wait(2.0)
    return CommandLine(lab)


@pytest.mark.parametrize("words", [("top", "--once"), ("offers", "list"), ("offers", "explain", "ads")])
@pytest.mark.parametrize("terminal", [False, True])
def test_every_screen_says_why_nothing_is_offered(recovering, words, terminal):
    ran = recovering.run(*words, terminal=terminal, NO_COLOR="1", COLUMNS="300")
    assert ran.status == 0
    assert SENTENCE in ran.out + ran.err


def test_agents_that_are_not_back_have_rows(recovering):
    shown = recovering.run("agents").out
    assert shown.count(" recovering ") == 3
    assert shown.count(" active ") == 7


def test_nothing_is_said_when_it_is_over(recovering):
    recovering.lab.wait(601.0)
    assert "failover" not in recovering.run("top", "--once").out
    assert "failover" not in recovering.run("offers", "list").err
