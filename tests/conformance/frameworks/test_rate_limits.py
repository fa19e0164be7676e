"""Rate limits of the real master, by driver messages, and of the fake one, by HTTP calls: same arrivals, same end.

Source: docs/explanation/documents.md, "Framework Rate Limiting".
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mesosctl.__main__ import main
from mesosctl.mesos.messages.rate_limits import from_json
from mesosctl.mesos.rules.rate_limit_simulation import simulate
from tests.conformance.callers.senders import DriverSender, HttpSender, Sender
from tests.conformance.masters import fakes, real
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.processes import hold_port
from tests.helpers.surroundings import InMemory
from tests.helpers.waiting import wait_until

MakeSender = Callable[[Cluster, str | None, float], Sender]

# Every test has principals of its own, so that no test sees the queue of another.
# Rates are such that a slow machine has seconds to look before the next message has its turn.
LIMITS: dict[str, Any] = {
    "limits": [
        {"principal": "paced", "qps": 10},
        {"principal": "bounded", "qps": 0.25, "capacity": 2},
        {"principal": "leaving", "qps": 0.25, "capacity": 2},
        {"principal": "staying", "qps": 1, "capacity": 2},
        {"principal": "moving", "qps": 0.5},
        {"principal": "torn", "qps": 0.5},
        {"principal": "overtaken", "qps": 0.2},
        {"principal": "shared", "qps": 4},
        {"principal": "played", "qps": 0.5, "capacity": 3},
        {"principal": "tasks", "qps": 5.5, "capacity": 1},
        {"principal": "free"},
        {"principal": "ignored", "capacity": 1},
    ],
    "aggregate_default_qps": 0.25,
    "aggregate_default_capacity": 2,
}
SHOWN_BEGINNING = (
    'limits {\n  qps: 10\n  principal: "paced"\n}\nlimits {\n  qps: 0.25\n  principal: "bounded"\n  capacity: 2\n}\n'
)
SHOWN_END = "aggregate_default_qps: 0.25\naggregate_default_capacity: 2\n"


@dataclass(frozen=True, slots=True)
class Side:
    """A master with LIMITS, and frameworks that it throttles."""

    cluster: Cluster
    sender: MakeSender
    opened: list[Sender]

    def framework(self, principal: str | None = None, *, failover_timeout: float = 60.0) -> Sender:
        made = self.sender(self.cluster, principal, failover_timeout)
        self.opened.append(made)
        return made

    def counters(self, principal: str) -> tuple[float, float] | None:
        metrics = self.cluster.read("/metrics/snapshot")
        name = f"frameworks/{principal}/messages_"
        return (metrics[name + "received"], metrics[name + "processed"]) if name + "received" in metrics else None

    def reach(self, principal: str, wanted: tuple[float, float] | None) -> None:
        """Wait until the counters are these."""
        wait_until(lambda: self.counters(principal) == wanted, lambda: f"{self.counters(principal)}, not {wanted}")

    def connected(self, principal: str) -> list[bool]:
        frameworks = self.cluster.read("/frameworks")["frameworks"]
        return [framework["connected"] for framework in frameworks if framework.get("principal") == principal]


ON_BOTH = [pytest.param("real", marks=pytest.mark.real_master), "fake", "fake-driver"]
"""A real master throttles drivers alone; the fake one throttles them and, by its flag, schedulers over HTTP."""
pytestmark = [pytest.mark.process, pytest.mark.socket]


@pytest.fixture(scope="module", params=ON_BOTH)
def running(request: pytest.FixtureRequest) -> Iterator[tuple[Cluster, MakeSender]]:
    setup = Setup(agents=("cpus:4;mem:1024",), flags={"rate_limits": json.dumps(LIMITS)})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if request.param == "fake":
            cluster = fakes.start_on_socket("1.11", setup, Path(folder))
        elif request.param == "fake-driver":
            cluster = fakes.start_for_drivers(setup, Path(folder))
        else:
            cluster = real.start(setup, Path(folder))
        yield cluster, HttpSender if request.param == "fake" else DriverSender
        cluster.stop()


@pytest.fixture
def side(running: tuple[Cluster, type[Sender]]) -> Iterator[Side]:
    made = Side(*running, [])
    yield made
    for sender in made.opened:
        sender.close()


def test_a_scheduler_is_throttled_to_its_rate_within_five_per_cent_and_in_order(side):
    """No faster, that is: a master "could be slower", as each of its delays begins after the last has ended.

    That the fake one is not slower either is tried in virtual time (tests/fake_master/services/test_rate_limits.py).
    """
    framework = side.framework("paced")
    tasks = [f"t{number:03d}" for number in range(31)]
    began = time.monotonic()
    framework.send(*tasks)
    seen = [framework.next() for _ in tasks]
    assert [one.processed for one in seen] == tasks
    rate = (len(tasks) - 1) / (seen[-1].at - began)
    assert rate <= 10 * 1.05


def test_counters_begin_at_0_and_go_with_the_framework(side):
    framework = side.framework("free")
    assert side.counters("free") == (0, 0)
    framework.send("a")
    framework.until("a")
    side.reach("free", (1, 1))
    framework.teardown()
    side.reach("free", None)


def test_one_that_is_listed_without_a_rate_overtakes(side):
    throttled, free = side.framework("overtaken"), side.framework("free")
    throttled.send("a", "b")
    free.send(*(f"t{number}" for number in range(20)))
    throttled.until("a")
    last = [free.next() for _ in range(20)][-1]
    assert last.processed == "t19"
    assert throttled.next().at > last.at


def test_what_exceeds_the_capacity_is_refused_and_the_rest_goes_on(side):
    framework = side.framework("bounded")
    began = time.monotonic()
    framework.send("1")
    framework.until("1")
    framework.send("2", "3", "4", "5")
    assert framework.next().refused == "Message mesos.scheduler.Call dropped: capacity(2) exceeded"
    side.reach("bounded", (5, 1))
    side.reach("bounded", (5, 3))
    assert time.monotonic() - began >= 2 / 0.25 * 0.95


def test_a_principal_with_a_slash_and_a_blank_stands_in_the_metric_as_it_is(side):
    framework = side.framework("a/b c")
    framework.send("a")
    framework.until("a")
    side.reach("a/b c", (1, 1))


def test_frameworks_with_one_principal_share_its_rate_and_its_counters(side):
    first, second = side.framework("shared"), side.framework("shared")
    began = time.monotonic()
    first.send("a")
    first.until("a")
    first.send("b")
    second.send("c", "d")
    first.until("b")
    second.until("d")
    assert time.monotonic() - began >= 3 / 4 * 0.95
    side.reach("shared", (4, 4))


def test_those_who_are_not_listed_share_the_default_with_those_without_a_principal(side):
    unlisted, nameless = side.framework("stranger"), side.framework(None)
    unlisted.send("a")
    unlisted.until("a")
    unlisted.send("b", "c")
    # Two connections: the other one's message must not come first.
    wait_until(lambda: side.counters("stranger") == (3, 1), lambda: str(side.counters("stranger")))
    nameless.send("d")
    assert nameless.next().refused == "Message mesos.scheduler.Call dropped: capacity(2) exceeded"
    assert unlisted.until("c") == ["b", "c"]
    side.reach("stranger", (3, 3))


def test_a_capacity_without_a_rate_is_ignored(side):
    framework = side.framework("ignored")
    tasks = [f"t{number}" for number in range(50)]
    framework.send(*tasks)
    assert framework.until("t49") == tasks


def test_a_teardown_waits_its_turn(side):
    framework = side.framework("torn")
    framework.send("a", "b", "c")
    framework.teardown()
    assert framework.until("c") == ["a", "b", "c"]
    side.reach("torn", (4, 3))
    side.reach("torn", None)


def test_the_loss_of_a_connection_waits_behind_what_the_connection_carried(side):
    framework = side.framework("leaving")
    framework.send("a")
    framework.until("a")
    framework.send("b", "c", "d")
    assert framework.next().refused is not None
    framework.close()
    side.opened.remove(framework)
    side.reach("leaving", (4, 3))
    assert side.connected("leaving") == [True]
    wait_until(lambda: side.connected("leaving") == [False], lambda: "still connected")
    assert side.counters("leaving") == (4, 3)


def test_an_overflow_does_not_end_a_framework_whose_scheduler_is_there(side):
    """Without a failover timeout it ends with its scheduler's connection, and not by the overflow."""
    framework = side.framework("staying", failover_timeout=0.0)
    framework.send("a")
    framework.until("a")
    framework.send("b", "c", "d")
    assert framework.next().refused is not None
    # The queue is empty, and the end of a connection would have had its turn too.
    side.reach("staying", (4, 3))
    other = side.framework("free")
    began = time.monotonic()
    while time.monotonic() - began < 3 / 1:
        other.send("t")
        other.until("t")
    assert len(side.connected("staying")) == 1
    framework.close()
    side.opened.remove(framework)
    wait_until(lambda: side.connected("staying") == [], lambda: "still there")


