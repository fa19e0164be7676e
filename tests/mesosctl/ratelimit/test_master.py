"""`ratelimit` against a master: show, validate --live, watch, suggest; the fake one, in virtual time."""

import contextlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from mesosctl.show.live import ProgressLine
from tests.helpers.lab import CommandLine, Lab, Scheduler
from tests.helpers.screen import is_cursor_shown, visible

LIMITS = {
    "limits": [{"principal": "p", "qps": 1, "capacity": 10}, {"principal": "free"}],
    "aggregate_default_qps": 2,
    "aggregate_default_capacity": 10,
}


class Desk(CommandLine):
    """A master whose time passes while the command sleeps; `meanwhile` is done then, one step a sleep."""

    def __init__(self, limits: dict[str, Any]) -> None:
        super().__init__(Lab(rate_limits=limits))
        self.meanwhile: list[Callable[[], object]] = []
        self.refused: set[str] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path in self.refused:
            return httpx.Response(403)
        return super().handle_request(request)

    def sleep(self, seconds: float) -> None:
        self.lab.wait(seconds)
        if self.meanwhile:
            self.meanwhile.pop(0)()


@pytest.fixture
def master() -> Desk:
    return Desk(LIMITS)


def burst(framework: Scheduler, size: int) -> Callable[[], None]:
    return lambda: framework.send(*(f"t{number}" for number in range(size)))


# --- show --------------------------------------------------------------------------------------------------


def test_show_puts_limits_beside_figures(master):
    p, stranger = Scheduler(master.lab, principal="p"), Scheduler(master.lab, principal="stranger")
    Scheduler(master.lab)
    p.send("a", "b", "c")
    stranger.send("d")
    ran = master.run("ratelimit", "show", "-o", "wide")
    assert ran.status == 0
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["p", "1", "10", "its", "entry", "3", "1", "2", "0", "1"],
        ["free", "unlimited", "-", "its", "entry", "-", "-", "-", "-", "0"],
        ["stranger", "2", "10", "default", "1", "1", "0", "0", "1"],
        ["(default)", "2", "10", "default", "1", "1", "0", "0", "2"],
    ]


def test_show_says_that_nothing_is_throttled():
    ran = Desk({}).run("ratelimit", "show")
    assert "started without --rate_limits" in ran.err


def test_show_leaves_out_what_may_not_be_seen(master):
    master.refused = {"/metrics/snapshot", "/frameworks"}
    ran = master.run("ratelimit", "show", "-o", "json")
    assert ran.status == 0
    assert {(p["received"], p["frameworks"]) for p in json.loads(ran.out)["principals"]} == {(None, None)}
    master.refused = {"/flags"}
    assert master.run("ratelimit", "show").status == 4


# --- validate --live ---------------------------------------------------------------------------------------


def test_a_principal_that_nobody_uses_is_warned_of(master):
    Scheduler(master.lab, principal="p")
    ran = master.run("ratelimit", "validate", "-", "--live", "-o", "name", stdin=json.dumps(LIMITS))
    assert (ran.status, ran.out) == (0, "limits[1].principal\n")


# --- watch -------------------------------------------------------------------------------------------------


def test_watch_tells_rates_and_when_a_capacity_is_full(master):
    framework = Scheduler(master.lab, principal="p")
    master.meanwhile = [burst(framework, 6), burst(framework, 2)]
    ran = master.run("ratelimit", "watch", "--interval", "2s", "--count", "3", "-o", "jsonl")
    assert ran.status == 0
    first, second, third = ran.lines
    assert (first["at"], first["status"], first["received"], first["arriving"]) == (0, "new", 0, None)
    assert (second["at"], second["status"], second["arriving"], second["processing"]) == (2, "steady", 3, 0.5)
    assert (second["backlog"], second["seconds_to_full"]) == (5, 2)
    assert (third["at"], third["received"], third["processed"], third["backlog"]) == (4, 8, 3, 5)
    assert (third["arriving"], third["processing"], third["seconds_to_full"]) == (1, 1, None)


def test_watch_says_when_a_queue_is_full_and_when_it_was_read(master):
    framework = Scheduler(master.lab, principal="p")
    master.meanwhile = [burst(framework, 30)]
    started = datetime.now(UTC)
    first, second = master.run("ratelimit", "watch", "--interval", "2s", "--count", "2", "-o", "jsonl").lines
    assert (first["full"], second["full"], second["status"], second["seconds_to_full"]) == (False, True, "steady", None)
    assert (
        started
        <= datetime.fromisoformat(first["time"]).replace(microsecond=999_999)
        <= datetime.now(UTC).replace(microsecond=999_999)
    )
    master.meanwhile = [burst(framework, 30)]
    (row,) = master.run("ratelimit", "watch", "--interval", "2s", "--count", "2").out.splitlines()[-1:]
    assert (row.split()[2], row.split()[-1]) == ("full", "now")


