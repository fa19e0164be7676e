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
from fake_master.http.views.page_document import MOST_ROWS, Sharing
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.account import AccountsOfMaster
from fake_master.state.clock import SteadyClock
from tests.helpers.lab import Lab, Scheduler

ANYBODY = [{"principals": {"type": "ANY"}, "roles": {"type": "ANY"}}]
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


@pytest.mark.parametrize("path", ["/", "/page/cluster"])
def test_head_has_the_headers_alone(path: str) -> None:
    lab = Lab()
    head, whole = lab.request("HEAD", path), lab.request("GET", path)
    assert (head.status, head.body, whole.status) == (200, b"", 200)
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]


def test_the_document_is_the_account_of_the_cluster() -> None:
    lab = Lab("cpus:8;mem:8192", "cpus(ads):2;cpus:2;mem:1024")
    scheduler = Scheduler(lab, name="web")
    lab.wait(2)
    scheduler.run("t")
    shown = cluster(lab)
    assert shown["mesos"] == "Mesos 1.11.0"
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


def test_rate_limits_are_for_those_who_may_see_the_flags() -> None:
    rules = [{"principals": {"values": ["ops"]}, "flags": {"type": "ANY"}}]
    acls = json.dumps({"permissive": False, "view_flags": rules, "register_frameworks": ANYBODY})
    limits = {"limits": [{"principal": "slow", "qps": 0.1, "capacity": 5}]}
    lab = Lab(rate_limits=limits, flags={"acls": acls})
    Scheduler(lab, name="web", principal="slow").ask("REVIVE")
    assert cluster(lab)["throttled"] == {"rows": [], "count": 0}
    master = lab.master
    sharing = Sharing.now(master.state, AccountsOfMaster(), (), master.rate_limiting.queues(), None)
    assert [one["principal"] for one in sharing.document("ops")["throttled"]["rows"]] == ["slow"]


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


@pytest.mark.parametrize("path", ["/", "/page/cluster", "/page/events", "/page/clock"])
def test_no_page_leaves_it_out(path: str) -> None:
    application = Application(ClusterSpec().start())
    assert {application.handle(Request(method, path)).status for method in ("GET", "POST")} == {404}


@pytest.mark.parametrize("path", ["/", "/page/cluster", "/page/events"])
def test_it_only_reads(path: str) -> None:
    lab = Lab()
    assert {lab.request(method, path).status for method in ("POST", "PUT", "DELETE", "PATCH")} == {405}


def test_its_document_cannot_be_wrapped_or_framed_by_another_page() -> None:
    answer = Lab().request("GET", "/page/cluster?jsonp=f")
    assert answer.body.startswith(b"{")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_an_agent_shows_what_the_cluster_would_lose_with_it() -> None:
    lab = Lab("cpus:4;mem:4096", "cpus(ads):2;cpus:2;mem:1024")
    config = {"role": "web", "guarantees": {"cpus": {"value": 6.0}}}
    lab.call("UPDATE_QUOTA", force=True, quota_configs=[config])
    scheduler = Scheduler(lab, name="shop", roles=["web"])
    lab.wait(2)
    held = {offer["agent"]: offer["amounts"]["cpus"] for offer in cluster(lab)["offers"]["rows"]}
    assert held == {"agent-1": 4.0, "agent-2": 2.0}
    one, other = cluster(lab)["agents"]["rows"]
    assert [one["loss"]["reserved"], other["loss"]["reserved"]] == [{}, {"cpus": 2.0}]
    assert one["loss"]["below"] == [{"role": "web", "missing": {"cpus": 4.0}, "now": {}}]
    assert other["loss"]["below"] == [{"role": "web", "missing": {"cpus": 2.0}, "now": {}}]
    assert one["loss"]["unpromisable"] == {"cpus": 2.0}
    scheduler.run("t")
    lost = sorted(of["loss"]["tasks"] for of in cluster(lab)["agents"]["rows"])
    assert lost == [[], [{"framework": "shop", "tasks": 1}]]


def test_two_frameworks_of_one_name_lose_their_tasks_with_an_agent() -> None:
    lab = Lab("cpus:4;mem:4096")
    for number in range(2):
        scheduler = Scheduler(lab, name="shop", roles=[f"web-{number}"])
        lab.wait(2)
        scheduler.run("t")
    (agent,) = cluster(lab)["agents"]["rows"]
    assert agent["loss"]["tasks"] == [{"framework": "shop", "tasks": 1}] * 2


