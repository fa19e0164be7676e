"""Random payloads of operator calls: mostly valid ones, and the ways in which they go wrong.

Nothing here ends a real master (scenarios/lethal.py): amounts in v0 requests stay at a trillion or below, but for
those that no master takes, and no resource has the type TEXT.
"""

import json
import operator
from typing import Any

from hypothesis import strategies as st

from tests.conformance.scenarios.scenario import scalar

TRILLION = 10**12
EXABYTE = 1099511627776  # in megabytes, the unit of mem and disk

GOOD_ROLES = ("r1", "r2", "ads", "web")
ODD_ROLES = ("*", "a/b", "ads/x", "rôle", "", ".", "-r", "a b", " r1 ", "r1/", "/", "a//b", "r\v", "\N{GRINNING FACE}")
GOOD_NAMES = ("cpus", "mem", "disk")
ODD_NAMES = ("gpus", "ports", "", "x y", "é")

usual_roles = st.sampled_from(GOOD_ROLES)
odd_roles = st.one_of(usual_roles, st.sampled_from(ODD_ROLES))
roles = st.one_of(*[usual_roles] * 5, odd_roles)
usual_names = st.sampled_from(GOOD_NAMES)
odd_names = st.one_of(usual_names, st.sampled_from(ODD_NAMES))

usual_amounts = st.one_of(
    st.integers(min_value=0, max_value=20),
    st.sampled_from((8, 16, 24, 25, 2000)),  # around what the cluster of the histories has: 24 cpus, 1500 of disk
    st.integers(min_value=1, max_value=20_000).map(lambda milli: milli / 1000),
    st.integers(min_value=1, max_value=200_000).map(lambda tenths_of_milli: tenths_of_milli / 10_000),
)
odd_amounts: st.SearchStrategy[Any] = st.one_of(
    usual_amounts,
    usual_amounts.map(str),
    st.sampled_from((0, -1, -0.5, 0.001, 0.0005, 0.0004, 0.0001, 1e-9, 1.2345, 12.0005, 23.9999, TRILLION, 1e300)),
    st.sampled_from((24, 25, 6144, 8192, 12288, 12289)),
    st.sampled_from((" 1", "x", "", "1e1", "NaN", True, None, [], {})),
)
odd_v1_amounts = st.one_of(
    odd_amounts, st.sampled_from((TRILLION + 1, EXABYTE, EXABYTE + 1, 2e12, 1e15, 1e-310, -1e-310, -1e300))
)
usual_weights = st.one_of(st.integers(min_value=1, max_value=9), st.sampled_from((0.5, 2.25, 0.0001, "2.5")))
odd_weights = st.one_of(usual_weights, st.sampled_from((0, -1, -0.0, 1e-9, 1e12, 1e300, " 3", "3 ", "x", None, True)))
usual_forces = st.booleans()
odd_forces: st.SearchStrategy[Any] = st.sampled_from((False, True, "true", "false", "yes", "", 1, None, []))

odd_resources = st.sampled_from(
    (
        {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31005}]}},
        {"name": "zones", "type": "SET", "set": {"item": ["a", "b"]}},
        {"name": "cpus", "type": "SCALAR"},
        {"name": "cpus", "type": "SCALAR", "scalar": {}},
        {"name": "cpus", "scalar": {"value": 1}},
        {"name": "cpus", "type": "BOGUS", "scalar": {"value": 1}},
        {"type": "SCALAR", "scalar": {"value": 1}},
        scalar("cpus", 1, role="*"),
        scalar("cpus", 1, role="r1"),
        scalar("cpus", 1, role="r1", reservation={"principal": "p"}),
        scalar("cpus", 1, reservation={}),
        scalar("cpus", 1, reservations=[]),
        scalar("cpus", 1, reservations=[{"type": "DYNAMIC", "role": "r1", "principal": "p"}]),
        scalar("cpus", 1, reservations=[{"role": "r1"}]),
        scalar("cpus", 1, revocable={}),
        scalar("cpus", 1, shared={}),
        scalar("cpus", 1, disk={}),
        scalar("disk", 1, disk={}),
        scalar("disk", 1, disk={"persistence": {"id": "v"}, "volume": {"container_path": "p", "mode": "RW"}}),
        scalar("cpus", 1, allocation_info={"role": "r2"}),
        scalar("cpus", 1, ranges={"range": []}),
        None,
        "cpus:1",
        1,
    )
)


