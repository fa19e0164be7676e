"""A file of access control lists that people write: everything that is wrong or unwise in it, at once.

A master ignores a key that it does not know, and with it the rules that it stands for, so here it is an error.
"""

import difflib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from mesosctl.mesos.messages.acls import ACLS, OBJECT_FIELDS, from_json, object_error
from mesosctl.mesos.messages.base_model import MISSING, Mistake
from mesosctl.mesos.messages.protobuf_json.decoding import may_hold_more
from mesosctl.mesos.messages.strict import json_faults
from mesosctl.mesos.messages.strict.line_numbers import places_in_json
from mesosctl.mesos.messages.strict.reading import MOST_VALUES, Path, faults, load, place
from mesosctl.mesos.messages.table_models import model_of
from mesosctl.mesos.rules.acls import AclFinding, Acls, warnings

_OBJECTS = len(("an action", "the index of a rule", "its objects"))
"""The length of the path to the objects of a rule."""
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
    findings: tuple[AclFinding, ...]
    """In the order of the file, errors first."""


def read_acls(text: str) -> AclsFile:
    """Read the text of a file, and find every fault of its keys and values, or the first of its syntax.

    Only a file without errors has warnings.
    """
    if may_hold_more(text, MOST_VALUES):
        sentence = f"it holds more than {MOST_VALUES:,} values"
        return AclsFile(None, (AclFinding("error", "file.json", "the top level", sentence),))
    broken = json_faults.fault_of(text)
    if broken is not None:
        sentence = f"not JSON: {broken.sentence}"
        fault = AclFinding("error", "file.json", broken.field, sentence, broken.hint, broken.line, broken.column)
        return AclsFile(None, (fault,))
    try:
        document = load(text)
        found = _all_faults(document)
    except RecursionError:
        return AclsFile(None, (AclFinding("error", "file.json", "the top level", "it is nested too deeply"),))
    lines = places_in_json(text)
    errors = [
        AclFinding("error", "file.fields", named or "the top level", sentence, hint, lines.line_of(named))
        for named, sentence, hint in dict.fromkeys((place(path), sentence, hint) for path, sentence, hint in found)
    ]
    if errors:
        return AclsFile(None, tuple(sorted(errors, key=lambda error: error.line or 0)))
    acls = from_json(document)
    return AclsFile(acls, tuple(replace(finding, line=lines.line_of(finding.field)) for finding in warnings(acls)))


def _all_faults(document: Any) -> list[Mistake]:
    """The faults of any file, and those of ACLs; a text or number that no file may have is named once."""
    general = [Mistake(*fault) for fault in faults(document)]
    unusable = {fault.path for fault in general if isinstance(_value_at(document, fault.path), str | float)}
    found = [*general, *(fault for fault in _faults(document) if fault.path not in unusable)]
    places = {action: at for at, action in enumerate(document)} if isinstance(document, dict) else {}
    return sorted(found, key=lambda mistake: places.get(mistake.path[0], 0) if mistake.path else 0)


def _value_at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def _faults(document: Any) -> Iterator[Mistake]:
    """The keys and values that a master would refuse or ignore."""
    wrong = set()
    for path, sentence, hint in model_of(ACLS.name).faults(document):
        wrong.add(path[:_OBJECTS])
        if len(path) == 1 and path[0] not in ACLS.fields:
            yield Mistake(path, f"there is no action '{path[0]}', so a master ignores it", _action_hint(str(path[0])))
        elif sentence == MISSING:
            yield Mistake(path, sentence, f'"{path[-1]}": {{"type": "ANY"}} matches all of them')
        else:
            yield Mistake(path, sentence, hint)
    for action, rules in document.items() if isinstance(document, dict) else ():
        for index, rule in enumerate(rules if action in OBJECT_FIELDS and isinstance(rules, list) else ()):
            path = (action, index, OBJECT_FIELDS[action])
            if path in wrong or path[:1] in wrong or path[:2] in wrong:
                continue
            objects = rule[OBJECT_FIELDS[action]]
            error = object_error(action, objects.get("type") or "SOME", tuple(objects.get("values") or ()))
            if error is not None:
                yield Mistake(path, error.message, error.hint)


def _action_hint(action: str) -> str:
    close = difflib.get_close_matches(action.lower(), ACLS.fields, 1)
    likely = f"did you mean {close[0]}?" if close else 'the Mesos page "Authorization" lists the actions'
    return _ENDED.get(action) or likely
