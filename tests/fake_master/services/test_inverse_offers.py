"""Frameworks are asked to leave several agents: each agent is a question with its own answer and its own end."""

from typing import Any, Literal

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from tests.helpers.lab import Lab, Scheduler
from tests.helpers.profiles import examples

AGENTS = ("cpus:4;mem:64", "cpus:5;mem:64", "cpus:6;mem:64")
FRAMEWORKS = ("f", "g")
UNAVAILABLE = {"start": {"nanoseconds": 10**18}}
A_WHILE = {"refuse_seconds": 30}
Answer = Literal["ACCEPT", "DECLINE"]


class Asked:
    """A cluster whose frameworks run a task on every agent, and are asked to leave all of them."""

    def __init__(self, **flags: str) -> None:
        self.lab = Lab(*AGENTS, flags=flags)
        self.frameworks = [Scheduler(self.lab, name=name) for name in FRAMEWORKS]
        for framework in self.frameworks:
            for offer in framework.offers():
                framework.accept(offer, offer["id"]["value"])
            framework.acknowledge()
        self.hosts = {agent["id"]: agent["hostname"] for agent in self.lab.agents}
        self.schedule()

    def schedule(self) -> None:
        machines = [{"hostname": host, "ip": "127.0.0.1"} for host in self.hosts.values()]
        windows = [
            {"machine_ids": machines[:1], "unavailability": UNAVAILABLE},
            {"machine_ids": machines[1:], "unavailability": UNAVAILABLE},
        ]
        assert self.lab.post("/maintenance/schedule", {"windows": windows}) == 200

    def questions(self, framework: Scheduler) -> dict[int, Any]:
        """The ids of new inverse offers, by the number of the agent, after an allocation."""
        self.lab.wait(1.5)
        hosts = list(self.hosts)
        heard = [one for event in framework.heard("INVERSE_OFFERS") for one in event["inverse_offers"]]
        return {hosts.index(one["agent_id"]["value"]): one["id"] for one in heard}

    def shown(self) -> dict[tuple[str, str], str]:
        """The answers in the status of maintenance, by host and framework."""
        machines = self.lab.read("/maintenance/status")["draining_machines"]
        assert len(machines) == len(AGENTS)
        return {
            (one["id"]["hostname"], status["framework_id"]["value"]): status["status"]
            for one in machines
            for status in one.get("statuses", ())
        }


answers = st.dictionaries(st.integers(0, len(AGENTS) - 1), st.sampled_from(["ACCEPT", "DECLINE"]))


@settings(max_examples=examples(40))
@example(given=({0: "ACCEPT", 1: "ACCEPT", 2: "DECLINE"}, {1: "DECLINE", 2: "DECLINE"}))
@given(given=st.tuples(answers, answers))
def test_every_inverse_offer_of_a_call_is_answered(given: tuple[dict[int, Answer], ...]) -> None:
    asked = Asked()
    hosts = list(asked.hosts.values())
    expected: dict[tuple[str, str], Answer] = {}
    for framework, by_agent in zip(asked.frameworks, given, strict=True):
        questions = asked.questions(framework)
        assert set(questions) == {0, 1, 2}
        for answer in ("ACCEPT", "DECLINE"):
            about = [agent for agent, one in by_agent.items() if one == answer]
            if about:
                listed = [questions[agent] for agent in about]
                framework.ask(f"{answer}_INVERSE_OFFERS", inverse_offer_ids=listed, filters=A_WHILE)
        expected |= {(hosts[agent], framework.id): answer for agent, answer in by_agent.items()}
    event(f"{len(expected)} answers")
    assert asked.shown() == expected
    # Each is asked again about what it has answered, once its filter is over, and about nothing else.
    for framework in asked.frameworks:
        assert asked.questions(framework) == {}
    asked.lab.wait(35)
    for framework, by_agent in zip(asked.frameworks, given, strict=True):
        assert set(asked.questions(framework)) == set(by_agent)


@pytest.mark.parametrize("end", ["timeout", "schedule"])
def test_every_inverse_offer_that_was_not_answered_ends(end: str) -> None:
    asked = Asked(**({"offer_timeout": "5secs"} if end == "timeout" else {}))
    left = []
    for number, framework in enumerate(asked.frameworks):
        questions = asked.questions(framework)
        framework.ask("ACCEPT_INVERSE_OFFERS", inverse_offer_ids=[questions.pop(number)], filters=A_WHILE)
        left.append(questions)
    if end == "timeout":
        asked.lab.wait(4)
    else:
        asked.schedule()
    for framework, questions in zip(asked.frameworks, left, strict=True):
        ended = [one["inverse_offer_id"] for one in framework.heard("RESCIND_INVERSE_OFFER")]
        assert sorted(map(str, ended)) == sorted(map(str, questions.values()))
    for framework, questions in zip(asked.frameworks, left, strict=True):
        assert set(asked.questions(framework)) >= set(questions)


def test_a_framework_that_comes_back_is_asked_about_every_agent_again() -> None:
    asked = Asked()
    one, other = asked.frameworks
    before = asked.questions(one)
    asked.questions(other)
    one.stream.abandon()
    one.subscribe()
    again = asked.questions(one)
    assert set(again) == set(before) == {0, 1, 2}
    assert not {str(found) for found in again.values()} & {str(found) for found in before.values()}
    assert asked.questions(other) == {}
    one.ask("DECLINE_INVERSE_OFFERS", inverse_offer_ids=list(again.values()), filters=A_WHILE)
    assert set(asked.shown().values()) == {"DECLINE"}
