"""Time that jumps: what lasts goes by the monotonic clock, what is shown by the wall clock."""

import json
import time
from typing import Any

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.streams import EventStream

HOUR, DAY = 3600.0, 86400.0
CALL = {"content-type": "application/json", "accept": "application/json"}


class System:
    """The clocks of the system, which a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall, self.monotonic = 1_700_000_000.0, 5000.0
        monkeypatch.setattr(time, "time", lambda: self.wall)
        monkeypatch.setattr(time, "monotonic", lambda: self.monotonic)

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


class OnSystemClock:
    """A master on the system's clocks, and one framework."""

    def __init__(self) -> None:
        self.master = ClusterSpec(("cpus:8;mem:8192",), "1.11").start()
        self.application = Application(self.master)
        self.stream: EventStream | None = None

    def call(self, path: str, **message: Any) -> Any:
        request = Request("POST", path, CALL, json.dumps(message).encode())
        return self.application.handle(request)

    def subscribe(self) -> None:
        info = {"name": "f", "user": "u", "roles": ["web"], "capabilities": [{"type": "MULTI_ROLE"}]}
        self.stream = self.call("/api/v1/scheduler", type="SUBSCRIBE", subscribe={"framework_info": info}).stream

    def kinds(self) -> list[str]:
        """Of the events since it was last asked."""
        assert self.stream is not None
        self.application.tick()
        return [json.loads(record.partition(b"\n")[2])["type"] for record in self.stream.take()]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    return System(monkeypatch)


@pytest.mark.parametrize("jump", [-HOUR, -10 * DAY, HOUR, 10 * DAY])
def test_offers_and_heartbeats_go_on_when_the_wall_clock_jumps(system: System, jump: float) -> None:
    lab = OnSystemClock()
    lab.subscribe()
    system.passes(2)
    assert lab.kinds() == ["SUBSCRIBED", "HEARTBEAT", "OFFERS"]
    system.wall += jump
    assert lab.kinds() == []
    for _ in range(4):
        system.passes(5)
        lab.application.tick()
    assert lab.kinds() == ["HEARTBEAT"]
    assert lab.stream is not None
    lab.stream.abandon()
    lab.subscribe()
    system.passes(2)
    assert "OFFERS" in lab.kinds()


def test_what_is_shown_goes_by_the_wall_clock(system: System) -> None:
    lab = OnSystemClock()
    system.passes(1)
    system.wall -= HOUR
    lab.subscribe()
    (framework,) = lab.master.state.frameworks.values()
    assert framework.registered_time == system.wall


def test_ten_days_of_standstill_are_not_caught_up_with(system: System) -> None:
    lab = OnSystemClock()
    lab.subscribe()
    system.passes(2)
    lab.kinds()
    runs = allocations(lab)
    system.passes(10 * DAY)
    assert lab.kinds() in ([], ["HEARTBEAT"])
    # Nothing but the heartbeat was due, and ten seconds are made up for from then on.
    assert 0 < allocations(lab) - runs <= 12 + 15
    for _ in range(10):
        system.passes(2)
        lab.application.tick()
    assert lab.kinds().count("HEARTBEAT") in (1, 2)


def allocations(lab: OnSystemClock) -> int:
    answer = lab.application.handle(Request("GET", "/metrics/snapshot"))
    return int(json.loads(answer.body)["allocator/mesos/allocation_runs"])


def test_a_logging_level_lasts_as_long_as_the_last_one_says(system: System) -> None:
    lab = OnSystemClock()

    def levels(*steps: tuple[int | None, float, float]) -> list[int]:
        """Set a level for so long, or none; let time pass; what it is then."""
        found = []
        for level, lasts, passes in steps:
            if level is not None:
                duration = {"nanoseconds": int(lasts * 1e9)}
                body = {"level": level, "duration": duration}
                assert lab.call("/api/v1", type="SET_LOGGING_LEVEL", set_logging_level=body).status == 200
            system.passes(passes)
            answer = json.loads(lab.call("/api/v1", type="GET_LOGGING_LEVEL").body)
            found.append(answer["get_logging_level"]["level"])
        return found

    # As a Mesos 1.11.0 master was seen to do.
    assert levels((3, 2, 1), (2, 9, 3), (None, 0, 5), (None, 0, 2)) == [3, 2, 2, 0]
    assert levels((1, 5, 0), (0, 5, 0), (7, 0, 0), (7, -1, 0)) == [1, 0, 0, 0]
