"""`mesosctl frameworks teardown` as it is typed, against a fake master in virtual time."""

import httpx
import pytest

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import CommandLine, Lab

SHOP = SimulatedFrameworkSpec("shop", ("web",), task=Resources(parse_entries("cpus:1;mem:1024")), tasks=2)
TWINS = tuple(SimulatedFrameworkSpec("twin", ("ads",), answer="decline") for _ in range(2))


@pytest.fixture
def live():
    lab = Lab("cpus:8;mem:8192", version="1.11", frameworks=(SHOP, *TWINS))
    lab.wait(3.0)
    return CommandLine(lab)


def names(live):
    return [one["name"] for one in live.lab.read("/frameworks")["frameworks"]]


@pytest.mark.parametrize(("api", "sent"), [("auto", "POST /teardown"), ("v1", "POST /api/v1 TEARDOWN")])
def test_a_teardown_is_asked_about_sent_and_read_back(live, api, sent):
    ran = live.run("frameworks", "teardown", "shop", "--api", api)
    assert ran.status == 2
    assert "2 tasks of it will be killed" in ran.err
    assert live.changes == []
    ran = live.run("frameworks", "teardown", "shop", "--api", api, "--yes", "-o", "json")
    assert ran.status == 0, ran.err
    assert (ran.json["name"], ran.json["tasks"], ran.json["confirmed"]) == ("shop", 2, True)
    assert ran.json["used"] == {"cpus": 2, "mem": 2048}
    assert live.changes == [sent]
    assert names(live) == ["twin", "twin"]


def test_what_stays_reserved_is_named(live):
    assert live.run("reserve", "agent-1", "cpus:1", "--role", "web").status == 0
    ran = live.run("frameworks", "teardown", "shop", "--yes")
    assert ran.status == 0
    assert "stays reserved: cpus:1 for 'web'; mesosctl reservations --role web shows it" in ran.err


def test_a_dry_run_removes_nothing(live):
    ran = live.run("frameworks", "teardown", "shop", "--dry-run")
    assert "POST /teardown: accepted (200)" in ran.out
    assert (live.changes, "shop" in names(live)) == ([], True)


@pytest.mark.parametrize(
    ("word", "status", "told"),
    [
        ("twin", 2, "'twin' matches several frameworks: "),
        ("shpo", 5, "did you mean shop?"),
        ("xyz", 5, "mesosctl frameworks"),
    ],
)
def test_a_name_that_is_not_one_framework_sends_nothing(live, word, status, told):
    ran = live.run("frameworks", "teardown", word, "--yes")
    assert (ran.status, told in ran.err) == (status, True), ran.err
    assert live.changes == []


def twins(live):
    return [framework["id"] for framework in live.lab.frameworks() if framework["name"] == "twin"]


def test_several_are_removed_after_one_question(live):
    first, second = twins(live)
    ran = live.run("frameworks", "teardown", "shop", second, "shop", "-o", "json")
    assert ran.status == 2
    assert "2 tasks of it will be killed" in ran.err
    assert second in ran.err
    assert live.changes == []
    ran = live.run("frameworks", "teardown", "shop", second, "shop", "-o", "json", "--yes")
    assert ran.status == 0, ran.err
    assert [(each["id"] == second, each["tasks"]) for each in ran.json["frameworks"]] == [(False, 2), (True, 0)]
    assert (ran.json["name"], ran.json["tasks"]) == ("shop", 2)
    assert [framework["id"] for framework in live.lab.frameworks()] == [first]


def test_none_is_removed_if_a_name_is_wrong(live):
    ran = live.run("frameworks", "teardown", "shop", "nobody", "--yes")
    assert ran.status == 5
    ran = live.run("frameworks", "teardown", "shop", "twin", "--yes")
    assert ran.status == 2
    assert live.changes == []


def test_those_before_a_failure_are_named(live):
    first, second = twins(live)
    answer, seen = live.handle_request, []

    def refuse_the_second(request):
        if request.url.path == "/teardown":
            seen.append(request)
            if len(seen) == 2:
                return httpx.Response(400, text="Failed to teardown")
        return answer(request)

    live.handle_request = refuse_the_second
    ran = live.run("frameworks", "teardown", "shop", first, second, "--yes")
    assert ran.status == 3
    assert "removed before that: shop" in ran.err
    assert {framework["id"] for framework in live.lab.frameworks()} == {first, second}
