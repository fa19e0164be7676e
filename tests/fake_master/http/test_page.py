"""The page at the address of a master: its headers, what its document says, and its events."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from fake_master.http.application import Application
from fake_master.http.page import event_record
from fake_master.http.request_response import Request, Response
from fake_master.http.views.sharing import MOST_ROWS
from fake_master.sources.cluster_file import ClusterSpec
from tests.helpers.lab import Lab, Scheduler

HOSTILE = '"></td><img src=x onerror=alert(1)><script>alert(1)</script>'


def cluster(lab: Lab) -> Any:
    return lab.read("/page/cluster")


def row(table: Any, name: str, key: str = "name") -> Any:
    (found,) = [one for one in table["rows"] if one[key] == name]
    return found


def events(answer: Response) -> list[Any]:
    assert answer.stream is not None
    return [json.loads(record.removeprefix(b"data: ")) for record in answer.stream.take()]


class Attributes(HTMLParser):
    """The tags and attributes of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, name, value or "") for name, value in attrs]


def test_the_policy_allows_the_own_script_and_style_and_nothing_else() -> None:
    answer = Lab().request("GET", "/")
    html, policy = answer.body.decode(), answer.headers["Content-Security-Policy"]
    for tag in ("script", "style"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_it_loads_nothing_and_has_no_handlers() -> None:
    html = Lab().request("GET", "/").body.decode()
    parser = Attributes()
    parser.feed(html)
    assert not [one for one in parser.found if one[1].startswith("on") or one[1] in ("src", "style", "action")]
    assert all(value.startswith(("/", "data:,")) for _, name, value in parser.found if name == "href")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|@import|url\(", html)


def test_every_link_is_served() -> None:
    lab = Lab()
    links = re.findall('<a href="([^"]+)"', lab.request("GET", "/").body.decode())
    assert len(links) > 5
    assert {lab.request("GET", link).status for link in links} == {200}


def test_the_document_is_the_account_of_the_cluster() -> None:
    lab = Lab("cpus:8;mem:8192", "cpus(ads):2;cpus:2;mem:1024")
    scheduler = Scheduler(lab, name="web")
    lab.wait(2)
    scheduler.run("t")
    shown = cluster(lab)
    assert shown["totals"] == {"cpus": 12.0, "mem": 9216.0}
    shop = row(shown["roles"], "web")
    (listed,) = [one for one in lab.read("/roles")["roles"] if one["name"] == "web"]
    assert (shop["used"], shop["offered"]) == (listed["allocated"], listed["offered"])
    assert row(shown["frameworks"], "web")["tasks"] == 1
    assert shown["reservations"]["rows"] == [
        {
            "stack": [{"type": "STATIC", "role": "ads", "principal": None}],
            "agents": 1,
            "amounts": {"cpus": 2.0},
        }
    ]
    assert row(shown["roles"], "ads")["idle"] == {"cpus": 2.0}
    assert shown["offers"]["count"] == len(lab.master.state.offers)


def test_who_is_next_and_why() -> None:
    lab = Lab("cpus:8;mem:8192")
    first, second = Scheduler(lab, name="first"), Scheduler(lab, name="second")
    lab.wait(2)
    assert [one["role"] for one in cluster(lab)["next"]["rows"]] == ["second", "first"]
    shares = {one["role"]: one["share"] for one in cluster(lab)["next"]["rows"]}
    assert shares == {"first": 1.0, "second": 0.0}
    config = {"role": "first", "guarantees": {"disk": {"value": 10.0}}}
    lab.call("UPDATE_QUOTA", force=True, quota_configs=[config])
    turns = cluster(lab)["next"]["rows"]
    assert [(one["role"], one["lacking"]) for one in turns] == [("first", {"disk": 10.0}), ("second", {})]
    assert row(cluster(lab)["roles"], "first")["standing"] == "below guarantee"
    first.ask("SUPPRESS")
    second.ask("SUPPRESS")
    assert cluster(lab)["next"]["rows"] == []


def test_a_sorter_that_draws_lots_says_no_order_and_draws_none() -> None:
    lab = Lab("cpus:8;mem:8192", flags={"role_sorter": "random"})
    Scheduler(lab, name="web")
    assert cluster(lab)["next"] == {"rows": [], "count": 0}


def test_throttled_principals_and_their_queues() -> None:
    limits = {"limits": [{"principal": "slow", "qps": 0.1, "capacity": 5}]}
    lab = Lab(rate_limits=limits)
    scheduler = Scheduler(lab, name="web", principal="slow")
    for _ in range(3):
        scheduler.ask("REVIVE")
    (queue,) = cluster(lab)["throttled"]["rows"]
    assert (queue["principal"], queue["per_second"], queue["capacity"]) == ("slow", 0.1, 5)
    before = queue["waiting"]
    assert before >= 2
    lab.wait(15)
    assert cluster(lab)["throttled"]["rows"][0]["waiting"] < before


def test_many_agents_are_groups_and_many_roles_the_first() -> None:
    lab = Lab(*["cpus:8;mem:8192"] * MOST_ROWS, "cpus:1;mem:64")
    roles = [{"role": f"role-{number}", "weight": 2.0} for number in range(10_000)]
    assert lab.request("PUT", "/weights", roles).status == 200
    answer = lab.request("GET", "/page/cluster").body
    shown = json.loads(answer)
    assert [group["agents"] for group in shown["agents"]["rows"]] == [MOST_ROWS, 1]
    assert shown["agents"]["grouped"]
    assert len(shown["roles"]["rows"]) == MOST_ROWS
    assert shown["roles"]["count"] == 10_000
    assert len(answer) < 200_000


def test_hostile_names_are_short_and_cannot_turn_the_line() -> None:
    lab = Lab()
    Scheduler(
        lab, name="web\u202e" + HOSTILE + "x" * 2_000_000, roles=["web"], labels={"labels": [{"key": "k" * 2_000_000}]}
    )
    answer = lab.request("GET", "/page/cluster").body
    (framework,) = json.loads(answer)["frameworks"]["rows"]
    assert framework["name"].startswith("web\\u202e" + HOSTILE)
    assert len(framework["name"]) < 220
    assert len(answer) < 10_000


def test_a_name_never_ends_an_event() -> None:
    record = event_record({"name": "a\n\ndata: b\r\u2028"})
    assert record.count(b"\n") == 2
    assert record.endswith(b"\n\n")
    assert b"\r" not in record


def test_events_bring_the_document_now_and_after_a_change() -> None:
    lab = Lab()
    answer = lab.request("GET", "/page/events")
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert [event["roles"]["count"] for event in events(answer)] == [0]
    assert lab.request("PUT", "/weights", [{"role": "web", "weight": 2.0}]).status == 200
    lab.application.publish()
    assert [event["roles"]["count"] for event in events(answer)] == [1]
    wait = lab.application.publish()
    assert wait is not None
    assert wait > 0
    assert events(answer) == []


def test_a_page_that_does_not_read_gets_one_update_and_not_many() -> None:
    lab = Lab()
    answer = lab.request("GET", "/page/events")
    for _ in range(3):
        lab.application.publish()
    assert len(events(answer)) == 1


def test_a_closed_page_costs_nothing_and_a_new_master_ends_the_streams() -> None:
    lab = Lab()
    answer = lab.request("GET", "/page/events")
    assert answer.stream is not None
    answer.stream.left()
    assert lab.application.publish() is None
    other = lab.request("GET", "/page/events")
    lab.application.follow(lab.master)
    assert other.stream is not None
    assert other.stream.closed


@pytest.mark.parametrize("path", ["/", "/page/cluster", "/page/events"])
def test_no_page_leaves_it_out(path: str) -> None:
    application = Application(ClusterSpec().start(), has_page=False)
    assert application.handle(Request("GET", path)).status == 404


@pytest.mark.parametrize("path", ["/", "/page/cluster", "/page/events"])
def test_it_only_reads(path: str) -> None:
    lab = Lab()
    assert {lab.request(method, path).status for method in ("POST", "PUT", "DELETE", "PATCH")} == {405}


def test_its_document_cannot_be_wrapped_for_another_page() -> None:
    answer = Lab().request("GET", "/page/cluster?jsonp=f")
    assert answer.body.startswith(b"{")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
