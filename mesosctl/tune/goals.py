"""Goals of tuning in TOML.

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
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple, get_args

from msgspec import Meta, field

from mesosctl.files.text_file import TextFile
from mesosctl.files.typed_file import TypedFile, read_typed
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.notation import parse_entries, parse_fraction, parse_seconds
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.strict.shapes import Table
from mesosctl.mesos.rules.quota import rules as quota_rules
from mesosctl.tune.search import DEFAULT_STEPS, MOST_STEPS, WEIGHT, Goal, GoalKind, SearchVariable, SettingKind

SCHEMA_VERSION = 1
_KINDS: tuple[GoalKind, ...] = get_args(GoalKind)
_SETTINGS: tuple[SettingKind, ...] = get_args(SettingKind)
_NO_TIME = re.compile(r"0+(\.0+)?\s*(ms|s|m|h|d)?")
_WHOLE = (
    'write, for example, [goals.web] with wait_p95 = "10m", and [change.web] with '
    'guarantee = { from = "cpus:0", to = "cpus:8" }'
)
"""An example of a whole file, for one that is empty."""

# --- The shape of the file ----------------------------------------------------------------------------

_Amounts = Annotated[str, Meta(examples=["cpus:8"])]
_Weight = Annotated[float, Meta(ge=0.001, le=1_000_000, examples=[4])]
_Steps = Annotated[int, Meta(ge=1, le=MOST_STEPS, description="How many steps lead from `from` to `to`.")]


class AmountBounds(Table):
    """The bounds of amounts; those of one table grow together."""

    low: _Amounts = field(name="from")
    high: _Amounts = field(name="to")
    steps: _Steps = DEFAULT_STEPS


class WeightBounds(Table):
    """The bounds of a weight."""

    low: _Weight = field(name="from")
    high: _Weight = field(name="to")
    steps: _Steps = DEFAULT_STEPS


_Amount = Annotated[
    AmountBounds | Annotated[list[AmountBounds], Meta(min_length=1)] | None,
    Meta(examples=[{"from": "cpus:0", "to": "cpus:8"}]),
]


class GoalsOfRole(Table):
    """The goals of a role."""

    wait_p95: Annotated[
        str | None,
        Meta(description="The 95th percentile of the waits of the role's tasks is at most this long.", examples=["5m"]),
    ] = None
    wait_max: Annotated[str | None, Meta(description="The longest wait is at most this long.", examples=["1h"])] = None
    hours_served: Annotated[
        str | None,
        Meta(
            description="At least this part of the hours that were wanted in the window ran in it; of the resource "
            "with the least.",
            examples=["90%"],
        ),
    ] = None
    never_below_guarantee: Annotated[
        bool | None,
        Meta(
            description="While a task of the role waited, the role had its guarantee. `true` is the only value.",
            examples=[True],
        ),
    ] = None


class ChangeOfRole(Table):
    """The settings of a role that may be changed."""

    guarantee: _Amount = None
    limit: _Amount = None
    weight: Annotated[WeightBounds | None, Meta(examples=[{"from": 1, "to": 4}])] = None


class GoalsDocument(Table):
    """A file of goals."""

    schema_version: int = SCHEMA_VERSION
    keep: Annotated[list[str], Meta(description="Roles that must stay as they are.", examples=[["web"]])] = field(
        default_factory=list
    )
    goals: Annotated[dict[str, GoalsOfRole], Meta(description="By role, the goals that must be met.")] = field(
        default_factory=dict
    )
    change: Annotated[dict[str, ChangeOfRole], Meta(description="By role, the settings that may be changed.")] = field(
        default_factory=dict
    )


# --- What it means ------------------------------------------------------------------------------------


class GoalsFile(NamedTuple):
    """The content of a file of goals, with the place of everything in it."""

    goals: tuple[Goal, ...]
    unknowns: tuple[SearchVariable, ...]
    keep: tuple[str, ...]
    file: TextFile
    paths: tuple[str, ...]
    """The place of each unknown in the document."""


def load(text: str, where: str) -> GoalsFile:
    """Read a file of goals.  Raises BadInput naming `where`, and every fault at once with its line."""
    reader = _Reader(read_typed(text, where, GoalsDocument))
    reader.document()
    reader.read.refuse()
    return GoalsFile(
        tuple(reader.goals),
        tuple(reader.unknowns),
        tuple(reader.read.value.keep),
        reader.read.file,
        tuple(reader.paths),
    )


class _Reader:
    """Finds what the values of a file mean, and notes the faults."""

    def __init__(self, read: TypedFile[GoalsDocument]) -> None:
        self.read = read
        self.goals: list[Goal] = []
        self.unknowns: list[SearchVariable] = []
        self.paths: list[str] = []

    def document(self) -> None:
        document = self.read.value
        self.read.check_version(document.schema_version, SCHEMA_VERSION)
        is_empty = not document.goals and not document.change
        self._present(document.goals, "goals", "what is to be met", is_empty=is_empty)
        self._present(document.change, "change", "what may be changed", is_empty=is_empty)
        for role, goals in document.goals.items():
            if self._is_role(role, f"goals.{role}"):
                self._goals(role, goals, f"goals.{role}")
        for role, change in document.change.items():
            where = f"change.{role}"
            if not self._is_role(role, where):
                continue
            if role in document.keep:
                self.read.wrong(where, f"role '{role}' is to stay as it is, by keep", "leave it out of one of them")
            self._change(role, change, where)

    def _present(self, section: Mapping[str, Table], key: str, what: str, *, is_empty: bool) -> None:
        if not section and not self.read.is_wrong_at(key):
            hint = _WHOLE if is_empty else f"write [{key}.ROLE]"
            self.read.wrong(key, f"it is missing, so nothing says {what}", hint)

    def _is_role(self, role: str, path: str) -> bool:
        problem = roles.role_error(role)
        if problem is not None:
            self.read.wrong(path, problem)
        return problem is None

    def _goals(self, role: str, goals: GoalsOfRole, where: str) -> None:
        if goals == GoalsOfRole() and not self.read.is_wrong_at(where):
            self.read.wrong(where, "it names no goal", 'for example, wait_p95 = "5m"')
        for kind in _KINDS:
            value = getattr(goals, kind)
            if value is not None:
                with self.read.noted(f"{where}.{kind}"):
                    self.goals.append(_goal(role, kind, value))

    def _change(self, role: str, change: ChangeOfRole, where: str) -> None:
        if change == ChangeOfRole() and not self.read.is_wrong_at(where):
            self.read.wrong(where, "it names nothing to change", 'write guarantee = { from = "cpus:0", to = "cpus:8" }')
        if change.guarantee or change.limit:
            with self.read.noted(where):
                quota_rules.check_path(role)
        mine: list[SearchVariable] = []
        for kind in _SETTINGS:
            bounds, path = getattr(change, kind), f"{where}.{kind}"
            several = (
                {f"{path}[{index}]": table for index, table in enumerate(bounds)} if isinstance(bounds, list) else {}
            )
            for place, table in (several or ({} if bounds is None else {path: bounds})).items():
                unknown = self._unknown(role, kind, table, place)
                if unknown is not None:
                    mine.append(unknown)
                    self.paths.append(place)
        self.unknowns += mine
        self._check_apart(mine, where)

    def _unknown(
        self, role: str, kind: SettingKind, bounds: AmountBounds | WeightBounds, path: str
    ) -> SearchVariable | None:
        ends = []
        for end, value in (("from", bounds.low), ("to", bounds.high)):
            with self.read.noted(f"{path}.{end}"):
                ends.append(_amounts(value) if isinstance(value, str) else {WEIGHT: round(value * 1000)})
        if len(ends) < 2:
            return None
        low, high = ends
        if low.keys() != high.keys():
            names = ", ".join(sorted(low.keys() ^ high.keys()))
            self.read.wrong(path, f"from and to do not name the same resources: {names}", "name each in both")
            return None
        reversed_ = [name for name, amount in low.items() if amount > high[name]]
        for name in reversed_:
            whose = f" of {name}" if name else ""
            self.read.wrong(path, f"the bounds{whose} are upside down: from is above to", "exchange them")
        return None if reversed_ else SearchVariable(role, kind, low, high, bounds.steps)

    def _check_apart(self, mine: Sequence[SearchVariable], where: str) -> None:
        """No resource of a setting is in two tables, and guarantees and limits leave room for each other."""
        for kind in _SETTINGS:
            names = [name for variable in mine if variable.kind == kind for name in variable.low]
            for name in sorted({name for name in names if names.count(name) > 1}):
                self.read.wrong(f"{where}.{kind}", f"{name} is in two of its tables", f"name {name} in one of them")
        least = {
            name: amount for variable in mine if variable.kind == "guarantee" for name, amount in variable.low.items()
        }
        for variable in mine:
            for name, most in variable.high.items():
                if variable.kind == "limit" and least.get(name, 0) > most:
                    self.read.wrong(
                        f"{where}.limit", f"the largest limit of {name} is below the smallest guarantee", "raise it"
                    )


def _goal(role: str, kind: GoalKind, value: str | bool) -> Goal:
    """Raises BadInput for a bound that the kind cannot have."""
    if isinstance(value, bool):
        if not value:
            raise BadInput("it is not true", hint="write true, or leave it out")
        return Goal(role, kind)
    if kind != "hours_served":
        return Goal(role, kind, 0.0 if _NO_TIME.fullmatch(value.strip()) else parse_seconds(value, "it"), value)
    bound = parse_fraction(value)
    if not 0 < bound <= 1:
        raise BadInput(f"'{value}' is not above 0% and at most 100%", hint='for example, "90%"')
    return Goal(role, kind, bound, value)


def _amounts(text: str) -> dict[str, int]:
    """Raises RuleViolation for amounts that a quota cannot have."""
    entries = parse_entries(text)
    quota_rules.check_guarantee(entries)
    return {entry.name: entry.value for entry in entries if isinstance(entry.value, int)}
