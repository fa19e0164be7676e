"""A plan that is kept in a file until somebody has approved it: its steps, and what they rest on.

It rests on facts: each quota, each weight, and each agent whose reservations it changes. The plan is applied only
while they are as they were, apart from what its own steps have changed.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from mesosctl.apply.plan import QuotaStep, Step, WeightsStep
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.desired.desired_state import Actual, DesiredState, quota_text

SCHEMA_VERSION: Literal[2] = 2
"""The version of the file's format: within it, fields are only added."""
KIND: Literal["wanted.saved-plan"] = "wanted.saved-plan"


_BETWEEN = "; "
"""Between the resources of an agent."""


class Premise(NamedTuple):
    """One thing that a plan rests on, and its state in words that are exact; `state` is None if there is none."""

    kind: Literal["quota", "weight", "agent", "principal"]
    name: str
    """A role, the name of an agent in sentences, or empty."""
    state: str | None
    id: str | None = None
    """Of an agent."""

    @property
    def key(self) -> tuple[str, str]:
        """Its subject."""
        return self.kind, self.name if self.id is None else self.id


class Move(NamedTuple):
    """A fact that has changed since a plan was saved; None if there was none, or is none."""

    before: Premise | None
    now: Premise | None

    def sentence(self) -> str:
        """`quota of web is cpus:4, and was cpus:2`; of an agent, only the resources that differ."""
        fact = self.now or self.before
        assert fact is not None, "a move has two sides, of which one is there"
        before = self.before.state if self.before is not None else None
        now = self.now.state if self.now is not None else None
        if fact.kind != "agent":
            subject = f"{fact.kind} of {fact.name}" if fact.name else fact.kind
            return f"{subject} is {now or 'none'}, and was {before or 'none'}"
        if now is None:
            return f"agent {fact.name} is gone"
        old, new = (text.split(_BETWEEN) if text else [] for text in (before, now))
        gained = _BETWEEN.join(fact for fact in new if fact not in old) or "nothing more"
        lost = _BETWEEN.join(fact for fact in old if fact not in new)
        return f"agent {fact.name} has {gained}" + (f", and had {lost}" if lost else "")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """The content of a file of a plan, as far as `apply` needs it."""

    master: str
    """The identity of the master that it was made for."""
    file: str
    """The name of the file with the desired state, in sentences."""
    wanted: str
    """The text of that file."""
    prune: bool
    allow_new_resource: bool
    rests_on: Sequence[Premise]
    steps: Sequence[Step]
    checksum: str
    upgrade_to: str | None = None
    """The profile of the master that has to lead; None for one that any may have."""


def facts(desired: DesiredState, actual: Actual, steps: Sequence[Step], principal: str | None) -> list[Premise]:
    """The facts that these steps rest on, in the order of their names.

    Every quota counts if the file has quotas, because they share the capacity, and every weight if it has weights,
    because they are shares. Of agents, those count whose reservations are changed.
    """
    found = []
    if desired.quotas is not None:
        found += [Premise("quota", role, quota_text(quota)) for role, quota in actual.quotas.items()]
    if desired.weights is not None:
        found += [Premise("weight", role, format_double(weight)) for role, weight in actual.weights.items()]
    changed = {step.agent_id for step in steps if not isinstance(step, QuotaStep | WeightsStep)}
    for agent in actual.agents.values():
        if agent.id in changed:
            found.append(Premise("agent", agent.name, _BETWEEN.join(sorted(map(str, agent.total))), agent.id))
    if changed:
        found.append(Premise("principal", "", principal))
    return sorted(found, key=lambda fact: fact.key)


def moved(before: Sequence[Premise], now: Sequence[Premise], done: Sequence[Step] = ()) -> list[Move]:
    """The facts that differ, apart from those that the steps `done` have changed."""
    own = set(_changed_by(done))
    old, new = ({fact.key: fact for fact in found} for found in (before, now))
    changed = [
        key for key in {*old, *new} - own if key not in old or key not in new or old[key].state != new[key].state
    ]
    return [Move(old.get(key), new.get(key)) for key in sorted(changed)]


def without_subjects_of(steps: Sequence[Step], others: Sequence[Step]) -> list[Step]:
    """The steps that change nothing that one of the others changes too."""
    subjects = set(_changed_by(others))
    return [step for step in steps if subjects.isdisjoint(_changed_by([step]))]


def _changed_by(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    for step in steps:
        if isinstance(step, QuotaStep):
            yield "quota", step.role
        elif isinstance(step, WeightsStep):
            yield from (("weight", role) for role in step.after)
        else:
            yield "agent", step.agent_id


def fingerprint(rests_on: Sequence[Premise]) -> str:
    """One line for all the facts: equal for equal facts."""
    return _hashed([list(fact) for fact in rests_on])


def checksum(content: Mapping[str, Any]) -> str:
    """The checksum of the JSON of a plan, whatever its order and spaces; its own `checksum` does not count."""
    return _hashed({key: value for key, value in content.items() if key != "checksum"})


def _hashed(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