def test_after_a_failover_what_the_old_connection_sent_is_ignored_in_its_turn(side):
    """Where they differ: a driver that fails over without authentication has no principal for a real master any more.

    Its messages stand in the default queue from then on, and are not counted.  The fake keeps to
    FrameworkInfo.principal, as the document says.
    """
    old = side.framework("moving")
    began = time.monotonic()
    old.send("a")
    old.until("a")
    old.send("b", "c")
    side.reach("moving", (3, 1))
    new = old.fail_over()
    side.opened.append(new)
    # No nearer to each other than those before them, which have had their turns then.
    for task in ("d", "e", "f"):
        new.send(task)
        assert new.until(task) == [task]
    if side.cluster.pid is None:  # a fake master
        assert time.monotonic() - began >= 5 / 0.5 * 0.95
        side.reach("moving", (6, 4))
    else:
        assert time.monotonic() - began >= 2 / 0.25 * 0.95
        assert side.counters("moving") == (3, 1)


def test_bursts_end_as_the_simulation_says(side):
    """The same arrivals for the real master, the fake one and `ratelimit simulate`."""
    framework = side.framework("played")
    arrivals = []
    for burst, size in enumerate((1, 3, 9)):
        framework.send(f"{burst}-first")
        framework.until(f"{burst}-first")
        framework.send(*(f"{burst}-{number}" for number in range(size)))
        # In virtual time, too, each burst follows a message that has just been processed.
        arrivals += [(burst * 100.0, "played"), *[(burst * 100.0 + 0.001, "played")] * size]
        (outcome,) = simulate(from_json(LIMITS), arrivals)
        side.reach("played", (outcome.sent, outcome.processed))
    assert outcome.refused == 6


