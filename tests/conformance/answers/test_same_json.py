"""The fake's answers beside the real master's: the same keys, types and values at every depth."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from mesosctl.mesos.rules.version_profile import Profile
from tests.conformance.masters.carriers import IN_PROCESS, REAL, SOCKET, Carrier, Pool
from tests.conformance.masters.cluster import Answer, Cluster, Setup
from tests.conformance.masters.comparing import steady
from tests.conformance.scenarios.scenario import Step, config, post_quota, send, update_quota
from tests.conformance.scenarios.setups import NESTED_RESERVATION, NO_AGENTS, STANDARD, WHITELIST_WEIGHTED
from tests.helpers.needs import needs


@dataclass(frozen=True, slots=True)
class State:
    """A setup and what is done to it before the questions are asked."""

    name: str
    setup: Setup
    changes: tuple[Step, ...] = ()
    before_update_quota: tuple[Step, ...] | None = None
    """The same without UPDATE_QUOTA, for a release that has none."""

    def changes_on(self, profile: Profile) -> tuple[Step, ...]:
        """Change a master of a profile."""
        if self.before_update_quota is None or profile.knows_update_quota or profile.is_documents:
            return self.changes
        return self.before_update_quota


WEIGHTS = send("PUT", "/weights", [{"role": "web", "weight": 2}, {"role": "web/shop", "weight": 0.5}])

BUSY = State(
    "busy",
    STANDARD,
    (
        post_quota("ads", cpus=10, mem=4096),
        post_quota("idle", cpus=0),
        update_quota(
            config("web", {"cpus": 2}, {"cpus": 4.5, "mem": 1024}), config("batch", {}, {"gpus": 0}), config("none")
        ),
        WEIGHTS,
    ),
    (
        post_quota("ads", cpus=10, mem=4096),
        post_quota("idle", cpus=0),
        post_quota("web", cpus=2.5, gpus=0),
        WEIGHTS,
    ),
)
STATES = (
    State("empty", NO_AGENTS),
    State("idle", STANDARD),
    BUSY,
    State(
        "thousandths",
        Setup(agents=("cpus:1.14;mem:1024.801;disk:1.36;ports:[31000-32000]",)),
        (update_quota(config("web", {"cpus": 1.14}, {"cpus": 1.801})),),
        (post_quota("web", cpus=1.14),),
    ),
    State("nested", NESTED_RESERVATION),
    State("whitelist", WHITELIST_WEIGHTED),
)


def _get(path: str) -> Callable[[Cluster], Answer]:
    return lambda master: master.request("GET", path)


def _call(name: str) -> Callable[[Cluster], Answer]:
    return lambda master: master.call(name)


PATHS = ("/slaves", "/state", "/state-summary", "/roles", "/weights", "/quota", "/flags", "/version")
CALLS = (
    "GET_AGENTS",
    "GET_FLAGS",
    "GET_HEALTH",
    "GET_QUOTA",
    "GET_ROLES",
    "GET_STATE",
    "GET_VERSION",
    "GET_WEIGHTS",
)
QUESTIONS = {path: _get(path) for path in PATHS} | {name: _call(name) for name in CALLS}


@pytest.fixture(scope="module", params=STATES, ids=lambda state: state.name)
def state(request: pytest.FixtureRequest) -> State:
    return request.param


def _in_state(state: State, carrier: Carrier, pool: Pool) -> Iterator[Cluster]:
    master = pool.start(carrier, state.setup)
    for step in state.changes_on(carrier.profile):
        answer = master.request(step.method, step.path, content=step.content, headers=step.headers)
        assert answer.status == 200, (step, answer)
    yield master
    master.stop()


@pytest.fixture(scope="module")
@needs(*REAL.needs)
def real(state: State, pool: Pool) -> Iterator[Cluster]:
    yield from _in_state(state, REAL, pool)


@pytest.fixture(scope="module", params=(IN_PROCESS, SOCKET), ids=str)
def fake(request: pytest.FixtureRequest, state: State, pool: Pool) -> Iterator[Cluster]:
    yield from _in_state(state, request.param, pool)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_fake_answers_as_the_real_master_does(question: str, real: Cluster, fake: Cluster) -> None:
    wanted, given = QUESTIONS[question](real), QUESTIONS[question](fake)
    assert (given.status, given.headers["Content-Type"]) == (wanted.status, wanted.headers["Content-Type"])
    assert steady(given.json()) == steady(wanted.json())


def test_metrics_have_the_same_form(real: Cluster, fake: Cluster) -> None:
    """Which metrics there are is left to the fake; what an entry looks like is not.

    Real masters before 1.6 show them in the order of a hash table.
    """
    for master in (real, fake):
        snapshot = master.read("/metrics/snapshot")
        assert snapshot["master/elected"] == 1.0
        assert master is real or list(snapshot) == sorted(snapshot)
        assert {type(value) for value in snapshot.values()} == {float}
        entries: list[dict[str, Any]] = master.call("GET_METRICS", get_metrics={}).json()["get_metrics"]["metrics"]
        assert {"name": "master/elected", "value": 1.0} in entries
        assert {frozenset(entry) for entry in entries} == {frozenset({"name", "value"})}
