"""The tables of messages beside the descriptors in a real Mesos: the same names, numbers, labels and types."""

from collections.abc import Iterator

import pytest

from fake_master.protobuf.descriptors import message_class
from mesosctl.mesos.messages.protobuf_json import message_tables, releases
from mesosctl.mesos.messages.protobuf_json.message_tables import (
    MESOS_PACKAGES,
    Message,
    mesos_enumerations,
    mesos_message,
    mesos_messages,
)
from mesosctl.mesos.messages.protobuf_json.releases import ABSENT, MESSAGE, at, members_at, spans
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.conformance.conftest import pool
from tests.conformance.masters.carriers import REAL, Pool, real_of
from tests.conformance.scenarios.setups import NO_AGENTS
from tests.fake_master.protobuf import library
from tests.fake_master.protobuf.library import Library
from tests.fake_master.protobuf.releases import described
from tests.helpers.needs import needs

__all__ = ["pool"]

MESSAGES = {message.name: message for package in MESOS_PACKAGES for message in mesos_messages(package)}
OF_V0 = ("mesos.internal.", "mesos.scheduler.")
"""Packages of the driver, whose messages refer to v0 ones; here they refer to v1 ones."""
WRITTEN_ALL_THE_SAME = {("mesos.v1.AgentInfo", "checkpoint"): ("mesos.SlaveInfo", "7 optional bool = false")}
"""What a v1 message does not name, and a master writes: the field that the v0 message has."""
OF_PROTOBUF = {"google.protobuf.Duration"}
"""Messages that Mesos does not describe; a release before 1.9 does not use this one."""
TYPE = "mesos.v1.master.Call.Type"


class Real:
    """The messages of a release by their full names, and what the tables say of them."""

    def __init__(self, release: str, of: Library) -> None:
        self.release = release
        self.library = of
        self.messages = {
            message.name: message for package in MESOS_PACKAGES for message in mesos_messages(package, release)
        }

    def fields(self, name: str) -> dict[str, str]:
        """As a table writes them, with full names."""
        if not name.startswith(OF_V0):
            return self.library.fields(name)
        return {field.replace("slave", "agent"): self._in_v1(text) for field, text in self.library.fields(name).items()}

    def _in_v1(self, text: str) -> str:
        definition, is_default, default = text.partition(" = ")
        number, label, kind = definition.split()
        return f"{number} {label} {self.in_v1(kind)}{is_default}{default}"

    def in_v1(self, name: str) -> str:
        """The v1 name of a v0 message, where it has one."""
        v1 = name.replace("mesos.", "mesos.v1.", 1).replace("Slave", "Agent")
        own = name in self.messages
        return v1 if not own and (v1 in self.library.messages or v1 in self.library.enumerations) else name


@pytest.fixture(scope="module", params=RELEASES)
@needs(*REAL.needs)
def real(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Real]:
    master = pool.start(real_of(request.param), NO_AGENTS)
    assert master.pid is not None
    yield Real(request.param, Library.of_file(library.of_process(master.pid)))
    master.stop()


def _as_written(message: Message) -> dict[str, str]:
    return {
        name: f"{field.number} {field.label} {field.type if isinstance(field.type, str) else field.type.name}"
        + (f" = {field.default}" if field.default else "")
        for name, field in message.fields.items()
        if field.number and (message.name, name) not in WRITTEN_ALL_THE_SAME
    }


def test_messages_are_those_of_the_library(real: Real) -> None:
    found = {name: _as_written(message) for name, message in real.messages.items() if name not in OF_PROTOBUF}
    assert found == {name: real.fields(name) for name in found}
    for (_, field), (v0, text) in WRITTEN_ALL_THE_SAME.items():
        assert real.fields(v0)[field] == text


def test_messages_that_the_library_lacks_are_absent(real: Real) -> None:
    assert set(MESSAGES) - set(real.library.messages) - OF_PROTOBUF == set(MESSAGES) - set(real.messages)


