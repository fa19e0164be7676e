"""No protobuf message makes the master create more values than a JSON body may hold, wherever they are."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.driver.messages import CALLS as OLDER
from fake_master.http import encodings
from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.protobuf.conversion import NotAMessage, parse, serialize
from fake_master.protobuf.limits import DEEPEST, MessageTooLarge
from fake_master.sources.cluster_file import ClusterSpec
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message
from tests.fake_master.protobuf.test_conversion import documents
from tests.helpers.profiles import examples

OPERATOR, SCHEDULER, DRIVER = "mesos.v1.master.Call", "mesos.v1.scheduler.Call", "mesos.scheduler.Call"
MESSAGES = (OPERATOR, SCHEDULER, DRIVER, *OLDER)
TYPE = "application/x-protobuf"
MOST = 300
VARINT, SIZED = 0, 2


def size(number: int) -> bytes:
    """A whole number as protobuf writes it."""
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + size(number >> 7)


def field(number: int, content: bytes) -> bytes:
    return size(number << 3 | SIZED) + size(len(content)) + content


def lists(message: Message, seen: tuple[str, ...] = ()) -> Iterator[tuple[tuple[Field, ...], str]]:
    """The way to each field of a message, however deep, of which there can be many; each kind of message once."""
    for name, found in message.fields.items():
        if not found.number:
            continue
        if found.label in ("repeated", "map"):
            yield (found,), f"{message.name}.{name}"
        if isinstance(found.type, Message) and found.type.name not in seen:
            for way, where in lists(found.type, (*seen, message.name, found.type.name)):
                if found.label != "map":
                    yield (found, *way), where


def each_list() -> list[Any]:
    ways = {(name, where): way for name in MESSAGES for way, where in lists(mesos_message(name))}
    return [pytest.param(name, way, id=f"{name}-{where}") for (name, where), way in ways.items()]


def element(of: Field) -> bytes:
    """One of the values of a list."""
    if of.label == "map":
        return field(of.number, b"")
    if isinstance(of.type, Message) or of.type in ("string", "bytes"):
        return field(of.number, b"")
    if of.type in ("double", "float"):
        wide = of.type == "double"
        return size(of.number << 3 | (1 if wide else 5)) + bytes(8 if wide else 4)
    return size(of.number << 3 | VARINT) + b"\1"


@pytest.mark.parametrize(("name", "way"), each_list())
def test_the_values_of_every_list_count(name: str, way: tuple[Field, ...]) -> None:
    *outer, last = way
    bodies = [element(last) * (MOST + 1)]
    if last.label == "repeated" and (isinstance(last.type, Enumeration) or last.type in ("int32", "int64", "uint32")):
        bodies.append(field(last.number, b"\1" * (MOST + 1)))  # packed
    for body in bodies:
        whole = body
        for around in reversed(outer):
            whole = field(around.number, whole)
        with pytest.raises(MessageTooLarge, match=f"more than {MOST} values"):
            parse(name, whole, most_values=MOST)


def values(part: Any) -> int:
    """The count of a value in JSON: the members of each object and list, and one for an empty one."""
    if isinstance(part, dict | list):
        members = part.values() if isinstance(part, dict) else part
        return max(1, len(members)) + sum(map(values, members))
    return 0


def lists_in(part: Any) -> int:
    if isinstance(part, dict | list):
        members = part.values() if isinstance(part, dict) else part
        return isinstance(part, list) + sum(map(lists_in, members))
    return 0


@pytest.mark.parametrize("name", MESSAGES)
def test_about_as_many_values_are_counted_as_in_json(name: str) -> None:
    """The name of a list is no value of its own here, and an entry of a map is up to three more."""

    @settings(max_examples=examples(100))
    @given(documents(mesos_message(name)))
    def check(document: dict[str, Any]) -> None:
        body = serialize(name, document)
        least = values(document) - lists_in(document)
        assert parse(name, body, most_values=4 * least + 10) == document
        if least > 1:
            with pytest.raises(MessageTooLarge):
                parse(name, body, most_values=least - 1)

    check()


@given(st.binary(max_size=80))
def test_any_bytes_are_judged_as_without_a_limit(body: bytes) -> None:
    def judged(most_values: int | None) -> Any:
        try:
            return parse(SCHEDULER, body, most_values=most_values)
        except NotAMessage:
            return None

    assert judged(None) == judged(1000)


@pytest.mark.parametrize("damage", [b"\x80", b"\x1b\x0a\x7f", b"\x0a\x7f", b"\x00", b"\xff" * 20])
def test_values_are_counted_beside_bytes_that_are_in_no_order(damage: bytes) -> None:
    """A group that nobody knows may hold anything, which the protobuf package passes over."""
    unknown = size(99 << 3 | 3) + field(2, damage) + size(99 << 3 | 4)
    with pytest.raises(MessageTooLarge):
        parse("mesos.v1.ContainerID", unknown + field(2, b"") * (MOST + 1), most_values=MOST)


def nested(levels: int) -> bytes:
    body = field(1, b"x")
    for _ in range(levels):
        body = field(2, body) + field(1, b"x")
    return body


@pytest.mark.parametrize("levels", range(DEEPEST - 5, DEEPEST + 5))
def test_as_many_messages_may_be_nested_as_the_package_reads(levels: int) -> None:
    body = nested(levels)
    try:
        document = parse("mesos.v1.ContainerID", body)
    except NotAMessage:
        with pytest.raises(MessageTooLarge, match="nested too deeply"):
            parse("mesos.v1.ContainerID", body, most_values=100_000)
    else:
        assert parse("mesos.v1.ContainerID", body, most_values=100_000) == document


WEIGHTS = {"weight_infos": [{"role": "r", "weight": 2.0}]}
INFO = {"framework_info": {"user": "u", "name": "n"}}
CALLS = {
    "/api/v1": (OPERATOR, {"type": "UPDATE_WEIGHTS", "update_weights": WEIGHTS}),
    "/api/v1/scheduler": (SCHEDULER, {"type": "SUBSCRIBE", "subscribe": INFO}),
}


@pytest.mark.parametrize("path", CALLS)
def test_a_call_with_too_many_values_is_refused_as_in_json(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, call = CALLS[path]
    application = Application(ClusterSpec().start())

    def answer(body: bytes, media: str) -> tuple[int, bytes]:
        headers = {"content-type": media, "accept": "application/json"}
        response = application.handle(Request("POST", path, headers, body))
        return response.status, response.body

    assert answer(serialize(name, call), TYPE)[0] == 200
    monkeypatch.setattr(encodings, "MOST_VALUES", 3)
    status, sentence = answer(serialize(name, call), TYPE)
    assert (status, sentence) == (400, b"Failed to parse body into Call protobuf: The message holds more than 3 values")


def test_the_limit_of_both_encodings_is_one() -> None:
    application = Application(ClusterSpec().start())
    infos = [{"role": "r", "weight": 2.0}] * 170_000
    call = {"type": "UPDATE_WEIGHTS", "update_weights": {"weight_infos": infos}}
    for media, body in ((TYPE, serialize(OPERATOR, call)), ("application/json", json.dumps(call).encode())):
        answer = application.handle(Request("POST", "/api/v1", {"content-type": media}, body))
        assert answer.status == 400
        assert b"holds more than 500000 values" in answer.body
    assert not application.master.state.weights
