"""Values of a declared message: mostly such as a client means to send, with something odd here and there."""

import base64
from typing import Any

from hypothesis import strategies as st

from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message
from tests.endurance.fuzz.json_texts import Pairs, odd_numbers, odd_texts, odd_values

ONE_IN = 90
"""How often a value is not what the message asks for."""
_ODD = ONE_IN // 2
"""The draw that says so: not at an end, which hypothesis likes better."""
MOST_OPTIONAL = 4
DEEPEST = 9

ROLES = ["web", "ads", "web/a", "*", "dev"]
# What stands in a field of this name, where a text belongs; "@" words become ids that the master knows.
TEXTS = {
    "role": ROLES,
    "roles": ROLES,
    "suppressed_roles": ROLES,
    "name": ["cpus", "mem", "disk", "ports", "gpus", "task"],
    "principal": ["operator", "framework"],
    "agent_id": ["@A1", "@A2", "@A1", "nobody"],
    "slave_id": ["@A1", "@A2"],
    "framework_id": ["@F1", "@F1", "@F2"],
    "offer_ids": ["@O1", "@O2", "@O1"],
    "inverse_offer_ids": ["@O1"],
    "executor_id": ["e1", "e2"],
    "task_id": ["t1", "t2"],
    "id": ["t1", "volume", "@F1"],
    "hostname": ["@H1", "@H2", "nowhere"],
    "ip": ["127.0.0.1", "10.0.0.1"],
    "container_path": ["data"],
    "regex": ["a.*", "(a|b)+", "[0-9]{2,9}"],
    "key": ["k"],
    "value": ["v"],
}
AMOUNTS = [1, 2.5, 4, 128, 0.1, 512, 31000, 31005, 10**9, 10**18]
_DYNAMIC = [{"type": "DYNAMIC", "role": "web", "principal": "operator"}]
_DISK = {"persistence": {"id": "volume"}, "volume": {"container_path": "data", "mode": "RW"}}
# What clients send again and again, and what fits together only by chance when it is made up.
USUAL: dict[str, list[dict[str, Any]]] = {
    "mesos.v1.Resource": [
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}},
        {"name": "mem", "type": "SCALAR", "scalar": {"value": 128}},
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": _DYNAMIC},
        {"name": "mem", "type": "SCALAR", "scalar": {"value": 64}, "reservations": _DYNAMIC},
        {"name": "disk", "type": "SCALAR", "scalar": {"value": 10}, "reservations": _DYNAMIC},
        {"name": "disk", "type": "SCALAR", "scalar": {"value": 10}, "reservations": _DYNAMIC, "disk": _DISK},
        {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31002}]}},
        {
            "name": "ports",
            "type": "RANGES",
            "ranges": {"range": [{"begin": 31000, "end": 31002}]},
            "reservations": _DYNAMIC,
        },
    ],
    "mesos.v1.MachineID": [{"hostname": "@H1", "ip": "127.0.0.1"}, {"hostname": "@H2", "ip": "127.0.0.1"}],
    "mesos.v1.FrameworkInfo": [
        {"user": "u", "name": "f", "roles": ["web"], "capabilities": [{"type": "MULTI_ROLE"}], "id": {"value": "@F1"}},
        {"user": "u", "name": "f", "roles": ["dev"], "capabilities": [{"type": "MULTI_ROLE"}]},
        {"user": "u", "name": "f", "role": "ads", "principal": "framework"},
    ],
}
LATER: list[Any] = ["OF_A_LATER_MESOS", 77, 999, 2**31 - 1]
"""Values that no enumeration has, by name and by number."""
UUID = base64.b64encode(bytes(range(16))).decode()


def json_of(message: Message, *, kind: str | None = None) -> st.SearchStrategy[Any]:
    """JSON that sets this message; `kind` is the call that its "type" should name, with that call's body."""
    return _message(message, 0, kind)


def part_of(message: Message, name: str) -> st.SearchStrategy[Any]:
    """JSON for one field of the message."""
    return _field(message.fields[name], name, 0)


def kinds_of(message: Message) -> list[str]:
    """The names that its type may have."""
    kind = message.fields["type"].type
    assert isinstance(kind, Enumeration)
    return sorted(kind.values)


