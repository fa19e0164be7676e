"""The leading master is found, and so is what was set before it changed, on sockets."""

import re
import threading
import time

import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import NoLeader
from mesosctl.reading.overview import Feed
from tests.helpers.waiting import wait_until
from tests.mesosctl.client.leader.ensemble import ANSWERED_BY_ALL

SET = ("quota", "set", "web", "cpus:2")


@pytest.mark.parametrize("leader", [0, 1, 2])
def test_the_leader_of_a_list_is_found_wherever_it_stands(ensemble, type_words, leader):
    ensemble.leader = leader
    assert type_words(*SET, MESOSCTL_MASTER=ensemble.address).status == 0
    listed = type_words("quota", "list", "-o", "name", MESOSCTL_MASTER=ensemble.address)
    assert (listed.status, listed.out) == (0, "web\n")
    assert ensemble.masters[leader].lines.count("POST /quota") == 1


def test_one_that_does_not_lead_is_enough_to_name(ensemble, type_words):
    ensemble.leader = 2
    for words in (SET, ("quota", "list"), ("quota", "remove", "web")):
        assert type_words(*words, MESOSCTL_MASTER=ensemble.masters[0].base).status == 0


class TestOneThatDoesNotLead:
    """The fake master always leads, so what a client makes of one that does not is here."""

    @pytest.mark.parametrize("path", ["/state", "/state?x=1", "/master/slaves?slave_id=a%20b&jsonp=f", "/quota?a=/b?c"])
    def test_leads_to_the_same_path_and_query(self, ensemble, path):
        ensemble.leader = 1
        ensemble.masters[1].behaviour = lambda _method, _path: (200, {"Content-Type": "application/json"}, b"[1]")
        with LeadingMaster(parse_address(ensemble.masters[0].base), ClientSettings(timeout=60)) as master:
            assert master.get(path) == [1]
        assert [ensemble.masters[0].lines, ensemble.masters[1].lines] == [[f"GET {path}"], [f"GET {path}"]]

    def test_is_asked_three_times_who_leads_while_nobody_does(self, ensemble):
        ensemble.leader = None
        slept: list[float] = []
        settings = ClientSettings(timeout=60, sleep=slept.append)
        address = parse_address(ensemble.masters[0].base)
        with LeadingMaster(address, settings) as master, pytest.raises(NoLeader, match="No leader elected"):
            master.get("/state?x=1")
        assert ensemble.masters[0].lines == ["GET /state?x=1"] * 3
        assert len(slept) == 2

    def test_is_followed_once_somebody_leads(self, ensemble):
        ensemble.leader = None

        def elect(_seconds):
            ensemble.leader = 2

        with LeadingMaster(parse_address(ensemble.masters[0].base), ClientSettings(timeout=60, sleep=elect)) as master:
            assert master.get("/slaves?slave_id=none")["slaves"] == []


def test_without_a_leader_there_is_no_master(ensemble, type_words):
    ensemble.leader = None
    ran = type_words(*SET, MESOSCTL_MASTER=ensemble.address)
    assert ran.status == 7
    assert "No leader elected" in ran.err
    assert ensemble.changes == []


def test_a_leader_that_is_down_is_passed_over(ensemble, type_words):
    ensemble.masters[0].stop()
    ensemble.leader = 1
    assert type_words(*SET, MESOSCTL_MASTER=ensemble.address).status == 0


@pytest.mark.parametrize("words", [("ratelimit", "show"), ("quota", "check", "web", "cpus:1")])
def test_flags_and_figures_are_those_of_the_leader(ensemble, type_words, words):
    ensemble.leader = 2
    ran = type_words(*words, MESOSCTL_MASTER=ensemble.masters[0].base)
    assert ran.status == 0, ran.err
    told = {"GET /flags", "GET /metrics/snapshot"}
    assert told & set(ensemble.masters[2].lines)
    assert not told & set(ensemble.masters[0].lines)


def test_the_version_is_the_leaders_while_masters_are_upgraded(ensemble, type_words, monkeypatch):
    monkeypatch.setitem(ANSWERED_BY_ALL, "/version", b'{"version": "1.11.0"}')
    ensemble.leader = 2
    assert type_words(*SET, MESOSCTL_MASTER=ensemble.address).status == 0


def test_figures_follow_the_leader(ensemble):
    with LeadingMaster(parse_address(ensemble.address), ClientSettings(timeout=10)) as master:
        for leader in (0, 2, 1):
            ensemble.leader = leader
            assert "allocator/event_queue_dispatches" in master.get("/metrics/snapshot")