@pytest.mark.parametrize(
    ("guarantee", "reason"),
    [
        ({"gpus": 1.0}, "No agent in service has gpus."),
        ({"cpus": 3.0}, "No framework is subscribed to it, so nothing is offered to it."),
    ],
)
def test_a_role_below_its_guarantee_says_why(guarantee: dict[str, float], reason: str) -> None:
    lab = Lab("cpus:8;mem:8192")
    role = "web" if "gpus" in guarantee else "nobody"
    Scheduler(lab, name="web", roles=["web"])
    lab.wait(2)
    config = {"role": role, "guarantees": {name: {"value": value} for name, value in guarantee.items()}}
    lab.call("UPDATE_QUOTA", force=True, quota_configs=[config])
    assert row(cluster(lab)["roles"], role)["why"] == reason
    assert row(cluster(lab)["roles"], role)["missing"] == guarantee


def promise(lab: Lab, role: str, **guarantee: float) -> None:
    config = {"role": role, "guarantees": {name: {"value": value} for name, value in guarantee.items()}}
    lab.call("UPDATE_QUOTA", force=True, quota_configs=[config])


def test_who_holds_the_rest_is_named_with_what_it_holds() -> None:
    lab = Lab("cpus:2;mem:8192")
    batch = Scheduler(lab, name="batch")
    batch.run("t", "u")
    batch.ask("SUPPRESS")
    Scheduler(lab, name="web")
    promise(lab, "web", cpus=2, mem=4096)
    promise(lab, "ads", cpus=2)
    roles = cluster(lab)["roles"]
    why = row(roles, "web")["why"]
    assert why.startswith("Of cpus nothing is free: tasks of batch hold 2.")
    assert why.endswith("on agents without free cpus.")
    assert "reservations" not in why
    assert [row(roles, role)["wanting"] for role in ("web", "ads")] == [True, False]


def test_reservations_and_offers_are_named_where_they_are_what_holds_the_rest() -> None:
    lab = Lab("cpus(ads):4;cpus:4;mem:1024")
    promise(lab, "web", cpus=2)
    promise(lab, "batch", cpus=4)
    Scheduler(lab, name="batch")
    lab.wait(2)
    Scheduler(lab, name="web")
    why = row(cluster(lab)["roles"], "web")["why"]
    assert "offers to batch hold 4" in why
    assert "reservations for ads keep 4" in why
    assert "tasks of" not in why


def test_at_most_three_holders_are_named_and_the_rest_is_summed_up() -> None:
    lab = Lab(*["cpus:1;mem:16"] * 5)
    for name in "abcde":
        one = Scheduler(lab, name=name)
        one.run("t")
        one.ask("SUPPRESS")
    Scheduler(lab, name="web")
    promise(lab, "web", cpus=2)
    why = row(cluster(lab)["roles"], "web")["why"]
    assert "tasks of other roles hold 2." in why
    assert "tasks of d" not in why


JSON_TYPE = {"content_type": "application/json"}


class Watch:
    """A master by a clock that the test winds."""

    def __init__(self, **flags: str) -> None:
        self.passed = 0.0
        clock = SteadyClock(lambda: self.passed, lambda: 1e9 + self.passed)
        spec = ClusterSpec(("cpus:8;mem:8192",), "1.11", flags=flags)
        self.master = spec.start(clock=clock)
        self.application = Application(self.master, has_page=True)
        (self.token,) = re.findall('name="page-token" content="([^"]+)"', self.ask("GET", "/").body.decode())

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        content = b"" if body is None else json.dumps(body).encode()
        return self.application.handle(
            Request(method, path, {n.replace("_", "-"): v for n, v in headers.items()}, content)
        )

    def do(self, **asked: Any) -> int:
        return self.ask("POST", "/page/clock", asked, x_page_token=self.token).status

    def cluster(self) -> Any:
        return json.loads(self.ask("GET", "/page/cluster").body)

    def runs(self) -> float:
        return float(json.loads(self.ask("GET", "/metrics/snapshot").body)["allocator/mesos/allocation_runs"])


