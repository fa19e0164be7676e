"""A recorder beside a master in virtual time: why agents ended, clocks that differ, answers that take long."""

import pytest

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.history.records import MICROS, to_micros
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.messages.events import clock_of
from tests.helpers.lab import CommandLine, Lab

BEGIN = 1000.0


def record(lab, tmp_path):
    """The recording of ten minutes, and what its recorder said."""
    ran = CommandLine(lab).run(
        "history", "record", "--history", str(tmp_path / "h.sqlite"), "--duration", "10m", "--cluster-id", "lab"
    )
    assert ran.status == 0, ran.err
    return open_recording(tmp_path / "h.sqlite"), ran.err


def plan(lab, seconds, action):
    """Let something be done to the master later."""
    lab.master.state.timers.at(BEGIN + seconds, action)


def gone(lab, agent_id):
    lab.about("MARK_AGENT_GONE", agent_id)


def drained(lab, agent_id):
    lab.about("DRAIN_AGENT", agent_id)
    plan(lab, 150, lambda: lab.about("MARK_AGENT_GONE", agent_id))


def drained_and_taken_down(lab, agent_id):
    lab.about("DRAIN_AGENT", agent_id)
    plan(lab, 150, lab.take_down)


def deactivated(lab, agent_id):
    """An agent that is out of service has not ended."""
    lab.about("DEACTIVATE_AGENT", agent_id)


def removed(lab, agent_id):
    del agent_id
    lab.take_down()


def unreachable(lab, agent_id):
    lab.master.agent_removal.disconnect(lab.master.state.agents[agent_id])


WHAT = {gone: "gone", drained: "drained", drained_and_taken_down: "drained", deactivated: None, removed: "removed",
        unreachable: "unreachable"}  # fmt: skip


@pytest.mark.parametrize("busy", [True, False], ids=["with tasks", "idle"])
@pytest.mark.parametrize("done", WHAT, ids=lambda one: one.__name__)
def test_why_an_agent_ended(tmp_path, done, busy):
    frameworks = [SimulatedFrameworkSpec("f", ("web",), task=parse_resources("cpus:1;mem:8"))] if busy else []
    lab = Lab("cpus:4;mem:64", "cpus:2;mem:32", frameworks=tuple(frameworks))
    first = lab.agents[0]["id"]
    plan(lab, 90, lambda: done(lab, first))
    recording, said = record(lab, tmp_path)
    assert "waiting" not in said
    with recording:
        agents = {one.id: one for one in recording.agents("lab")}
        assert agents[first].cause == WHAT[done]
        if WHAT[done] is not None:
            latest = 90 + 60 + 75 + 60 + 15  # a reading of settings sees what no event tells; an event lets it be read
            assert 90 <= (agents[first].end or 0) / MICROS - BEGIN <= latest
        (other,) = (one for one in agents.values() if one.id != first)
        assert (other.end, other.cause) == (None, None)
        left = [one for one in recording.tasks("lab") if one.agent_id == first and one.end is None]
        assert not left or WHAT[done] is None


def test_several_that_leave_between_two_readings_are_unknown_if_for_several_causes(tmp_path):
    lab = Lab(*["cpus:4;mem:64"] * 4)
    first, second, third, _ = (one["id"] for one in lab.agents)
    plan(lab, 90, lambda: unreachable(lab, first))
    plan(lab, 163, lambda: gone(lab, second))
    plan(lab, 400, lambda: gone(lab, third))
    recording, _ = record(lab, tmp_path)
    with recording:
        causes = {one.id: one.cause for one in recording.agents("lab")}
    assert causes[third] == "gone"
    assert {causes[first], causes[second]} <= {"unknown", "gone", "unreachable"}


def test_a_clock_that_differs_is_said_and_one_that_is_put_back_is_counted(tmp_path, monkeypatch):
    lab = Lab("cpus:4;mem:64")

    def put_back(get_master, metrics):
        at = clock_of(get_master, metrics)
        return at if at is None or at < BEGIN + 90 else at - 30

    monkeypatch.setattr("mesosctl.history.recorder.clock_of", put_back)
    recording, said = record(lab, tmp_path)
    assert said.count("the master's clock differs from this machine's by") == 1
    with recording:
        (cluster,) = recording.clusters()
        assert cluster.clock_steps == 1
        ends = [(one.start, one.end) for one in recording.settings("lab")]
        assert all(end is None or start <= end for start, end in ends)
        assert (cluster.last_seen or 0) >= to_micros(BEGIN)


class LateState(CommandLine):
    """A master that takes longer for its whole state than a command may take for an answer."""

    def handle_request(self, request):
        answer = super().handle_request(request)
        if self.asked[-1] == "POST /api/v1 SUBSCRIBE":
            self.sleep(45)
        return answer


def test_a_state_that_takes_longer_than_an_answer_may_is_recorded_at_once(tmp_path):
    line = LateState(Lab("cpus:4;mem:64"))
    ran = line.run("history", "record", "--history", str(tmp_path / "h.sqlite"), "--duration", "1m", "--timeout", "30")
    assert (ran.status, "waiting" in ran.err) == (0, False)
    assert line.asked.count("POST /api/v1 SUBSCRIBE") == 1