def test_top_goes_on_with_the_next_leader_and_says_when_there_is_none(ensemble):
    def open_master():
        return LeadingMaster(parse_address(ensemble.address), ClientSettings(timeout=5))

    with Feed(open_master, 0.3, events=False) as feed:
        wait_until(lambda: feed.overview is not None)
        for leader in (1, 2):
            before = feed.overview
            ensemble.leader = None
            wait_until(lambda: feed.trouble is not None)
            assert "leader" in (feed.trouble or "")
            assert feed.overview is not None  # the last reading stays on the screen
            ensemble.leader = leader
            wait_until(lambda: feed.trouble is None and feed.overview is not before)  # noqa: B023  # it is called at once
            assert feed.overview.total["cpus"] == 24000
        # A leader that hangs up on everybody is passed over too.
        ensemble.masters[2].behaviour = _hang_up
        ensemble.leader = 0
        before = feed.overview
        wait_until(lambda: feed.trouble is None and feed.overview is not before)
        assert "GET /metrics/snapshot" in ensemble.masters[1].lines
    assert feed.failed is None


class TestLeaderChangesAfterTheChange:
    def test_it_is_confirmed_by_the_next(self, ensemble, type_words):
        ensemble.after_change = lambda: setattr(ensemble, "leader", 1)
        assert type_words(*SET, MESOSCTL_MASTER=ensemble.address).status == 0
        assert ensemble.changes == ["POST /quota"]
        assert "GET /quota" in ensemble.masters[1].lines

    def test_even_if_the_last_one_is_gone(self, ensemble, type_words):
        def die():
            ensemble.leader = 1
            threading.Thread(target=ensemble.masters[0].stop).start()
            ensemble.masters[0].behaviour = _hang_up

        ensemble.after_change = die
        assert type_words(*SET, MESOSCTL_MASTER=ensemble.address).status == 0
        assert ensemble.changes == ["POST /quota"]

    def test_what_the_next_one_does_not_know_is_not_confirmed(self, ensemble, type_words):
        def forget():
            ensemble.leader = 1
            ensemble.forget()

        ensemble.after_change = forget
        ran = type_words(*SET, MESOSCTL_MASTER=ensemble.address)
        assert ran.status == 9
        assert "does not show it" in ran.err
        assert ensemble.changes == ["POST /quota"]

    def test_nobody_leading_any_more_is_not_confirmed(self, ensemble, type_words):
        ensemble.after_change = lambda: setattr(ensemble, "leader", None)
        ran = type_words(*SET, MESOSCTL_MASTER=ensemble.address)
        assert ran.status == 9
        assert "could not be read back" in ran.err


def _hang_up(*_):
    raise ConnectionError


@pytest.fixture
def silence(ensemble):
    """Makes a master take requests and answer none, until the test is over."""
    over = threading.Event()

    def wait(*_):
        over.wait(60)
        raise ConnectionError

    yield lambda number: setattr(ensemble.masters[number], "behaviour", wait)
    over.set()


class TestSilence:
    def test_of_one_leaves_time_for_the_next(self, ensemble, type_words, silence):
        silence(0)
        ensemble.leader = 2
        assert type_words("quota", "list", MESOSCTL_MASTER=ensemble.address, timeout=12).status == 0

    def test_of_who_led_leaves_time_for_the_next(self, ensemble, type_words, silence):
        def fall_silent():
            silence(0)
            ensemble.leader = 1

        ensemble.after_change = fall_silent
        assert type_words(*SET, MESOSCTL_MASTER=ensemble.address, timeout=12).status == 0

    def test_of_all_ends_with_the_deadline_and_names_each(self, ensemble, type_words, silence):
        for number in range(3):
            silence(number)
        started = time.monotonic()
        ran = type_words("quota", "list", MESOSCTL_MASTER=ensemble.address, timeout=3)
        assert ran.status == 9
        assert all(master.host in ran.err for master in ensemble.masters)
        # A third of the time for each, or a little less; what the last one is given is all that is left.
        assert len(re.findall(r"did not answer in [01]\.\d s", ran.err)) == 2, ran.err
        assert time.monotonic() - started < 30  # and no master is waited for until the silence is over

    def test_after_a_change_left_means_that_it_is_not_sent_again(self, ensemble, type_words, silence):
        asked = []

        def silent_to_changes(method, path):
            asked.append(method)
            if method == "GET":
                return ensemble._answer(ensemble.masters[0], _request(method, path))
            raise ConnectionError

        ensemble.masters[0].behaviour = silent_to_changes
        ran = type_words(*SET, MESOSCTL_MASTER=ensemble.address)
        assert ran.status == 7
        assert "so far" in ran.err
        assert asked.count("POST") == 1
        assert ensemble.changes == ["POST /quota"]


def _request(method, path):
    from fake_master.http.request_response import Request  # noqa: PLC0415

    return Request(method, path, {}, b"")
