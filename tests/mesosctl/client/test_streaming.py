"""Large answers, which are read piece by piece."""

import gzip
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.client.address import parse_address
from mesosctl.client.deadline import Deadline
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response import Trace
from mesosctl.client.response_body import HeldBody
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import DeadlinePassed, NotFound, UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json.decoding import decode
from mesosctl.mesos.messages.protobuf_json.json_parts import parts

JSON = {"Content-Type": "application/json"}


def ids(chunks):
    return [part.value["id"] for part in parts(chunks) if part.place is not None]


class Answering:
    """Makes a master that gives these answers in turn; `seen` are the requests."""

    def __init__(self) -> None:
        self.seen: list[httpx.Request] = []
        self.opened: list[LeadingMaster] = []

    def __call__(self, *answers: httpx.Response | Exception, **settings: Any) -> LeadingMaster:
        left = list(answers)

        def handle(request: httpx.Request) -> httpx.Response:
            self.seen.append(request)
            given = left.pop(0)
            if isinstance(given, Exception):
                raise given
            return given

        settings = {"sleep": lambda _: None} | settings
        self.opened.append(
            LeadingMaster(
                parse_address("http://one:5050"), ClientSettings(**settings), transport=httpx.MockTransport(handle)
            )
        )
        return self.opened[-1]


@pytest.fixture
def answering():
    made = Answering()
    yield made
    for master in made.opened:
        master.close()


def arriving(*pieces, then=None):
    def stream():
        yield from pieces
        if then is not None:
            raise then

    return httpx.Response(200, headers=JSON, content=stream())


def test_the_body_comes_in_pieces_and_none_is_as_large_as_it(answering):
    body = b'{"slaves": [' + b",".join(b'{"id": %d}' % number for number in range(500_000)) + b"]}"
    got = []

    def take(chunks):
        got.extend(chunks)
        return True

    assert answering(arriving(*(body[at : at + 5000] for at in range(0, len(body), 5000)))).stream("/slaves", take)
    assert b"".join(got) == body
    assert max(map(len, got)) < len(body) / 10


@given(st.lists(st.binary(max_size=300)))
def test_what_is_held_is_what_came(pieces):
    assert b"".join(HeldBody(iter(pieces), "").pieces(Deadline(10, lambda: 0.0))) == b"".join(pieces)


def test_a_master_does_not_wait_for_the_reader(answering):
    done = []

    def body():
        yield b'{"slaves": ['
        yield b"]}"
        done.append("came")

    def take(chunks):
        assert done == ["came"]
        return [b"".join(chunks)]

    assert answering(httpx.Response(200, headers=JSON, content=body())).stream("/slaves", take) == [b'{"slaves": []}']


def test_what_breaks_off_is_read_anew_from_its_start(answering):
    begun = [b'{"slaves": [{"id": 1}, ', b'{"id": 2}']
    master = answering(
        arriving(*begun, then=httpx.ReadError("cut")), httpx.Response(503), arriving(*begun, b', {"id": 3}]}')
    )
    assert master.stream("/slaves", ids) == [1, 2, 3]
    assert len(answering.seen) == 3


def test_a_call_is_streamed_like_a_path(answering):
    master = answering(arriving(b'{"get_state": [{"id": 7}]}'))
    assert master.stream_call("GET_STATE", ids) == [7]
    (request,) = answering.seen
    assert (request.url.path, decode(request.content)) == ("/api/v1", {"type": "GET_STATE"})


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (arriving(b'{"slaves": [{"id": 1}'), UnexpectedAnswer, "cut off or broken"),
        (arriving(b'{"slaves": [] x'), UnexpectedAnswer, "cut off or broken"),
        (httpx.Response(200, html="<html>"), UnexpectedAnswer, "HTML page"),
        (httpx.Response(200, text="hello"), UnexpectedAnswer, "'text/plain"),
        (httpx.Response(404, text="no such thing"), UnexpectedAnswer, "no such thing"),
    ],
)
def test_what_is_no_answer_is_told_as_without_streaming(answering, answer, error, said):
    with pytest.raises(error, match=said):
        answering(answer).stream("/slaves", ids)


def test_the_deadline_covers_the_reading(answering):
    now = [0.0]

    def dripping():
        while True:
            now[0] += 4
            yield b"["

    master = answering(httpx.Response(200, headers=JSON, content=dripping()), clock=lambda: now[0], timeout=10)
    with pytest.raises(DeadlinePassed):
        master.stream("/slaves", ids)


def test_the_error_of_a_reader_is_its_own_and_nothing_is_asked_again(answering):
    def refuse(_):
        raise NotFound("no agent")

    with pytest.raises(NotFound):
        answering(arriving(b"{}")).stream("/slaves", refuse)
    assert len(answering.seen) == 1


def test_whoever_traces_sees_the_whole_answer(answering):
    told: list[Trace] = []
    master = answering(arriving(b'{"slaves": [{"id": 1}', b"]}"), trace=told.append)
    assert master.stream("/slaves", ids) == [1]
    assert told[0].answer is not None
    assert told[0].answer.body == b'{"slaves": [{"id": 1}]}'


def test_progress_hears_of_the_bytes(answering):
    heard: list[tuple[int, float | None]] = []
    master = answering(arriving(b'{"slaves": [', b'{"id": 1}]}'))
    with master.hearing(lambda *news: heard.append(news)):
        master.stream("/slaves", ids)
    assert heard == [(12, None), (23, None)]


def test_progress_hears_of_the_part_where_the_length_is_told(answering):
    heard: list[float | None] = []
    answer = arriving(b'{"slaves": [', b'{"id": 1}]}')
    answer.headers["content-length"] = "24"
    master = answering(answer)
    with master.hearing(lambda _, part: heard.append(part)):
        master.stream("/slaves", ids)
    assert heard == [12 / 24, 23 / 24]


@pytest.mark.parametrize("cut", [0, 1, 9], ids="{} bytes short".format)
def test_a_compressed_body_is_used_only_if_it_is_whole(answering, cut):
    body = gzip.compress(b'{"slaves": [{"id": 1}]}')
    answer = httpx.Response(
        200, headers=JSON | {"Content-Encoding": "gzip"}, content=iter([body[:7], body[7 : len(body) - cut]])
    )
    if not cut:
        assert answering(answer).stream("/slaves", ids) == [1]
        return
    with pytest.raises(UnexpectedAnswer, match="broken content encoding"):
        answering(answer).stream("/slaves", ids)
    assert len(answering.seen) == 1
