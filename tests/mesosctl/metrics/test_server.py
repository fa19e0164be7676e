"""The server of `metrics --listen`: silence keeps nobody waiting, and those who ask at once share a reading."""

import itertools
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest

from mesosctl.mesos.errors import BadInput
from mesosctl.metrics import report as shown
from mesosctl.metrics import server as metrics_server
from mesosctl.metrics.server import AgingReading, MetricsServer, SharedReading
from tests.helpers.waiting import PATIENCE, wait_until


@contextmanager
def serving(app):
    """A server in a thread, on a port of the loopback interface."""
    server = MetricsServer(("127.0.0.1", 0), app)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


def at_once(environ, start_response):
    """Answers with the query of the request."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["QUERY_STRING"].encode()]


def scrape(server, query=""):
    address = f"http://127.0.0.1:{server.server_port}/metrics?{query}"
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return answer.read().decode()


def connected(server, content=b""):
    found = socket.create_connection(("127.0.0.1", server.server_port), PATIENCE)
    found.sendall(content)
    return found


def is_over(connection):
    """Whether the other side has ended a connection; it waits for that."""
    connection.settimeout(PATIENCE)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def of_server(before):
    return threading.active_count() - before - 1


# --- A bound, and a time ---------------------------------------------------------------------------


@pytest.mark.socket
@pytest.mark.parametrize("content", [b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: x\r\n"])
def test_connections_that_say_no_head_have_a_bound_and_others_are_answered(monkeypatch, content):
    """The one that has waited longest goes for a new one, so that the new one is answered at once."""
    monkeypatch.setattr(metrics_server, "MOST_CONNECTIONS", 5)
    monkeypatch.setattr(metrics_server, "_PATIENCE", 0.02)
    before = threading.active_count()
    with serving(at_once) as server, ExitStack() as stack:
        silent = [stack.enter_context(connected(server, content)) for _ in range(40)]
        assert scrape(server, "here") == "here"
        assert all(map(is_over, silent[:35]))
        wait_until(lambda: of_server(before) <= 5, lambda: f"{of_server(before)} threads")
        assert [scrape(server, str(number)) for number in range(3)] == ["0", "1", "2"]


@pytest.mark.socket
@pytest.mark.parametrize("drips", [False, True])
def test_a_head_has_a_time_however_slowly_it_comes(monkeypatch, drips):
    monkeypatch.setattr(metrics_server, "SECONDS", 0.3)
    with serving(at_once) as server, connected(server, b"GET /metrics HTTP/1.1\r\n") as slow:
        ended = threading.Event()

        def send():
            while drips and not ended.wait(0.02):
                try:
                    slow.sendall(b"a")
                except OSError:
                    return

        sender = threading.Thread(target=send)
        sender.start()
        assert is_over(slow)
        ended.set()
        sender.join()
        assert scrape(server, "here") == "here"


@pytest.mark.socket
@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * (metrics_server.LARGEST_HEAD + 1),
        b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 4000,
        b"GET /metrics HTTP/1.1\r\na: " + b"b" * (metrics_server.LARGEST_HEAD + 1),
    ],
)
def test_a_head_that_is_too_long_is_refused(head):
    with serving(at_once) as server:
        with connected(server) as one:
            try:
                one.sendall(head)
                answer = one.recv(100)
            except ConnectionError:  # it has refused, and reads no further
                answer = b" 431 "
        assert b" 431 " in answer
        assert scrape(server, "here") == "here"


@pytest.mark.socket
def test_an_answer_that_nobody_takes_is_given_up(monkeypatch):
    monkeypatch.setattr(metrics_server._Handler, "timeout", 0.3)
    before = threading.active_count()

    def large(_, start_response):
        start_response("200 OK", [])
        return [b"x" * (64 << 20)]

    with serving(large) as server, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connected(server, b"GET /metrics HTTP/1.1\r\n\r\n"))
        wait_until(lambda: of_server(before) == 3)
        wait_until(lambda: of_server(before) == 0, lambda: f"{of_server(before)} threads")


@pytest.mark.socket
def test_all_who_ask_are_answered_be_they_more_than_the_bound(monkeypatch):
    """Those with a head are not sent away: the next is accepted when one of them has its answer."""
    monkeypatch.setattr(metrics_server, "MOST_CONNECTIONS", 4)
    monkeypatch.setattr(metrics_server, "_PATIENCE", PATIENCE)
    let_go, inside = threading.Semaphore(0), []

    def waiting(environ, start_response):
        inside.append(1)
        most.append(len(inside))
        let_go.acquire(timeout=PATIENCE)
        inside.pop()
        return at_once(environ, start_response)

    most: list[int] = []
    with serving(waiting) as server, ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(scrape, server, str(number)) for number in range(20)]
        wait_until(lambda: len(inside) == 4)
        let_go.release(20)
        assert [one.result(PATIENCE) for one in asked] == [str(number) for number in range(20)]
    assert max(most) == 4


@pytest.mark.socket
def test_a_client_that_goes_away_and_a_fault_of_the_application_leave_the_server_up(capfd):
    def faulty(environ, start_response):
        if environ["QUERY_STRING"] == "fault":
            raise ConnectionResetError
        return at_once(environ, start_response)

    with serving(faulty) as server:
        for _ in range(5):
            connected(server, b"GET /metrics HTTP/1.1\r\n\r\n").close()
        with pytest.raises((urllib.error.HTTPError, ConnectionError)):
            scrape(server, "fault")
        assert scrape(server, "here") == "here"
    assert capfd.readouterr().err == ""


# --- One reading -----------------------------------------------------------------------------------


def test_who_asks_while_a_reading_is_under_way_shares_it_and_who_asks_later_gets_a_new_one():
    begun, let_go = threading.Event(), threading.Event()
    readings: list[int] = []

    def read():
        readings.append(len(readings) + 1)
        begun.set()
        assert let_go.wait(PATIENCE)
        return readings[-1]

    shared = SharedReading(read)
    with ThreadPoolExecutor(60) as pool:
        first = pool.submit(shared)
        assert begun.wait(PATIENCE)
        others = [pool.submit(shared) for _ in range(59)]
        wait_until(lambda: sum(one.running() for one in others) == 59)
        let_go.set()
        assert {one.result(PATIENCE) for one in (first, *others)} == {1}
        assert shared() == 2


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=12), st.sets(st.integers(1, 12)))
def test_who_asks_after_somebody_has_an_answer_gets_a_later_reading_or_its_error(pauses, failing):
    """Whoever asks, and whichever reading fails: nobody gets a reading that somebody had before the question."""
    ticks, count = itertools.count(), itertools.count(1)

    def read():
        number = next(count)
        for _ in range(500):
            pass
        if number in failing:
            raise ValueError(number)
        return number

    shared = SharedReading(read)

    def ask(pause):
        for _ in range(pause):
            pass
        asked = next(ticks)
        try:
            number = shared()
        except ValueError as error:
            number = error.args[0]
        return asked, number, next(ticks)

    with ThreadPoolExecutor(len(pauses)) as pool:
        answers = list(pool.map(ask, pauses))
    for (_, earlier, answered), (asked, later, _) in itertools.permutations(answers, 2):
        assert asked < answered or earlier < later
    assert {number for _, number, _ in answers} == set(range(1, next(count)))


def test_scrapes_that_share_a_reading_show_the_same_names():
    """What is shown escapes names, and what is shared stays as it was read."""
    gauge = GaugeMetricFamily("mesosctl_x", "X.", labels=["role"])
    gauge.add_metric(["a\x1bb"], 1)
    registry = shown.registry(lambda: iter([gauge]))
    texts = [generate_latest(registry) for _ in range(3)]
    assert rb'role="a\\x1bb"' in texts[0]
    assert texts == [texts[0]] * 3


# --- A reading that takes long ---------------------------------------------------------------------


class Slow:
    """Readings that are counted, take a while on the clock, and end when they may; the third one fails."""

    def __init__(self, takes=0.0):
        self.now, self.takes, self.count = 1000.0, takes, 0
        self.may_end, self.failures = threading.Event(), []
        self.may_end.set()

    def clock(self):
        return self.now

    def read(self):
        self.count += 1
        assert self.may_end.wait(PATIENCE)
        self.now += self.takes
        if self.count == 3:
            raise BadInput("it is gone")
        return self.count

    def reading(self):
        return AgingReading(self.read, self.failures.append, self.clock)


def test_who_asks_for_an_old_reading_gets_it_and_another_is_made_meanwhile():
    slow = Slow()
    reading = slow.reading()
    slow.may_end.clear()
    slow.now += 59
    assert (reading(), slow.count) == (1, 1)
    slow.now += 1
    assert reading() == 1
    wait_until(lambda: slow.count == 2)
    assert (reading(), slow.count) == (1, 2)  # nobody waits for it, and nobody makes a third one beside it
    slow.may_end.set()
    wait_until(lambda: reading() == 2)
    assert slow.count == 2


def test_a_reading_that_takes_long_is_old_after_ten_times_as_long():
    slow = Slow(takes=30)
    reading = slow.reading()
    slow.now += 299
    assert (reading(), slow.count) == (1, 1)
    slow.now += 1
    wait_until(lambda: reading() == 2)


def test_a_reading_that_cannot_be_made_again_stays_and_is_tried_again():
    slow = Slow()
    reading = slow.reading()
    for wanted in (2, 2, 4):
        slow.now += 60
        tried = slow.count + 1
        reading()
        wait_until(lambda: slow.count == tried and reading() == wanted)  # noqa: B023  # called before the next
    assert [error.message for error in slow.failures] == ["it is gone"]


def test_a_first_reading_that_fails_is_told_at_once():
    slow = Slow()
    slow.count = 2
    with pytest.raises(BadInput, match="it is gone"):
        slow.reading()
