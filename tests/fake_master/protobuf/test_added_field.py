"""The tables are the one description: what is added to one of them is read, checked, listed and fuzzed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, find, settings
from hypothesis import strategies as st

from fake_master.http.application import Application
from fake_master.http.operator_api import CALL
from fake_master.http.request_response import Request, Response
from fake_master.http.routes import Endpoints, page
from fake_master.protobuf import conversion, descriptors
from fake_master.sources.cluster_file import BUILT_IN
from mesosctl.mesos.messages.protobuf_json import message_tables
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from tests.endurance.fuzz.json_texts import Pairs
from tests.endurance.fuzz.messages import json_of

INFO = "mesos.v1.FrameworkInfo"
KINDS = "Call.Type"
JSON = {"content-type": "application/json", "accept": "application/json"}


def forget() -> None:
    """Everything that was made from the tables is made again when it is next needed."""
    for known in (INFO, "mesos.v1.master.Call"):
        for made in ("fields", "required"):
            mesos_message(known).__dict__.pop(made, None)
    for cached in (descriptors.message_class, descriptors._pool, conversion._readers, conversion._writers):
        cached.cache_clear()


@pytest.fixture
def added() -> Iterator[None]:
    """Tables with a field, and with a call, that no Mesos has."""
    fields = message_tables._package("mesos.v1").messages["FrameworkInfo"]
    calls = message_tables._package("mesos.v1.master").enumerations[KINDS]
    fields["motto"], calls["GET_MOTTO"] = "99 optional uint32", 99
    forget()
    yield
    del fields["motto"], calls["GET_MOTTO"]
    forget()


def _subscribe(master: Application, motto: Any) -> Response:
    info = {"user": "u", "name": "n", "roles": ["web"], "capabilities": [{"type": "MULTI_ROLE"}], "motto": motto}
    call = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
    return master.handle(Request("POST", "/api/v1/scheduler", JSON, json.dumps(call).encode()))


@pytest.mark.usefixtures("added")
def test_an_added_field_is_read_and_checked() -> None:
    master = Application(BUILT_IN.start())
    assert _subscribe(master, "twice").status == 400
    assert _subscribe(master, "2").status == 200
    answer = master.handle(Request("POST", "/api/v1", JSON, b'{"type": "GET_FRAMEWORKS"}'))
    (framework,) = json.loads(answer.body)["get_frameworks"]["frameworks"]
    assert framework["framework_info"]["motto"] == 2


@pytest.mark.usefixtures("added")
def test_an_added_field_is_carried_by_protobuf() -> None:
    info = {"user": "u", "name": "n", "motto": 2}
    assert conversion.parse(INFO, conversion.serialize(INFO, info)) == info


@pytest.mark.usefixtures("added")
def test_an_added_call_is_known_and_listed_as_not_served() -> None:
    master = BUILT_IN.start()
    answer = Application(master).handle(Request("POST", "/api/v1", JSON, b'{"type": "GET_MOTTO"}'))
    assert answer.status == 501
    assert "with 501: `GET_MOTTO`" in page(Endpoints(master))


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    ("texts", "name"),
    [(json_of(mesos_message(INFO)), "motto"), (json_of(CALL, kind=""), "GET_MOTTO")],
)
def test_what_is_added_is_fuzzed(texts: st.SearchStrategy[Any], name: str) -> None:
    generating = settings(phases=[Phase.generate], max_examples=2000)
    find(texts, lambda found: isinstance(found, Pairs) and name in repr(found), settings=generating)


def test_without_it_the_field_is_unknown() -> None:
    master = Application(BUILT_IN.start())
    assert _subscribe(master, "twice").status == 200
