"""`history record --queue`: a Marathon that is asked for its launch queue while a cluster is recorded."""

import json

import httpx
import pytest

from fake_master.sources.demand import Listed, WantedTask
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.__main__ import main
from mesosctl.client.http_client import HttpClient
from mesosctl.client.settings import ClientSettings
from mesosctl.history.asked_queue import AskedQueue, header_of, marathon, parse_queue
from mesosctl.history.records import to_seconds
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import MasterFailed, Unauthenticated, UnexpectedAnswer, UsageError
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.surroundings import InMemory
from tests.mesosctl.history.test_marathon_queue import item

BEGIN = 1000.0


class Marathon:
    """Answers /v2/queue, and leaves everything else to a master."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def __call__(self, request):
        self.asked.append(request)
        found = self.answers(request)
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)


def test_an_address_names_a_framework_and_never_a_secret():
    assert parse_queue("marathon=https://m:8443/") == ("marathon", "https://m:8443")
    for text in (
        "https://m:8080",
        "marathon=m:8080",
        "=https://m",
        "marathon=",
        "marathon=https://m/?x=1",
        "m=http://[",
    ):
        with pytest.raises(UsageError, match="the address of its Marathon"):
            parse_queue(text)
    with pytest.raises(UsageError) as raised:
        parse_queue("marathon=https://me:hidden@m:8443")
    assert "hidden" not in f"{raised.value}{raised.value.hint}"


@pytest.mark.parametrize(("secret", "header"), [("me:pass:word", "Basic bWU6cGFzczp3b3Jk"), ("abc", "Bearer abc")])
def test_credentials_are_a_principal_with_its_secret_or_a_token(secret, header):
    asked = Marathon(lambda _: {"queue": []})
    with_master = HttpClient(transport=httpx.MockTransport(asked))
    ask = marathon(parse_queue("marathon=http://m:8080/api"), with_master, ClientSettings(), header_of(secret))
    assert json.loads(ask()) == {"queue": []}
    (request,) = asked.asked
    assert (request.method, str(request.url)) == ("GET", "http://m:8080/api/v2/queue")
    assert request.headers["Authorization"] == header


@pytest.mark.parametrize(
    ("status", "error"), [(401, Unauthenticated), (403, Unauthenticated), (404, UnexpectedAnswer), (503, MasterFailed)]
)
def test_a_marathon_that_does_not_answer_is_told_once_until_it_does(status, error):
    answers = [httpx.Response(status), httpx.Response(status), httpx.Response(200, json={"queue": []})]
    client = HttpClient(transport=httpx.MockTransport(lambda _: answers[0]))
    ask = marathon(parse_queue("marathon=http://m"), client, ClientSettings(), None)
    with pytest.raises(error):
        ask()
    told: list[str] = []
    queue = AskedQueue("marathon", ask, 5.0, told.append)
    assert [queue.ask(), queue.ask()] == [None, None]
    assert len(told) == 1
    answers[0] = httpx.Response(200, json={"queue": []})
    assert queue.ask() is not None
    answers[0] = httpx.Response(status)
    assert queue.ask() is None
    assert len(told) == 2


def test_what_a_queue_says_is_joined_with_the_tasks_that_are_recorded(tmp_path, monkeypatch):
    """Of three tasks that fill the agent one after the other, two wait in the queue; a fourth still does at the end."""
    size = parse_resources("cpus:4;mem:64")
    wanted = Listed([WantedTask(at, size, 150.0, f"t{at:g}", "web") for at in (20.0, 40.0, 60.0, 80.0)])
    spec = SimulatedFrameworkSpec("marathon", ("web",), demand=wanted)
    lab = Lab("cpus:4;mem:64", frameworks=(spec,))
    simulated = lab.master

    def queue_of(_request):
        now = simulated.state.now - BEGIN
        running = {
            task.id for framework in simulated.state.frameworks.values() for task in framework.all_tasks().values()
        }
        done = {task.id for framework in simulated.state.frameworks.values() for task in framework.completed_tasks}
        waiting = [at for at in (20, 40, 60, 80) if at <= now and f"t{at}" not in running | done]
        if not waiting:
            return {"queue": []}
        shown = item("/shop", len(waiting), 0, cpus=4, mem=64)
        shown["since"] = f"1970-01-01T00:{(BEGIN + 40) // 60:02.0f}:{(BEGIN + 40) % 60:02.0f}Z"
        return {"queue": [shown]}

    made = HttpClient(transport=httpx.MockTransport(Marathon(queue_of)))
    monkeypatch.setattr("mesosctl.history.command.HttpClient", lambda **_: made)
    ran = CommandLine(lab).run(
        "history", "record", "--history", str(tmp_path / "h.sqlite"), "--duration", "5m", "--cluster-id", "lab",
        "--queue", "marathon=http://marathon:8080", "--every-queue", "1s",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    with open_recording(tmp_path / "h.sqlite") as recording:
        found = {
            task.id: (task.start is not None, None if task.asked is None else to_seconds(task.asked) - BEGIN)
            for task in recording.demand("lab")
        }
        (done,) = recording.imports()
    assert done.format == "marathon-queue"
    assert found["t20"] == (True, None)
    assert found["t40"] == (True, 40)
    later = sorted(asked or 0.0 for name, (_, asked) in found.items() if name not in ("t20", "t40"))
    assert later == [pytest.approx(60, abs=16), pytest.approx(80, abs=16)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--queue", "marathon=http://m"), "is virtual"),
        (("--queue-secret-file", "x"), "is for --queue"),
        (("--queue", "http://m"), "the address of its Marathon"),
    ],
)
def test_words_that_cannot_be_used(tmp_path, words, says):
    (tmp_path / "c.toml").write_text('[[agents]]\nresources = "cpus:1"\n', encoding="utf-8")
    variables = {"HOME": str(tmp_path), "MESOSCTL_MASTER": f"fake:{tmp_path / 'c.toml'}"}
    environment = InMemory(variables=variables)
    history = ("history", "record", "--history", str(tmp_path / "h.sqlite"), "--duration", "1m")
    assert main((*history, *words), environment) == 2
    assert says in environment.err
