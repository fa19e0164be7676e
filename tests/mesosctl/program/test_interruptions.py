"""An interruption ends with one sentence, or one JSON object, that says what is known of the change it stopped."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterator

import httpx
import pytest

from mesosctl.__main__ import main
from mesosctl.mesos.errors import HungUp, Interruption, MesosctlError, Terminated, interrupted
from mesosctl.program.run import obey_signals
from tests.conftest import StandIn, guarantee
from tests.helpers.surroundings import InMemory, Ran

STOPS = {
    KeyboardInterrupt(): (130, "interrupted"),
    Interruption(Terminated): (143, "terminated"),
    Interruption(HungUp): (129, "the terminal hung up"),
}
SIGNALS = {
    signal.SIGINT: (130, "mesosctl: interrupted: no change was sent\n"),
    signal.SIGTERM: (143, "mesosctl: terminated: no change was sent\n"),
    signal.SIGHUP: (129, "mesosctl: the terminal hung up: no change was sent\n"),
}
SET = ("quota", "set", "dev", "cpus:1")


def stopping(stop: BaseException, cluster: StandIn | None = None) -> Callable[[httpx.Request], httpx.Response]:
    def behave(request: httpx.Request) -> httpx.Response:
        if cluster is not None:
            cluster.usual(request)
        stop.__notes__ = []
        raise stop

    return behave


def told(ran: Ran, form: str) -> str:
    if form != "json":
        (line,) = ran.err.splitlines()
        return line.removeprefix("mesosctl: ")
    error = json.loads(ran.err)["error"]
    assert error["exit_status"] == ran.status
    return str(error["message"])


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: STOPS[stop][1])
@pytest.mark.parametrize("words", [("quota", "list"), SET])
def test_before_anything_was_sent(run, cluster, stop, form, words):
    cluster.instead["GET /quota"] = [stopping(stop)]
    ran = run(*words, "-o", form)
    assert (ran.status, ran.out) == (STOPS[stop][0], "")
    assert told(ran, form) == f"{STOPS[stop][1]}: no change was sent"
    assert cluster.changed == []


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: STOPS[stop][1])
@pytest.mark.parametrize("arrives", [True, False])
def test_while_a_change_is_on_its_way(run, cluster, stop, form, arrives):
    cluster.instead["POST /api/v1"] = [stopping(stop, cluster if arrives else None)]
    ran = run(*SET, "-o", form)
    assert ran.status == STOPS[stop][0]
    said = told(ran, form)
    assert said.startswith(f"{STOPS[stop][1]}: the new quota of 'dev' was sent; ")
    assert said.endswith(" is unknown: check with mesosctl quota list")


def test_while_an_accepted_change_is_read_back(run, cluster):
    cluster.instead["GET /quota"] = [cluster.usual, stopping(KeyboardInterrupt())]
    ran = run(*SET)
    assert (ran.status, "dev" in cluster.quotas) == (130, True)
    assert "'dev' was accepted, but not read back" in ran.err
    assert "check with mesosctl quota list" in ran.err


def test_of_several_it_says_how_many_are_done(run, cluster):
    for role in ("a", "b", "c"):
        cluster.quotas[role] = guarantee(cpus=1)
    cluster.instead["DELETE /quota/c"] = [stopping(KeyboardInterrupt())]
    ran = run("quota", "remove", "a", "b", "c", "--yes")
    assert ran.status == 130
    assert "removed 2 of 3: a, b" in ran.err
    assert "the quota of 'c' was sent; " in ran.err
    assert "whether it took effect is unknown" in ran.err


def test_what_a_rehearsal_did_is_not_told(run, cluster):
    """Nothing of it has happened to anybody."""
    cluster.instead["GET /quota"] = [stopping(KeyboardInterrupt())] * 3
    ran = run(*SET, "--dry-run")
    assert (ran.status, ran.err) == (130, "mesosctl: interrupted: no change was sent\n")


@pytest.fixture
def signals() -> Iterator[None]:
    """The handlers of signals are those of before, afterwards."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("becomes", [RuntimeError("this is no schema"), KeyboardInterrupt()])
def test_one_that_a_library_turns_into_another_error_is_still_one(cluster, number: signal.Signals, becomes):
    """As pydantic does while it builds a model, and typer with one that comes before a command begins."""
    environment = InMemory(transport=cluster)

    def build(_request: httpx.Request) -> httpx.Response:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        raise becomes

    cluster.instead["GET /quota"] = [build]
    obey_signals(environment)
    status = main(["quota", "list", "--master", "http://m:5050", "--no-audit"], environment)
    assert (status, environment.err) == SIGNALS[number]


@pytest.mark.parametrize("kind", [HungUp, Terminated])
def test_one_outside_of_a_command_has_its_own_status(monkeypatch, capsys, kind):
    def start(_arguments):
        raise Interruption(kind)

    monkeypatch.setattr("mesosctl.program.run.run_as_program", start)
    assert main(["quota", "list"]) == int(interrupted(Interruption(kind), "").exit_status)
    assert capsys.readouterr().err == f"mesosctl: {interrupted(Interruption(kind), 'no change was sent').message}\n"


def test_an_error_without_a_signal_is_a_bug(run, cluster):
    def build(_request: httpx.Request) -> httpx.Response:
        raise RuntimeError("this is no schema")

    cluster.instead["GET /quota"] = [build]
    ran = run("quota", "list")
    assert ran.status == 8
    assert "this is a bug (RuntimeError)" in ran.err


def test_an_interruption_is_an_error_like_others():
    error = interrupted(Interruption(HungUp), "no change was sent")
    assert isinstance(error, MesosctlError)
    assert int(error.exit_status) == 129
