"""The JSON of `export`, `diff`, `plan`, `apply` and `cleanup`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mesosctl.apply import saved_plan
from mesosctl.files.desired_state import labels_to_toml
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.amounts.resource import Labels
from mesosctl.show.document import Amounts, Document, Mirrored, Strict, named
from mesosctl.show.held_resources import HeldResources
from mesosctl.whatif.documents import ForecastDocument


def _or_null(amounts: Quantities | Limits | None) -> Quantities | Limits | None:
    return amounts or None


def _as_in_a_file(labels: Labels | None) -> object:
    return None if labels is None else labels_to_toml(labels)


class DesiredQuota(Mirrored):
    """The desired quota of a role; null if there is no guarantee or limit, or if it does not change."""

    guarantee: Annotated[Amounts | None, named("guarantees"), BeforeValidator(_or_null)] = None
    limit: Annotated[Amounts | None, named("limits"), BeforeValidator(_or_null)] = None


class DesiredReservation(Mirrored):
    """A dynamic reservation of a role on one agent; `under` are the roles that it refines, from the bottom up."""

    agent: str
    role: str
    resources: HeldResources
    under: list[str] = Field(default=[])
    principal: str | None = None
    labels: Annotated[dict[str, str] | list[str] | None, BeforeValidator(_as_in_a_file)] = None


class DesiredStateDocument(Document, Mirrored):
    """`export`: what its TOML says."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["wanted.state"] = "wanted.state"
    quotas: dict[str, DesiredQuota]
    weights: dict[str, float]
    reservations: list[DesiredReservation]


class ComparedState(Strict):
    """A quota's guarantee and limit, a weight, or the amounts of a reservation; the others are null."""

    guarantee: Amounts | None = None
    limit: Amounts | None = None
    weight: float | None = None
    reserved: Amounts | None = None


class StateDifference(Mirrored):
    """One difference from the file; `actual` is null if it does not exist, `wanted` if it is not wanted.

    These two are texts, and the fields `..._values` have the same as numbers.
    """

    of_kind: Annotated[Literal["quota", "weight", "reservation"], named("kind")]
    name: str
    actual: str | None
    wanted: str | None
    actual_values: ComparedState | None
    wanted_values: ComparedState | None


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
    before_values: ComparedState | None = Field(default=None, description="The quota before; null of another setting.")
    after_values: ComparedState | None = Field(default=None, description="The quota after; null of another setting.")
    resources: HeldResources | None = Field(default=None, description="Of a reservation or a volume; null otherwise.")
    done: bool


class Plan(Document):
    """`apply`: the plan, and whether this command has carried it out."""

    kind: Literal["wanted.plan"] = "wanted.plan"
    applied: bool
    checksum: str | None = Field(default=None, description="The checksum of the saved plan; null without --plan.")
    steps: list[PlanStep]


class SavedStep(PlanStep):
    """One step, in words and as `apply --plan` makes it: in `change`, amounts are whole thousandths."""

    change: dict[str, Any]


class Fact(Mirrored):
    """One thing that the plan rests on: `name` is a role or an agent; `state` is null if there is none."""

    of_kind: Annotated[Literal["quota", "weight", "agent", "principal"], named("kind")]
    name: str
    state: str | None
    id: str | None = Field(description="Of an agent.")


class SavedPlan(Document):
    """`plan`, and the file of `plan --save`: the steps, their forecast, and what they rest on."""

    schema_version: Literal[2] = saved_plan.SCHEMA_VERSION  # type: ignore[assignment]  # a version of its own
    kind: Literal["wanted.saved-plan"] = saved_plan.KIND
    made_at: float = Field(description="In seconds since the epoch.")
    made_by: str = Field(description="The version of mesosctl.")
    master: str = Field(description="The identity of the master: the plan is for no other one.")
    mesos_version: str
    mesos_profile: str | None = None
    upgrade_to: str | None = Field(
        default=None, description="The minor release of the master that has to lead; null if it is that of today."
    )
    file: str = Field(description="The file with the desired state; - is standard input.")
    wanted: str = Field(description="The text of that file.")
    prune: bool
    allow_new_resource: bool
    rests_on: list[Fact]
    fingerprint: str = Field(description="Equal for equal `rests_on`.")
    steps: list[SavedStep]
    forecast: ForecastDocument
    checksum: str = Field(
        description="The SHA-256 of the other fields, as JSON with sorted keys, without spaces, in ASCII."
    )
