"""A file of access control lists that people write: everything that is wrong or unwise in it, at once.

A master ignores a key that it does not know, and with it the rules that it stands for, so here it is an error.
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from mesosctl.api.acls import ACLS, OBJECT_FIELDS, PERMISSIVE, PRINCIPALS, from_json, object_error
from mesosctl.api.files import json_faults
from mesosctl.api.files.line_numbers import places_in_json
from mesosctl.api.files.reading import Path, faults, load, place
from mesosctl.api.protobuf_json.message_tables import Enumeration, mesos_message
from mesosctl.model.acls import Acls, Finding, warnings

_ENTITY = mesos_message("mesos.ACL.Entity")
_ENDED = {
    "set_quotas": "update_quotas replaced it in Mesos 1.3",
    "remove_quotas": "update_quotas replaced it in Mesos 1.3",
    "shutdown_frameworks": "teardown_frameworks replaced it",
}
"""Actions of older masters, and what to write instead."""


class AclsFile(NamedTuple):
    """The ACLs in a file, and what is to be said about it."""

    acls: Acls | None
    """None if there is an error."""
    findings: tuple[Finding, ...]
    """In the order of the file, errors first."""


class _Fault(NamedTuple):
    path: Path
    sentence: str
    hint: str | None = None


def read_acls(text: str) -> AclsFile:
    """Read the text of a file, and find every fault: of its syntax, behind which it looks further, keys and values.

    Only a file without errors has warnings.
    """
    broken, repaired = json_faults.faults_of(text)
    errors = [
        Finding(
            "error",
            "file.json",
            fault.field,
            f"not JSON: {fault.sentence}",
            fault.hint,
            fault.line,
        )
        for fault in broken
    ]
    try:
        document = None if repaired is None else load(repaired)
        found = [] if repaired is None else _all_faults(document)
        is_too_deep = repaired is None and not broken
    except RecursionError:
        is_too_deep = True
    if is_too_deep:
        return AclsFile(None, (Finding("error", "file.json", "the top level", "it is nested too deeply"),))
    lines = places_in_json(repaired or "")
    unique = dict.fromkeys(one for one in found if not json_faults.stands_in(document, one.path))
    for path, sentence, hint in unique:
        named = place(path)
        errors.append(Finding("error", "file.fields", named or "the top level", sentence, hint, lines.line_of(named)))
    if errors:
        return AclsFile(None, tuple(errors))
    acls = from_json(document)
    return AclsFile(acls, tuple(replace(one, line=lines.line_of(one.field)) for one in warnings(acls)))


def _all_faults(document: Any) -> list[_Fault]:
    """The faults of any file, and those of ACLs; a text or number that no file may have is named once."""
    general = [_Fault(*one) for one in faults(document)]
    unusable = {one.path for one in general if isinstance(_value_at(document, one.path), str | float)}
    return [*general, *(one for one in _faults(document) if one.path not in unusable)]


def _value_at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def _faults(document: Any) -> Iterator[_Fault]:
    """The keys and values that a master would refuse or ignore."""
    if not isinstance(document, dict):
        yield _Fault((), "it should be an object with a list of rules for each action")
        return
    for action, rules in document.items():
        if action == PERMISSIVE:
            if not isinstance(rules, bool) and rules not in ("true", "false"):
                yield _Fault((action,), "it should be true or false")
        elif action not in OBJECT_FIELDS:
            hint = _ENDED.get(action) or _nearest(
                action, ACLS.fields, 'the Mesos page "Authorization" lists the actions'
            )
            yield _Fault((action,), f"there is no action '{action}', so a master ignores it", hint)
        elif not isinstance(rules, list):
            yield _Fault((action,), "it should be an array of rules")
        else:
            for index, rule in enumerate(rules):
                yield from _rule_faults(action, rule, (action, index))


def _rule_faults(action: str, rule: Any, path: Path) -> Iterator[_Fault]:
    kind = OBJECT_FIELDS[action]
    if not isinstance(rule, dict):
        yield _Fault(path, f"it should be an object with {PRINCIPALS} and {kind}")
        return
    for key in rule:
        if key not in (PRINCIPALS, kind):
            yield _Fault(
                (*path, key), f"there is no key '{key}' here", f"a rule of {action} has {PRINCIPALS} and {kind}"
            )
    for key in (PRINCIPALS, kind):
        if key not in rule:
            yield _Fault((*path, key), "it is missing", f'"{key}": {{"type": "ANY"}} matches all of them')
        else:
            yield from _entity_faults(rule[key], (*path, key))
    if not any(True for _ in _entity_faults(rule.get(kind), ())):
        objects = rule[kind]
        error = object_error(action, objects.get("type", "SOME"), tuple(objects.get("values", ())))
        if error is not None:
            yield _Fault((*path, kind), error.message, error.hint)


def _entity_faults(entity: Any, path: Path) -> Iterator[_Fault]:
    if not isinstance(entity, dict):
        yield _Fault(path, 'it should be an object with "type" or "values"', 'such as {"values": ["ops"]}')
        return
    for key in entity:
        if key not in _ENTITY.fields:
            yield _Fault(
                (*path, key), f"there is no key '{key}' here", _nearest(key, _ENTITY.fields, "known: type, values")
            )
    types = _ENTITY.fields["type"].type
    assert isinstance(types, Enumeration), "the table says so"
    kind = entity.get("type", "SOME")
    if kind not in list(types.values):  # it may be of any type
        hint = _nearest(str(kind), types.values, "leave it out to mean the values")
        yield _Fault((*path, "type"), f"it should be {', '.join(types.values)}", hint)
    values = entity.get("values", [])
    if not isinstance(values, list):
        yield _Fault((*path, "values"), "it should be an array of strings")
        return
    for index, value in enumerate(values):
        if not isinstance(value, str):
            yield _Fault((*path, "values", index), "it should be a string")


def _nearest(word: str, known: Iterable[str], otherwise: str) -> str:
    close = difflib.get_close_matches(word.lower(), [one.lower() for one in known], 1)
    return next((f"did you mean {one}?" for one in known if close and one.lower() == close[0]), otherwise)