def test_enumerations_are_those_of_the_library(real: Real) -> None:
    found = {
        enumeration.name: enumeration.values
        for package in MESOS_PACKAGES
        for enumeration in mesos_enumerations(package, real.release)
    }
    assert found == {name: real.library.enumerations.get(name, {}) for name in found}


def test_the_table_of_releases_is_that_of_the_library(real: Real) -> None:
    """Whatever it says of this release, also of messages that the other tables do not have."""
    has = described(real.library)
    for owner, members in members_at(real.release).items():
        for member, text in members.items():
            found = {has.get(f"{owner}{mark}{member}") for mark in ".="}
            assert found - {None} == {text} - {None}, (owner, member)


def test_messages_of_a_driver_are_those_of_v1_on_the_wire(real: Real) -> None:
    """Else the driver's tables could not refer to the v1 messages."""
    v1 = [name for name in real.messages if name.startswith("mesos.v1.")]
    looked_at = 0
    for name in v1:
        v0 = name.replace("mesos.v1.", "mesos.", 1).replace("Agent", "Slave")
        if v0 in real.library.messages and name not in UNLIKE_V0:
            assert _on_the_wire(real, v0) == _on_the_wire(real, name), name
            looked_at += 1
    assert looked_at > 100


UNLIKE_V0 = {
    "mesos.v1.scheduler.Call",  # the driver's tables have it
    "mesos.v1.scheduler.Call.Subscribe",  # with `force`
    "mesos.v1.AgentInfo",  # `checkpoint`: see above
    "mesos.v1.master.Call.DrainAgent",  # an operator's
}


def _on_the_wire(real: Real, name: str) -> dict[int, tuple[int, int, str]]:
    return {
        field.number: (field.label, field.type, real.in_v1(field.type_name[1:]) if field.type_name else "")
        for field in real.library.messages[name].field
    }


@pytest.mark.parametrize("release", [None, *RELEASES])
def test_every_message_can_be_made(release: str | None) -> None:
    for message in (one for package in MESOS_PACKAGES for one in mesos_messages(package, release)):
        made = message_class(message.name, message.release)()
        made.ParseFromString(b"")
        assert made.SerializePartialToString() == b""


def test_what_is_asked_of_an_unknown_release_is_an_error() -> None:
    with pytest.raises(KeyError):
        members_at("1.4.2")


def test_the_tables_without_a_release_are_those_of_the_newest() -> None:
    """No name of the table of releases is missing there, and none has ended."""
    newest = members_at(RELEASES[-1])
    for name, message in MESSAGES.items():
        if name.startswith(OF_V0):
            continue
        has = {field: text for field, text in newest.get(name, {}).items() if text != MESSAGE}
        assert {field for field, text in has.items() if text is not None} <= message.fields.keys()
        assert not {field for field, text in has.items() if text is None} & message.fields.keys()


def test_the_newest_release_does_without_the_table_of_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs a command a few milliseconds to read."""
    monkeypatch.setattr(releases, "members_at", None)
    monkeypatch.setattr(message_tables, "members_at", None)
    newest = {name: _as_written(mesos_message(name, RELEASES[-1])) for name in MESSAGES}
    assert newest == {name: _as_written(message) for name, message in MESSAGES.items()}


def test_a_value_of_an_enumeration_is_there_from_its_release_on() -> None:
    assert {release: members_at(release)[TYPE]["UPDATE_QUOTA"] for release in ("1.7.3", "1.8.1", "1.11.0")} == {
        "1.7.3": None,
        "1.8.1": "36",
        "1.11.0": "36",
    }


def test_spans_are_read_as_they_are_written() -> None:
    was = (None, "1 optional bool", "1 optional bool", "2 optional bool", None, None, None, "3 optional bool")
    text = spans(was)
    assert text == f"1.5.3: 1 optional bool; 1.7.3: 2 optional bool; 1.8.1: {ABSENT}; 1.11.0: 3 optional bool"
    assert tuple(at(text, release) for release in RELEASES) == was