def test_flags_show_the_configuration_in_the_same_text(side):
    shown = side.cluster.read("/flags")["flags"]["rate_limits"]
    assert shown.startswith(SHOWN_BEGINNING)
    assert shown.endswith(SHOWN_END)
    assert 'qps: 5.5\n  principal: "tasks"\n  capacity: 1\n' in shown


def test_show_reads_what_this_master_says(side):
    side.framework("tasks")
    environment = InMemory(variables={"MESOSCTL_MASTER": side.cluster.address})
    assert main(("ratelimit", "show", "-o", "json"), environment) == 0, environment.err
    shown = {one["principal"]: one for one in json.loads(environment.out)["principals"]}
    assert {who: (one["qps"], one["capacity"]) for who, one in shown.items() if one["listed"] and who} == {
        entry["principal"]: (entry.get("qps"), entry.get("capacity")) for entry in LIMITS["limits"]
    }
    assert (shown[None]["qps"], shown[None]["capacity"]) == (0.25, 2)
    assert (shown["tasks"]["received"], shown["tasks"]["frameworks"]) == (0, 1)


INVALID = [
    ({"limits": [{"principal": "pp"}, {"principal": "pp"}]}, "Duplicate principal pp found in RateLimits"),
    ({"limits": [{"principal": "p", "qps": 0}]}, "Invalid qps: 0. It must be a positive number"),
    ({"aggregate_default_qps": 0}, "Invalid aggregate_default_qps: 0. It must be a positive number"),
    ({"limits": [{"qps": 1}]}, "Missing required fields: limits[0].principal"),
]
IN_OTHER_WORDS = {"Missing required fields: limits[0].principal": "limits[0].principal: it is missing"}
"""The fake master names faults as `mesosctl ratelimit validate` does, with all others of the file."""


@pytest.mark.parametrize(("limits", "said"), INVALID, ids=[said.split(".")[0] for _, said in INVALID])
@pytest.mark.parametrize("which", ON_BOTH[:2])
def test_a_configuration_that_stops_the_start(which, limits, said, tmp_path):
    text = json.dumps(limits)
    with hold_port() as held:
        if which == "real":
            command = [os.environ[real.RUNNER], "cpus:1"]
            port = str(held.getsockname()[1])
            environment = {"PORT": port, "WORK": str(tmp_path / "work"), "MESOS_RATE_LIMITS": text}
        else:
            command = [sys.executable, "-m", "fake_master", "--port", "0", "--rate-limits", text]
            environment = {}
        ended = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=real.START_SECONDS,
            check=False,
        )
    assert ended.returncode != 0
    assert (said if which == "real" else IN_OTHER_WORDS.get(said, said)) in ended.stderr