@st.composite
def _message(draw: st.DrawFn, message: Message, depth: int, kind: str | None = None) -> Any:
    if draw(st.integers(1, ONE_IN)) == _ODD:
        return draw(odd_values)
    if message.name in USUAL and draw(st.booleans()):
        return draw(_varied(message.name, depth))
    chosen = (
        set(draw(st.lists(st.sampled_from(sorted(message.fields)), max_size=MOST_OPTIONAL)))
        if message.fields
        else set()
    )
    if depth > DEEPEST:
        chosen = set()
    chosen |= set(message.required)
    given = draw(st.sampled_from(kinds_of(message))) if kind == "" else kind
    if given is not None:
        chosen |= {"type", given.lower(), "framework_id" if given != "SUBSCRIBE" else "type"} & message.fields.keys()
    elif "type" in message.fields and isinstance(message.fields["type"].type, Enumeration):
        given = draw(st.sampled_from(kinds_of(message)))
        # Of a message that is one of several, the part that its type names.
        chosen |= {"type", given.lower()} & message.fields.keys()
    items: list[tuple[str, Any]] = []
    for name in sorted(chosen):
        if name == "type" and given is not None and draw(st.integers(1, ONE_IN)) != _ODD:
            items.append((name, given))
        else:
            items.append((name, draw(_field(message.fields[name], name, depth))))
    oddity = draw(st.integers(1, ONE_IN)) - _ODD
    if oddity == 1 and items:
        items.append(draw(st.sampled_from(items)))
    elif oddity == 2 and items:
        items.append((items[0][0], draw(odd_values)))
    elif oddity == 3 and items:
        items.pop(draw(st.integers(0, len(items) - 1)))
    elif oddity == 4:
        items.append((draw(odd_texts), draw(odd_values)))
    return Pairs(tuple(items))


@st.composite
def _varied(draw: st.DrawFn, name: str, depth: int) -> Any:
    """Something usual, one of its fields sometimes replaced."""
    usual = dict(draw(st.sampled_from(USUAL[name])))
    if draw(st.integers(0, 5)) == 2:
        usual[draw(st.sampled_from(sorted(usual)))] = draw(odd_values)
    return usual


def _field(field: Field, name: str, depth: int) -> st.SearchStrategy[Any]:
    one = _value(field, name, depth)
    if field.label == "map":
        keys = st.sampled_from(["cpus", "mem", "disk", "web"]) | odd_texts
        return st.lists(st.tuples(keys, one), max_size=2).map(lambda pairs: Pairs(tuple(pairs)))
    if field.label == "repeated":
        several = st.lists(one, min_size=1, max_size=3)
        return several | several | several | one
    return one


def _value(field: Field, name: str, depth: int) -> st.SearchStrategy[Any]:
    kind = field.type
    if isinstance(kind, Message):
        if set(kind.fields) == {"value"} and kind.fields["value"].type == "string":
            return _rarely(texts(name).map(lambda text: {"value": text}))
        return _message(kind, depth + 1)
    if isinstance(kind, Enumeration):
        return _rarely(st.sampled_from([*sorted(kind.values) * 3, *LATER]))
    if kind == "string":
        return _rarely(texts(name))
    if kind == "bool":
        return _rarely(st.booleans() | st.sampled_from(["true", "false"]))
    if kind == "bytes":
        return _rarely(st.sampled_from([UUID, "", "AAAA"]))
    if kind == "object":
        return odd_values | st.dictionaries(st.sampled_from(["value", "labels", "name"]), odd_values, max_size=2)
    return _rarely(st.sampled_from(AMOUNTS) | st.sampled_from(AMOUNTS).map(str) | odd_numbers)


def texts(name: str) -> st.SearchStrategy[str]:
    """Texts for a field of this name."""
    return _rarely(st.sampled_from(TEXTS.get(name, ["x"])), odd_texts)


@st.composite
def _rarely(draw: st.DrawFn, usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any] = odd_values) -> Any:
    return draw(odd if draw(st.integers(1, ONE_IN)) == _ODD else usual)
