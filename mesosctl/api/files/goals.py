"""Goals of tuning in TOML, as `mesosctl tune` reads them.

    schema_version = 1
    keep = ["infra"]                     # roles that must stay as they are

    [goals.web]                          # a role
    wait_p95 = "5m"                      # the 95th percentile of the waits of its tasks
    wait_max = "1h"                      # the longest
    hours_served = "90%"                 # hours run in the window, of those that were wanted in it
    never_below_guarantee = true         # while one of its tasks waited

    [change.web]                         # what may be changed, within which bounds; everything else stays
    guarantee = { from = "cpus:0;mem:0", to = "cpus:32;mem:64GiB", steps = 8 }   # both grow together
    weight = { from = 1, to = 4, steps = 3 }

    [change.batch]
    limit = [                            # several: each on its own
        { from = "cpus:8", to = "cpus:64" },
        { from = "mem:16GiB", to = "mem:128GiB" },
    ]

A setting may also stay as it is on record, even if that is outside its bounds.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from mesosctl.api.files import reading
from mesosctl.api.files.line_numbers import places_in_toml
from mesosctl.api.files.reading import Fault
from mesosctl.api.files.text_file import TextFile
from mesosctl.model import roles
from mesosctl.model.errors import MesosctlError, RuleViolation
from mesosctl.model.notation import parse_entries, parse_fraction, parse_seconds
from mesosctl.model.quota import rules as quota_rules
from mesosctl.planning.tuning import DEFAULT_STEPS, MOST_STEPS, WEIGHT, Goal, GoalKind, SettingKind, Unknown

SCHEMA_VERSION = 1
_KINDS: tuple[GoalKind, ...] = get_args(GoalKind)
_SETTINGS: tuple[SettingKind, ...] = get_args(SettingKind)
_NO_TIME = re.compile(r"0+(\.0+)?\s*(ms|s|m|h|d)?")
_LARGEST_WEIGHT = 1_000_000
_WHOLE = (
    'write, for example, [goals.web] with wait_p95 = "10m", and [change.web] with '
    'guarantee = { from = "cpus:0", to = "cpus:8" }'
)
"""An example of a whole file, for one that is empty."""


class GoalsFile(NamedTuple):
    """The content of a file of goals, with the place of everything in it."""

    goals: tuple[Goal, ...]
    unknowns: tuple[Unknown, ...]
    keep: tuple[str, ...]
    file: TextFile
    paths: tuple[str, ...]
    """The place of each unknown in the document."""

    def refuse(self, faults: list[Fault]) -> None:
        """Raise BadInput that names every fault with its line, if there are any."""
        if not faults:
            return
        lines = self.file.find(self.file.text)
        faults = sorted(faults, key=lambda one: lines.line_of(one.path) or 0)
        placed = [
            one._replace(sentence=f"{self.file.place_of(one.path)}: {one.path}: {one.sentence}") for one in faults
        ]
        raise reading.refused_for_all(placed, "file.fields")


def load(text: str, where: str) -> GoalsFile:
    """Read a file of goals.  Raises BadInput naming `where`, and every fault at once with its line."""
    document = reading.read_toml(text, where)
    reader = _Reader()
    reader.document(document)
    found = GoalsFile(
        tuple(reader.goals),
        tuple(reader.unknowns),
        tuple(reader.keep),
        TextFile(where, text, places_in_toml),
        tuple(reader.paths),
    )
    found.refuse(reader.faults)
    return found


class _Reader:
    """Reads what can be read, and collects the faults."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.goals: list[Goal] = []
        self.unknowns: list[Unknown] = []
        self.keep: list[str] = []
        self.paths: list[str] = []

    def wrong(self, path: str, sentence: str, hint: str | None = None) -> None:
        self.faults.append(Fault(path, sentence, hint))

    def document(self, document: Mapping[str, Any]) -> None:
        self._keys(document, ("schema_version", "goals", "change", "keep"), "")
        version = document.get("schema_version", SCHEMA_VERSION)
        if version != SCHEMA_VERSION or isinstance(version, bool):
            self.wrong("schema_version", f"it is {version}, but this version of mesosctl reads {SCHEMA_VERSION}")
        keep = document.get("keep", [])
        if isinstance(keep, list) and all(isinstance(role, str) for role in keep):
            self.keep = keep
        else:
            self.wrong("keep", "it is not a list of roles", 'write keep = ["web"]')
        for role, table in self._tables(document, "goals").items():
            self._goals(role, table, f"goals.{role}")
        for role, table in self._tables(document, "change").items():
            if role in self.keep:
                self.wrong(
                    f"change.{role}", f"role '{role}' is to stay as it is, by keep", "leave it out of one of them"
                )
            self._change(role, table, f"change.{role}")

    def _keys(self, table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                hint = roles.did_you_mean(key, known, f"known: {', '.join(known)}", are_numbered=False)
                self.wrong(f"{where}.{key}".lstrip("."), "there is no such key", hint)

    def _tables(self, document: Mapping[str, Any], key: str) -> Mapping[str, Mapping[str, Any]]:
        """The tables [KEY.ROLE]: at least one."""
        section = document.get(key)
        if section is None or section == {}:
            why = "what is to be met" if key == "goals" else "what may be changed"
            is_empty = not document.get("goals") and not document.get("change")
            self.wrong(key, f"it is missing, so nothing says {why}", _WHOLE if is_empty else f"write [{key}.ROLE]")
            return {}
        if not isinstance(section, dict):
            self.wrong(key, "it is not a table", f"write [{key}.ROLE]")
            return {}
        found = {}
        for role, table in section.items():
            problem = roles.role_error(role)
            if problem is not None:
                self.wrong(f"{key}.{role}", problem)
            elif isinstance(table, dict):
                found[role] = table
            else:
                self.wrong(f"{key}.{role}", "it is not a table", f"write [{key}.{role}]")
        return found

    # --- Goals ---

    def _goals(self, role: str, table: Mapping[str, Any], where: str) -> None:
        self._keys(table, _KINDS, where)
        if not table:
            self.wrong(where, "it names no goal", 'for example, wait_p95 = "5m"')
        for kind in _KINDS:
            if kind in table:
                self._goal(role, kind, table[kind], f"{where}.{kind}")

    def _goal(self, role: str, kind: GoalKind, value: Any, path: str) -> None:
        if kind == "never_below_guarantee":
            if value is not True:
                self.wrong(path, "it is not true", "write true, or leave it out")
            self.goals.append(Goal(role, kind))
            return
        if not isinstance(value, str):
            example = '"90%"' if kind == "hours_served" else '"5m"'
            self.wrong(path, "it is not a string", f"write {kind} = {example}")
            return
        if kind == "hours_served":
            bound = parse_fraction(value)
            if not 0 < bound <= 1:
                self.wrong(path, f"'{value}' is not above 0% and at most 100%", 'for example, "90%"')
                return
        else:
            try:
                bound = 0.0 if _NO_TIME.fullmatch(value.strip()) else parse_seconds(value, path, 0.0)
            except MesosctlError as error:
                self.wrong(path, error.message.removeprefix(f"{path} "), error.hint)
                return
        self.goals.append(Goal(role, kind, bound, value))

    # --- What may be changed ---

    def _change(self, role: str, table: Mapping[str, Any], where: str) -> None:
        self._keys(table, _SETTINGS, where)
        if not table:
            self.wrong(where, "it names nothing to change", 'write guarantee = { from = "cpus:0", to = "cpus:8" }')
        if any(kind in table for kind in ("guarantee", "limit")):
            try:
                quota_rules.check_not_default_role(role)
                quota_rules.check_path(role)
            except RuleViolation as error:
                self.wrong(where, error.message, error.hint)
        for kind in _SETTINGS:
            if kind not in table:
                continue
            value, path = table[kind], f"{where}.{kind}"
            if not isinstance(value, list):
                self._unknown(role, kind, value, path)
                continue
            if kind == "weight" or not value:
                self.wrong(path, "it is not a table", "write { from = …, to = … }")
                continue
            for index, part in enumerate(value):
                self._unknown(role, kind, part, f"{path}[{index}]")
        self._check_apart(role, where)

    def _unknown(self, role: str, kind: SettingKind, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            self.wrong(path, "it is not a table", "write { from = …, to = … }")
            return
        before = len(self.faults)
        self._keys(value, ("from", "to", "steps"), path)
        steps = value.get("steps", DEFAULT_STEPS)
        if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= MOST_STEPS:
            self.wrong(f"{path}.steps", f"it is not a whole number from 1 to {MOST_STEPS}")
        read = self._weight if kind == "weight" else self._amounts
        low, high = (read(value, end, path) for end in ("from", "to"))
        if low is None or high is None:
            return
        if low.keys() != high.keys():
            names = ", ".join(sorted(low.keys() ^ high.keys()))
            self.wrong(path, f"from and to do not name the same resources: {names}", "name each in both")
            return
        for name, amount in low.items():
            if amount > high[name]:
                whose = f" of {name}" if name else ""
                self.wrong(path, f"the bounds{whose} are upside down: from is above to", "exchange them")
        if len(self.faults) == before:
            self.unknowns.append(Unknown(role, kind, low, high, steps))
            self.paths.append(path)

    def _weight(self, table: Mapping[str, Any], end: str, path: str) -> dict[str, int] | None:
        value = table.get(end)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.001 <= value <= _LARGEST_WEIGHT:
            self.wrong(
                f"{path}.{end}",
                f"a weight must be a number from 0.001 to {_LARGEST_WEIGHT:,}",
                "for example, { from = 1, to = 4 }",
            )
            return None
        return {WEIGHT: round(value * 1000)}

    def _amounts(self, table: Mapping[str, Any], end: str, path: str) -> dict[str, int] | None:
        text = table.get(end)
        if not isinstance(text, str):
            self.wrong(f"{path}.{end}", "a string with amounts is needed here", 'write "cpus:12;mem:6GiB"')
            return None
        try:
            entries = parse_entries(text)
            quota_rules.check_guarantee(entries)
        except RuleViolation as error:
            self.wrong(f"{path}.{end}", error.message, error.hint)
            return None
        return {entry.name: entry.value for entry in entries if isinstance(entry.value, int)}

    def _check_apart(self, role: str, where: str) -> None:
        """No resource of a setting is in two tables, and guarantees and limits leave room for each other."""
        mine = [one for one in self.unknowns if one.role == role]
        for kind in _SETTINGS:
            names = [name for one in mine if one.kind == kind for name in one.low]
            for name in sorted({name for name in names if names.count(name) > 1}):
                self.wrong(f"{where}.{kind}", f"{name} is in two of its tables", f"name {name} in one of them")
        least = {name: amount for one in mine if one.kind == "guarantee" for name, amount in one.low.items()}
        for one in mine:
            for name, most in one.high.items():
                if one.kind == "limit" and least.get(name, 0) > most:
                    self.wrong(
                        f"{where}.limit", f"the largest limit of {name} is below the smallest guarantee", "raise it"
                    )
