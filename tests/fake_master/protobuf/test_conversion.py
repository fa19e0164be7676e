"""Documents and bytes: what one holds the other has, and nothing breaks either."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.http import encodings as content
from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.protobuf.conversion import NotAMessage, parse, serialize
from fake_master.sources.cluster_file import ClusterSpec
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.helpers.profiles import examples

CALL = "mesos.v1.scheduler.Call"
TYPE = "application/x-protobuf"
DEEPEST = 4
WHOLE = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "uint32": (0, 2**32 - 1)}


def _values(field: Field, depth: int) -> st.SearchStrategy[Any]:
    kind = field.type
    if isinstance(kind, Message):
        return documents(kind, depth - 1)
    if isinstance(kind, Enumeration):
        return st.sampled_from(list(kind.values))
    if kind == "string":
        return st.text(max_size=5) | st.just("\udcff")
    if kind == "bytes":
        return st.sampled_from(["", "AA==", "Zm9v"])
    if kind == "bool":
        return st.booleans()
    if kind in ("double", "float"):
        return st.floats(allow_nan=False)
    return st.integers(*WHOLE.get(kind, (0, 2**64 - 1)))


def _later(field: Field, depth: int) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: _values(field, depth))


def documents(message: Message, depth: int = DEEPEST) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of a message, with every field that it requires and some others."""
    required, optional = {}, {}
    unions = set()
    for name, field in message.fields.items():
        if not field.number:
            continue
        if field.label == "required":
            required[name] = _later(field, depth)
        elif depth > 0 and field.label not in unions:
            if field.label.startswith("oneof"):
                unions.add(field.label)
            one = _later(field, depth)
            many = st.lists(one, min_size=1, max_size=2)
            keyed = st.dictionaries(st.text(max_size=3), one, min_size=1, max_size=2)
            optional[name] = {"repeated": many, "map": keyed}.get(field.label, one)
    return st.fixed_dictionaries(required, optional=optional)


@pytest.mark.parametrize("release", [None, *RELEASES])
@pytest.mark.parametrize("name", ["mesos.v1.scheduler.Call", "mesos.v1.master.Call", "mesos.internal.StatusUpdate"])
def test_a_document_comes_back_from_its_bytes(name: str, release: str | None) -> None:
    @settings(max_examples=examples(20))
    @given(documents(mesos_message(name, release)))
    def check(document: dict[str, Any]) -> None:
        assert parse(name, serialize(name, document, release), release=release) == document
        assert read(mesos_message(name, release), document) == document

    check()


@pytest.mark.parametrize(("release", "number"), [("1.5.3", 1), ("1.6.2", 2), ("1.11.0", 2), (None, 2)])
def test_a_field_has_the_number_of_its_release(release: str | None, number: int) -> None:
    name = "mesos.v1.scheduler.Response"
    answer: dict[str, Any] = {"reconcile_operations": {}}
    assert serialize(name, answer, release) == bytes([number << 3 | 2, 0])
    assert parse(name, bytes([number << 3 | 2, 0]), release=release) == answer


def test_a_field_of_a_later_release_is_left_out_and_passed_on() -> None:
    name = "mesos.v1.FrameworkInfo"
    info = {"user": "u", "name": "n", "offer_filters": {"r": {}}}
    assert serialize(name, info, "1.7.3") == serialize(name, {"user": "u", "name": "n"})
    kept = parse(name, serialize(name, info), release="1.7.3")
    assert kept == {"user": "u", "name": "n"}
    assert parse(name, serialize(name, kept, "1.7.3")) == info


@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_no_message(body: bytes) -> None:
    try:
        document = parse(CALL, body)
    except NotAMessage:
        return
    assert parse(CALL, serialize(CALL, document)) == document


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*mesos_message("mesos.v1.TaskInfo").fields, "strange"]), JSON))
def test_what_a_field_cannot_hold_is_left_out(document: dict[str, Any]) -> None:
    """Parts of a task are kept as a framework sent them, and nobody has looked at all of them."""
    serialize("mesos.v1.TaskInfo", document)


def test_text_that_is_no_utf_8_goes_out_as_it_came() -> None:
    body = b"\x0a\x03\x0a\x01\xff"
    assert parse(CALL, body) == {"framework_id": {"value": "\udcff"}}
    assert serialize(CALL, parse(CALL, body)) == body


def test_of_a_union_the_last_counts() -> None:
    selector = "mesos.v1.scheduler.AttributeConstraint.Selector"
    assert parse(selector, b"\x08\x01\x12\x01x") == {"attribute_name": "x"}
    assert parse(selector, b"\x12\x01x\x08\x01") == {"pseudoattribute_type": "HOSTNAME"}


def test_a_message_in_parts_is_put_together() -> None:
    """A field that stands twice is one message, with what both parts say."""
    assert parse(CALL, b"\x1a\x05\x0a\x03\x0a\x01u\x1a\x05\x0a\x03\x12\x01n\x10\x01") == {
        "type": "SUBSCRIBE",
        "subscribe": {"framework_info": {"user": "u", "name": "n"}},
    }


def test_messages_nested_too_deeply_are_none() -> None:
    body = b""
    for _ in range(200):
        body = b"\x12" + _size(len(body)) + body
    with pytest.raises(NotAMessage):
        parse("mesos.v1.ContainerID", body)


def _size(number: int) -> bytes:
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80, number >> 7])


def test_without_the_package_protobuf_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "has_protobuf", lambda: False)
    application = Application(ClusterSpec().start())
    health, in_json = b"\x08\x01", b'{"type":"GET_HEALTH"}'
    answers = [
        application.handle(Request("POST", "/api/v1", headers, body))
        for headers, body in (
            ({"content-type": TYPE}, health),
            ({"content-type": TYPE}, in_json),
            ({"content-type": "application/json", "accept": TYPE}, in_json),
            ({"content-type": "application/json", "accept": f"{TYPE}, application/json"}, in_json),
        )
    ]
    assert [answer.status for answer in answers] == [415, 400, 406, 200]
    assert all(b"pip install '.[protobuf]'" in answers[place].body for place in (0, 2))


@pytest.mark.parametrize("value", ["\ud800", "é", "%", 1, None, 10**400])
def test_what_is_no_base64_no_text_and_no_number(value: Any) -> None:
    document = {"name": value, "data": value, "task_id": value, "health_check": {"delay_seconds": value}}
    serialize("mesos.v1.TaskInfo", document)


def test_infinite_numbers_are_numbers() -> None:
    info = {"weight": math.inf}
    assert parse("mesos.v1.WeightInfo", serialize("mesos.v1.WeightInfo", info)) == info
