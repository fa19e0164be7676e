"""`FakeMaster` through its socket: other threads, other processes."""

import threading

import httpx
import pytest

from fake_master import FakeMaster
from tests.fake_master.testing.clients import PATH, Calling, records, subscription

pytestmark = pytest.mark.socket
AGENT = "cpus:4;mem:2048"


def test_the_url_is_on_the_loopback_interface_and_stays_the_same():
    with FakeMaster([AGENT]) as master:
        url = master.url
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/health").status_code == 200
        assert master.url == url
        assert httpx.get(f"{url}/state").json()["pid"] == f"master@{url.removeprefix('http://')}"
        master.fail_over()
        assert httpx.get(f"{url}/state").json()["pid"] == f"master@{url.removeprefix('http://')}"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health")


def test_several_masters_at_once():
    with FakeMaster(["cpus:1"]) as one, FakeMaster(["cpus:2"]) as other:
        cpus = [httpx.get(f"{master.url}/slaves").json()["slaves"][0]["resources"]["cpus"] for master in (one, other)]
    assert cpus == [1.0, 2.0]


def test_a_scheduler_in_another_thread_loses_an_agent():
    """It launches on whatever it is offered, and again when it hears that a task is lost."""
    failures: list[str] = []

    def schedule() -> None:
        with (
            httpx.Client(base_url=url, timeout=None) as asked,
            asked.stream("POST", PATH, json=subscription()) as response,
        ):
            wanted = ["first"]
            events = records(response.iter_raw())
            framework_id = next(events)["subscribed"]["framework_id"]["value"]
            calling = Calling(asked, framework_id, response.headers["Mesos-Stream-Id"])
            for event in events:
                for offer in event.get("offers", {}).get("offers", ()):
                    if wanted:
                        calling.accept(offer, wanted.pop())
                    else:
                        calling.call("DECLINE", offer_ids=[offer["id"]])
                if event.get("update", {}).get("status", {}).get("state") == "TASK_UNREACHABLE":
                    wanted.append("second")
                if event["type"] == "FAILURE":
                    failures.append(event["failure"]["agent_id"]["value"])

    with FakeMaster([AGENT, AGENT], quotas={"web": "cpus:1"}) as master:
        url = master.url
        thread = threading.Thread(target=schedule, daemon=True)
        thread.start()

        def running() -> list[str]:
            return [task.name for task in master.tasks if task.state == "TASK_RUNNING"]

        master.settle(lambda: running() == ["first"], timeout=60)
        (task,) = master.tasks
        master.lose(task.agent)
        master.settle(lambda: running() == ["second"], timeout=60)
        assert failures == [task.agent_id]
        assert master.roles["web"].allocated == {"cpus": 1.0}
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("lost", ["request", "response"])
def test_a_connection_that_breaks(lost):
    with FakeMaster([AGENT]) as master, httpx.Client(base_url=master.url) as asked:
        master.drop_next(lost)
        with pytest.raises(httpx.TransportError):
            asked.get("/version")
        assert asked.get("/version").status_code == 200


def test_both_ways_at_once():
    with FakeMaster([AGENT]) as master:
        body = {"role": "web", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}
        assert httpx.post(f"{master.url}/quota", json=body).status_code == 200
        with httpx.Client(transport=master.transport, base_url="http://other") as asked:
            assert asked.delete("/quota/web").status_code == 200
        assert "web" not in master.roles