def _with(base: st.SearchStrategy[dict[str, Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The dictionaries of `base`, with or without each of the optional keys."""
    return st.builds(operator.or_, base, st.fixed_dictionaries({}, optional=optional))


def _mostly(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Two payloads in three without anything odd, so that histories get somewhere."""
    return st.one_of(usual, usual, odd)


def _in_company(usual: st.SearchStrategy[list[Any]], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Usual entries, and one odd one anywhere among them: what is wrong with it is wrong with all of them."""
    return st.builds(lambda entries, one: [*entries, one], usual, odd).flatmap(st.permutations)


def _quota_request(
    role: st.SearchStrategy[str], guarantee: st.SearchStrategy[Any], force: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    return _with(st.fixed_dictionaries({"role": role, "guarantee": guarantee}), force=force)


def _quota_update(
    role: st.SearchStrategy[str], amounts: st.SearchStrategy[Any], force: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    configs = st.lists(_quota_config(role, amounts), min_size=1, max_size=3)
    return _with(st.fixed_dictionaries({"quota_configs": configs}), force=force)


def _quota_config(role: st.SearchStrategy[str], amounts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return _with(st.fixed_dictionaries({"role": role}), guarantees=amounts, limits=amounts)


def _amounts(name: st.SearchStrategy[str], amount: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(name, st.fixed_dictionaries({"value": amount}), max_size=3)


def _weight(role: st.SearchStrategy[str], weight: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"role": role, "weight": weight})


usual_guarantees = st.lists(
    st.builds(scalar, usual_names, usual_amounts), min_size=1, max_size=3, unique_by=lambda entry: entry["name"]
)
odd_entries = st.one_of(st.builds(scalar, odd_names, odd_amounts), odd_resources)
guarantees_in_company = _in_company(usual_guarantees, odd_entries)
odd_guarantees = st.one_of(usual_guarantees, guarantees_in_company, st.lists(odd_entries, max_size=3))
quota_requests = _mostly(
    _quota_request(usual_roles, usual_guarantees, usual_forces), _quota_request(odd_roles, odd_guarantees, odd_forces)
)
usual_configs = st.lists(_quota_config(usual_roles, _amounts(usual_names, usual_amounts)), min_size=1, max_size=3)
odd_configs = _quota_config(odd_roles, _amounts(odd_names, odd_v1_amounts))
configs_in_company = _in_company(usual_configs, odd_configs)
quota_updates = _mostly(
    _quota_update(usual_roles, _amounts(usual_names, usual_amounts), usual_forces),
    st.one_of(
        _quota_update(odd_roles, _amounts(odd_names, odd_v1_amounts), odd_forces),
        st.fixed_dictionaries({"quota_configs": configs_in_company, "force": usual_forces}),
    ),
)
_usual_weights = st.lists(
    _weight(st.one_of(usual_roles, st.sampled_from(("a/b", "*", " r1 "))), usual_weights), max_size=3
)
weights_in_company = _in_company(_usual_weights, _weight(odd_roles, odd_weights))
weight_lists = _mostly(
    _usual_weights, st.one_of(weights_in_company, st.lists(_weight(odd_roles, odd_weights), max_size=3))
)


@st.composite
def texts(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> str:
    """JSON text of a value: four times in five as it is, else with something done to the value or to its text."""
    value = draw(values)
    spoiled = draw(st.sampled_from((*["no"] * 8, "value", "text")))
    if spoiled == "value":
        value = _spoil(draw, value)
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return _spoil_text(draw, text) if spoiled == "text" else text


def _spoil(draw: st.DrawFn, value: Any) -> Any:
    """Something done to one place in the value: the whole, or something in it."""
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        deed = draw(st.sampled_from(("deeper", "deeper", "drop", "add", "replace")))
        if deed == "drop":
            return {name: part for name, part in value.items() if name != key}
        if deed == "add":
            return {**value, "no such key": 1}
        return {**value, key: _spoil(draw, value[key]) if deed == "deeper" else draw(_strangers)}
    if isinstance(value, list) and value:
        return draw(st.sampled_from((value[0], [value], [None, *value], [*value, value[0]], [_spoil(draw, value[0])])))
    return draw(_strangers)


_strangers: st.SearchStrategy[Any] = st.sampled_from((None, True, "x", "", 0, 7, [], {}, [None], {"value": 1}, [[]]))


def _spoil_text(draw: st.DrawFn, text: str) -> str:
    return draw(
        st.sampled_from(
            (
                text[:-1],
                text + " ",
                text + "\n\t",
                text + "x",
                text + text,
                " " + text,
                "",
                "null",
                text.replace(",", ",,", 1),
                text.replace("}", ",}", 1),
                text.replace('"', "'"),
                text.replace('"role"', '"role":"r2","role"', 1),  # the last of two equal keys wins
                text.replace('"role"', '"Role"', 1),
            )
        )
    )