def test_watch_in_a_pipe_says_once_that_there_is_nothing_to_see(master):
    ran = master.run("ratelimit", "watch", "--interval", "2s", "--count", "3", "-o", "jsonl")
    assert (ran.status, ran.out) == (0, "")
    (line,) = [line for line in ran.err.splitlines() if "nothing to watch" in line]
    assert json.loads(line)["level"] == "note"
    assert "trying again every 2s" in line


def test_watch_survives_counters_that_come_and_go(master):
    framework = Scheduler(master.lab, principal="p")
    framework.send("a")
    master.meanwhile = [
        lambda: framework.call("TEARDOWN"),
        lambda: Scheduler(master.lab, principal="p"),
    ]
    ran = master.run("ratelimit", "watch", "--interval", "5s", "--count", "3", "-o", "jsonl")
    assert [line["status"] for line in ran.lines] == ["new", "gone", "new"]


def test_watch_survives_a_failover(master):
    framework = Scheduler(master.lab, principal="p")
    framework.send("a")

    def fail_over() -> None:
        now = master.lab.clock()
        master.lab = Lab(rate_limits=LIMITS, now=now)
        burst(Scheduler(master.lab, principal="p"), 9)()

    master.meanwhile = [fail_over]
    ran = master.run("ratelimit", "watch", "--interval", "5s", "--count", "2", "-o", "jsonl")
    assert [(line["status"], line["arriving"]) for line in ran.lines] == [("new", None), ("restarted", None)]


def test_watch_passes_over_a_master_that_does_not_answer(master):
    Scheduler(master.lab, principal="p")
    answers = master.handle_request

    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused")

    master.meanwhile = [lambda: setattr(master, "handle_request", broken)]
    # Two pauses lie between the three attempts of a reading that fails.
    master.meanwhile += [lambda: None, lambda: None, lambda: setattr(master, "handle_request", answers)]
    ran = master.run("ratelimit", "watch", "--interval", "5s", "--count", "3", "-o", "jsonl")
    assert ran.status == 0
    assert "no reading: " in ran.err
    assert [line["at"] for line in ran.lines] == [0, 10]


def test_watch_does_not_forgive_a_wrong_address(master):
    master.refused = {"/metrics/snapshot"}
    assert master.run("ratelimit", "watch", "--count", "2").status == 4


def test_watch_redraws_on_a_terminal_and_not_in_a_file(master):
    Scheduler(master.lab, principal="p")
    drawn = master.run("ratelimit", "watch", "--interval", "1s", "--count", "2", terminal=True)
    (titles, row) = visible(drawn.out)
    assert titles.split()[:3] == ["AT", "PRINCIPAL", "STATUS"]
    assert row.split()[:3] == ["1.00s", "p", "steady"]
    assert is_cursor_shown(drawn.out)
    for variables in ({"TERM": "dumb", "terminal": True}, {}):
        plain = master.run("ratelimit", "watch", "--interval", "1s", "--count", "2", **variables).out
        assert "\x1b[" not in plain
        assert [line.split()[0] for line in plain.splitlines()] == ["AT", "0.00s", "AT", "1.00s"]


def test_watch_as_one_document_needs_an_end(master):
    assert master.run("ratelimit", "watch", "-o", "json").status == 2
    ran = master.run("ratelimit", "watch", "--interval", "1s", "--count", "2", "-o", "json")
    assert json.loads(ran.out)["kind"] == "ratelimit.watch"


def test_watch_without_flags_tells_no_time_to_full(master):
    framework = Scheduler(master.lab, principal="p")
    master.refused = {"/flags"}
    master.meanwhile = [burst(framework, 6)]
    ran = master.run("ratelimit", "watch", "--interval", "2s", "--count", "2", "-o", "jsonl")
    assert "is unknown" in ran.err
    assert ran.lines[1]["seconds_to_full"] is None


# --- suggest -----------------------------------------------------------------------------------------------


def test_suggest_makes_a_file_from_what_was_seen(tmp_path):
    master = Desk({})
    framework = Scheduler(master.lab, principal="p")
    master.meanwhile = [burst(framework, 20), burst(framework, 10)]
    path = tmp_path / "limits.json"
    ran = master.run(
        "ratelimit", "suggest", "--for", "20s", "--interval", "10s", "--burst", "10s", "-f", str(path), "-o", "json"
    )
    assert ran.status == 0
    suggested = {
        "limits": [{"principal": "p", "qps": 4.0, "capacity": 40}],
        "aggregate_default_qps": 4.0,
        "aggregate_default_capacity": 40,
    }
    document = json.loads(ran.out)
    seen = {"principal": "p", "mean": 1.5, "peak": 2.0, "throttled_at": None}
    assert (document["seconds"], document["observed"]) == (20, [seen])
    assert document["rate_limits"] == json.loads(path.read_text()) == suggested
    assert master.run("ratelimit", "validate", str(path)).status == 0


