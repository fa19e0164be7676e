"""The JSON of `export`, `diff` and `apply`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mesosctl.output.json_documents.document import Document, Mirrored, Strict, named

Amounts = Annotated[str | None, BeforeValidator(lambda text: None if text == "none" else text)]
"""As in a file, if null is "none"."""


class DesiredQuota(Strict):
    """Amounts as in a file: `cpus:12;mem:6144`; null if there is no guarantee or limit."""

    guarantee: Amounts = None
    limit: Amounts = None


class DesiredReservation(Strict):
    """A dynamic reservation of a role on one agent; `under` are the roles that it refines, from the bottom up."""

    agent: str
    role: str
    resources: str
    under: list[str] = Field(default=[])
    principal: str | None = None
    labels: dict[str, str] | list[str] | None = None


class DesiredStateDocument(Document):
    """`export`: the content of its TOML."""

    kind: Literal["wanted.state"] = "wanted.state"
    quotas: dict[str, DesiredQuota]
    weights: dict[str, float]
    reservations: list[DesiredReservation]


class StateDifference(Mirrored):
    """One difference from the file; `actual` is null if it does not exist, `wanted` if it is not wanted."""

    of_kind: Annotated[Literal["quota", "weight", "reservation"], named("kind")]
    name: str
    actual: str | None
    wanted: str | None


class Differences(Document):
    """`diff -f FILE`."""

    kind: Literal["wanted.differences"] = "wanted.differences"
    differences: list[StateDifference]


class PlanStep(Strict):
    """One step, in words; `done` is true once it is confirmed."""

    number: int
    step: str
    of: str
    before: str | None
    after: str | None
    done: bool


class Plan(Document):
    """`apply -f FILE`: the plan, and whether this command has carried it out."""

    kind: Literal["wanted.plan"] = "wanted.plan"
    applied: bool
    steps: list[PlanStep]
