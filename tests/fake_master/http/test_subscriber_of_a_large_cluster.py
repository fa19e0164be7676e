"""SUBSCRIBE of the operator API, when the first event is larger than a subscriber may be behind."""

import json

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state import streams
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.messages.protobuf_json import recordio

HEADERS = {"content-type": "application/json", "accept": "application/json"}


def test_a_subscriber_gets_a_state_larger_than_any_backlog_and_the_events_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "LARGEST_BACKLOG", 2000)
    clock = VirtualClock(1000.0)
    application = Application(ClusterSpec(("cpus:1;mem:64",) * 20, "1.11").start(clock=clock))
    stream = application.handle(Request("POST", "/api/v1", HEADERS, b'{"type":"SUBSCRIBE"}')).stream
    assert stream is not None
    clock.sleep(15.0)
    application.tick()
    assert not stream.closed
    events = [json.loads(record) for record in recordio.decode(stream.take())]
    assert [event["type"] for event in events] == ["SUBSCRIBED", "HEARTBEAT", "HEARTBEAT"]
    assert len(events[0]["subscribed"]["get_state"]["get_agents"]["agents"]) == 20


def test_events_behind_it_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LARGEST_BACKLOG", 100)
    stream = streams.EventStream()
    stream.send_first(b"x" * 1000)
    stream.send_record(b"y" * 100)
    assert not stream.overrun
    with pytest.raises(BufferError):
        stream.send_record(b"y")
    assert stream.overrun
