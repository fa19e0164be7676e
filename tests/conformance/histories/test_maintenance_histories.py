"""Random histories of machines, agents and frameworks, played step by step on the fake and on a real master.

Agents that are marked as gone do not come back, on neither master, so few steps do that, and the calls after it are
about agents that are gone too.
"""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.conformance.callers.frameworks import Framework
from tests.conformance.histories.playing import play_histories, steps_beside
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.comparing import canonical
from tests.conformance.scenarios.setups import STANDARD

STEPS_IN_A_HISTORY = 100
LETHAL = b"would end a real master"

_HOSTS = st.sampled_from(["a", "A", "b", "B", "c", ""])
_ADDRESSES = st.sampled_from(["10.0.0.1", "10.0.0.2", "10.0.0.300", "x", ""])
_MACHINES = st.one_of(
    st.builds(lambda hostname: {"hostname": hostname}, _HOSTS),
    st.builds(lambda hostname: {"hostname": hostname}, _HOSTS),
    st.builds(lambda ip: {"ip": ip}, _ADDRESSES),
    st.builds(lambda hostname, ip: {"hostname": hostname, "ip": ip}, _HOSTS, _ADDRESSES),
)
_TIMES = st.sampled_from([0, 1, -1, 1895232742000000000, "7", 1.5, "x", None, 2**63])
_NANOSECONDS = st.builds(lambda time: {} if time is None else {"nanoseconds": time}, _TIMES)
_UNAVAILABILITIES = st.one_of(
    st.just({"start": {"nanoseconds": 5}}),
    st.just({"start": {"nanoseconds": 5}, "duration": {"nanoseconds": 6}}),
    st.builds(lambda start: {"start": start}, _NANOSECONDS),
    st.builds(lambda start, duration: {"start": start, "duration": duration}, _NANOSECONDS, _NANOSECONDS),
)
_WINDOWS = st.builds(
    lambda machines, unavailability: {"machine_ids": machines, "unavailability": unavailability},
    st.lists(_MACHINES, max_size=3),
    _UNAVAILABILITIES,
)
_NAMES = st.sampled_from(["ads", "web"])
_KNOWN = st.lists(st.integers(0, 9), min_size=1, max_size=2)
_AGENTS = st.sampled_from([0, 0, 0, 1, 1, None])
_SERVICE = st.lists(st.sampled_from(["DEACTIVATE_AGENT", "DRAIN_AGENT", "REACTIVATE_AGENT"]), max_size=3)
_GRACE = st.sampled_from([None, {"seconds": 5}, {"seconds": "1", "nanos": 7}, {"nanoseconds": 5}, {}, {"seconds": -1}])