def test_suggest_shows_on_a_terminal_how_long_it_will_take(monkeypatch):
    master = Desk({})
    framework = Scheduler(master.lab, principal="p")
    master.meanwhile = [burst(framework, 20), burst(framework, 10)]
    shown: list[tuple[str, float | None]] = []
    monkeypatch.setattr(ProgressLine, "show", lambda _, sentence, part=None: shown.append((sentence, part)))
    ran = master.run("ratelimit", "suggest", "--for", "30s", "--interval", "10s", terminal=True)
    assert ran.status == 0
    assert [one for one in shown if "reading" in one[0]] == [
        ("reading 1 of 4, 30s left: no messages yet", 0.25),
        ("reading 2 of 4, 20s left: p 2/s", 0.5),
        ("reading 3 of 4, 10s left: p 1/s", 0.75),
        ("reading 4 of 4: no messages yet", 1.0),
    ]


def test_suggest_writes_the_file_on_standard_output():
    master = Desk({})
    framework = Scheduler(master.lab, principal="p")
    master.meanwhile = [burst(framework, 20)]
    ran = master.run("ratelimit", "suggest", "--for", "10s", "--interval", "10s")
    assert ran.status == 0
    assert json.loads(ran.out)["limits"] == [{"principal": "p", "qps": 4.0, "capacity": 120}]


def test_without_traffic_nothing_is_suggested(tmp_path):
    master = Desk({})
    Scheduler(master.lab, principal="silent")
    path = tmp_path / "limits.json"
    ran = master.run("ratelimit", "suggest", "--for", "1s", "--interval", "1s", "-f", str(path))
    assert (ran.status, ran.out) == (5, "")
    assert "no messages were counted" in ran.err
    assert not path.exists()


@pytest.mark.parametrize(
    ("limits", "size", "throttled"),
    [
        ({"limits": [{"principal": "p", "qps": 1, "capacity": 99}]}, 9, {"p": 1.0}),
        ({"limits": [{"principal": "p", "qps": 5, "capacity": 99}]}, 9, {}),
        ({"limits": [{"principal": "p"}], "aggregate_default_qps": 1, "aggregate_default_capacity": 99}, 9, {"q": 1.0}),
        ({}, 9, {}),
    ],
)
def test_what_a_limit_has_held_back_is_no_demand(limits, size, throttled):
    """The second principal shares the default; a limit that is not reached holds nothing back."""
    master = Desk(limits)
    frameworks = [Scheduler(master.lab, principal=who) for who in ("p", "q")]
    master.meanwhile = [lambda: [burst(framework, size)() for framework in frameworks]] * 3
    ran = master.run("ratelimit", "suggest", "--for", "40s", "--interval", "10s", "-o", "json")
    observed = {one["principal"]: one["throttled_at"] for one in ran.json["observed"]}
    assert observed == {"p": None, "q": None} | throttled
    for who in ("p", "q"):
        assert (f"mesosctl ratelimit set {who} -f FILE" in ran.err) is (who in throttled)


def test_where_the_limits_are_hidden_suggest_says_what_is_unknown():
    master = Desk({})
    framework = Scheduler(master.lab, principal="p")
    master.refused = {"/flags"}
    master.meanwhile = [burst(framework, 20)]
    ran = master.run("ratelimit", "suggest", "--for", "10s", "--interval", "10s")
    assert (ran.status, "throttled already is unknown" in ran.err) == (0, True)


def test_a_silent_principal_gets_no_limit():
    master = Desk({})
    framework = Scheduler(master.lab, principal="p")
    Scheduler(master.lab, principal="silent")
    master.meanwhile = [burst(framework, 20)]
    ran = master.run("ratelimit", "suggest", "--for", "10s", "--interval", "10s")
    assert [entry["principal"] for entry in json.loads(ran.out)["limits"]] == ["p"]


@pytest.mark.parametrize("words", [("suggest", "--for", "10s"), ("watch", "--count", "2")])
def test_calls_over_http_that_are_not_counted_are_named(words):
    master = Desk({})
    master.lab.master.rate_limiting._applies = False
    framework = Scheduler(master.lab, principal="p")
    master.meanwhile = [burst(framework, 400)]
    ran = master.run("ratelimit", *words, "--interval", "10s")
    assert ran.status == 0
    assert "uses the HTTP API and makes 40 calls a second: " in ran.err
    if words[0] == "suggest":
        suggested = json.loads(ran.out)
        assert "limits" not in suggested
        assert suggested["aggregate_default_qps"] == 80


def test_refused_messages_do_not_wait_for_ever():
    master = Desk({"limits": [{"principal": "p", "qps": 1, "capacity": 2}]})
    framework = Scheduler(master.lab, principal="p")
    Scheduler(master.lab, principal="p")
    with contextlib.suppress(Exception):
        framework.send(*(f"t{number}" for number in range(9)))
    master.lab.wait(60)
    row = master.run("ratelimit", "show", "-o", "jsonl").lines[0]
    assert row["principal"] == "p"
    assert (row["waiting"], row["refused"]) == (0, row["received"] - row["processed"])
    assert row["refused"] > 0