def test_a_paused_clock_stands_still_and_goes_on_where_it_stood() -> None:
    watch = Watch()
    assert watch.do(do="pause") == 204
    before, runs = watch.cluster(), watch.runs()
    watch.passed += 100.0
    assert (watch.cluster()["time"], watch.cluster()["paused"]) == (before["time"], True)
    assert watch.runs() == runs
    assert watch.do(do="run") == 204
    watch.passed += 1.0
    assert (watch.cluster()["time"], watch.cluster()["paused"]) == (before["time"] + 1.0, False)
    assert watch.runs() > runs


@pytest.mark.parametrize("paused", [True, False])
def test_the_clock_moves_on_and_everything_happens_at_its_time(paused: bool) -> None:
    watch = Watch(allocation_interval="1secs")
    if paused:
        watch.do(do="pause")
    before, runs = watch.cluster()["time"], watch.runs()
    assert watch.do(do="advance", seconds=60) == 204
    assert watch.cluster()["time"] == before + 60
    assert watch.runs() == runs + 60
    assert watch.cluster()["paused"] is paused


def test_to_the_next_event() -> None:
    watch = Watch(allocation_interval="10secs")
    watch.do(do="pause")
    assert (watch.cluster()["next_event"], watch.do(do="next")) == (None, 204)
    info = {"user": "u", "name": "n", "roles": ["web"], "capabilities": [{"type": "MULTI_ROLE"}]}
    watch.ask("POST", "/api/v1/scheduler", {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}, **JSON_TYPE)
    left, runs = watch.cluster()["next_event"], watch.runs()
    assert 0 < left <= 10
    assert watch.do(do="next") == 204
    assert watch.runs() == runs + 1
    assert 0 < watch.cluster()["next_event"] <= 10


@pytest.mark.parametrize(
    "asked",
    [
        *([], "run", {}, {"do": "stop"}, {"do": "advance"}, {"do": "advance", "seconds": "60"}),
        *({"do": "advance", "seconds": value} for value in (0, -1, 1e9, True)),
    ],
)
def test_any_other_wish_of_the_clock_is_refused(asked: Any) -> None:
    watch = Watch()
    before = watch.cluster()["time"]
    assert watch.ask("POST", "/page/clock", asked, x_page_token=watch.token).status == 400
    assert watch.cluster()["time"] == before


def test_without_the_token_of_the_page_the_clock_is_not_changed() -> None:
    watch = Watch()
    for headers in ({}, {"x_page_token": ""}, {"x_page_token": "TOKEN"}, {"x_page_token": watch.token + "x"}):
        assert watch.ask("POST", "/page/clock", {"do": "pause"}, **headers).status == 403
    assert watch.cluster()["paused"] is False


def test_a_program_that_moves_the_clock_keeps_it() -> None:
    lab = Lab()
    (token,) = re.findall('name="page-token" content="([^"]+)"', lab.request("GET", "/").body.decode())
    assert lab.request("POST", "/page/clock", {"do": "pause"}, **{"x-page-token": token}).status == 409


@pytest.mark.parametrize("version", ["documents", "1.4", "1.11"])
def test_a_guarantee_is_not_offered_to_the_roles_below(version: str) -> None:
    lab = Lab("cpus:8;mem:8192", version=version)
    Scheduler(lab, name="f", roles=["web/a"])
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 40}}]
    assert lab.post("/quota", {"role": "web", "guarantee": guarantee, "force": True}) == 200
    assert "only to roles below it" in row(cluster(lab)["roles"], "web")["why"]


@pytest.mark.parametrize(("version", "capped"), [("1.4", True), ("1.8", True), ("1.11", False), ("documents", False)])
def test_a_role_that_has_all_that_its_guarantee_allows_comes_last(version: str, capped: bool) -> None:
    lab = Lab("cpus:8;mem:8192", version=version)
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 2}}]
    assert lab.post("/quota", {"role": "web", "guarantee": guarantee}) == 200
    for role in ("web", "z"):
        Scheduler(lab, name=role, roles=[role])
        lab.wait(2)
    turns = cluster(lab)["next"]["rows"]
    assert [turn["role"] for turn in turns if turn["capped"]] == ["web"] * capped
    assert not capped or turns[-1]["role"] == "web"