class History(RuleBasedStateMachine):
    """One history: every rule sends one request to both masters."""

    def __init__(self, pool: Pool, real: Carrier, fake: Carrier) -> None:
        super().__init__()
        self.masters = [pool.start(carrier, STANDARD) for carrier in (real, fake)]
        self.agents = [[agent["id"] for agent in master.agents()] for master in self.masters]
        """The ids of the agents of each master, which stay known here when they are gone."""
        self.frameworks: dict[str, list[Framework]] = {}
        """By their role, one on each master."""

    def teardown(self) -> None:
        for master in self.masters:
            master.stop()

    @rule(windows=st.lists(_WINDOWS, max_size=3))
    def schedule(self, windows: list[Any]) -> None:
        self.post("/maintenance/schedule", {"windows": windows})

    @rule(more=st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, min_size=1))
    def schedule_more(self, more: list[str]) -> None:
        """What was scheduled, and other machines besides: one that is down may not be left out."""
        windows = self.masters[0].read("/maintenance/schedule").get("windows", [])
        named = {machine.get("hostname", "").lower() for window in windows for machine in window["machine_ids"]}
        added = [{"hostname": name} for name in more if name not in named]
        if added:
            windows.append({"machine_ids": added, "unavailability": {"start": {"nanoseconds": 9}}})
        self.post("/maintenance/schedule", {"windows": windows})

    @rule(down=st.booleans(), machines=st.lists(_MACHINES, max_size=2))
    def change_any(self, machines: list[Any], *, down: bool) -> None:
        self.post("/machine/down" if down else "/machine/up", machines)

    @rule(down=st.booleans(), picks=_KNOWN)
    def change_known(self, picks: list[int], *, down: bool) -> None:
        status = self.masters[0].read("/maintenance/status")
        known = [machine["id"] for machine in status.get("draining_machines", ())] if down else []
        known = canonical(known or status.get("down_machines", []), "draining_machines")
        if known:
            self.post("/machine/down" if down else "/machine/up", [known[pick % len(known)] for pick in picks])

    @rule(call=st.sampled_from(["DEACTIVATE_AGENT", "REACTIVATE_AGENT"]), agent=_AGENTS)
    def change_service(self, call: str, agent: int | None) -> None:
        self.about(call, agent)

    @rule(agent=_AGENTS, grace=_GRACE)
    def drain(self, agent: int | None, grace: Any) -> None:
        self.about("DRAIN_AGENT", agent, **({} if grace is None else {"max_grace_period": grace}))

    @rule(agent=_AGENTS, before=_SERVICE, mark_gone=st.booleans(), after=_SERVICE, first=st.integers(0, 9))
    def leave_for_good(
        self, agent: int | None, before: list[str], after: list[str], first: int, *, mark_gone: bool
    ) -> None:
        """Rarely, as a cluster without agents has little to compare; and what operators say before and after it."""
        if agent is not None and first:
            return
        for call in before:
            self.about(call, agent)
        call, more = ("DRAIN_AGENT", {"mark_gone": True}) if mark_gone else ("MARK_AGENT_GONE", {})
        leaves = self.about(call, agent, **more)
        if agent is not None and leaves:  # older releases do not know these calls
            for master, known in zip(self.masters, self.agents, strict=True):
                assert master.subscribers.wait(partial(_is_away, master, known[agent]))
        for call in after:
            self.about(call, agent)

    @rule(role=_NAMES)
    def subscribe(self, role: str) -> None:
        if role not in self.frameworks:
            self.frameworks[role] = [Framework(master, role).subscribe() for master in self.masters]
        self.compare()

    @rule(role=_NAMES, v1=st.booleans(), again=st.booleans())
    def tear_down(self, role: str, *, v1: bool, again: bool) -> None:
        """A framework that is there, that was there, or that never was."""
        known = self.frameworks.pop(role, None)
        ids = ["none such"] * 2 if known is None else [str(framework.id) for framework in known]
        for _ in range(1 + again):
            answers = []
            for master, framework_id in zip(self.masters, ids, strict=True):
                if v1:
                    answers.append(master.call("TEARDOWN", teardown={"framework_id": {"value": framework_id}}))
                else:
                    answers.append(master.request("POST", "/teardown", content=f"frameworkId={framework_id}"))
            assert answers[0].status == answers[1].status, answers
            self.compare()

    def post(self, path: str, body: Any) -> None:
        content = json.dumps(body)
        answers = [master.request("POST", path, content=content) for master in self.masters]
        assert answers[0].status == answers[1].status, answers
        self.compare()

    def about(self, call: str, agent: int | None, **more: Any) -> bool:
        """A call about an agent, or about one that there is not; whether both took it.

        The fake master is asked first: what it says would end a real one is not sent to that.
        """
        answers: list[Answer] = []
        for master, known in zip(self.masters[::-1], self.agents[::-1], strict=True):
            agent_id = "none such" if agent is None else known[agent]
            answers.append(master.call(call, **{call.lower(): {"agent_id": {"value": agent_id}, **more}}))
            if LETHAL in answers[0].content:
                return False
        assert answers[0].status == answers[1].status, answers
        self.compare()
        return answers[0].status == 200

    def compare(self) -> None:
        # A real agent is drained a moment after the master has answered.
        real, fake = self.masters
        real.subscribers.wait(lambda: _state(real) == _state(fake))
        assert _state(fake) == _state(real)


def _is_away(master: Cluster, agent_id: str) -> bool:
    return agent_id not in [agent["id"] for agent in master.agents()]


def _state(master: Cluster) -> dict[str, Any]:
    shown = {path: canonical(master.read(path)) for path in ("/maintenance/schedule", "/maintenance/status")}
    keys = ("active", "deactivated", "drain_info")
    frameworks = master.read("/frameworks")
    return shown | {
        "agents": [{key: agent.get(key) for key in keys} for agent in master.agents()],
        "frameworks": sorted(one["name"] for one in frameworks["frameworks"]),
        "completed": sorted(one["name"] for one in frameworks["completed_frameworks"]),
    }


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize(("real", "fake"), judged("1.11.0", "1.4.3", "1.8.1"), ids=str)
def test_random_histories_of_maintenance(pool: Pool, real: Carrier, fake: Carrier) -> None:
    # Every history needs a real master of its own: looking for a shorter one would take minutes.
    steps = steps_beside(real)
    play_histories(lambda: History(pool, real, fake), STEPS_IN_A_HISTORY, steps, phases=(Phase.generate,))
