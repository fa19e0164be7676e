"""The JSON of several forecasts in one answer, as models."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from mesosctl.model.quantities import to_double
from mesosctl.output.documents.forecast import ForecastDocument
from mesosctl.output.documents.quota import Document, Strict
from mesosctl.planning import alternatives as values


class Alternative(Strict):
    """One change, and what it would do."""

    change: str
    forecast: ForecastDocument

    @classmethod
    def of(cls, value: values.Alternative) -> Self:
        """Make it from the value."""
        return cls(change=value.change, forecast=ForecastDocument.of(value.forecast, []))


class Alternatives(Document):
    """`whatif --each`."""

    kind: Literal["alternatives"] = "alternatives"
    alternatives: list[Alternative]

    @classmethod
    def of(cls, several: Sequence[values.Alternative]) -> Self:
        """Make it from the values."""
        return cls(alternatives=[Alternative.of(one) for one in several])


class LargestChange(Document):
    """`whatif --find-largest`."""

    kind: Literal["largest-change"] = "largest-change"
    question: str
    resource: str
    largest: float | None = Field(description="The amount; null where even the smallest is refused or starves a role.")
    precision: float = Field(description="The step between amounts that were tried.")
    tried: int = Field(description="Forecasts that were made.")
    best: Alternative | None = Field(description="The forecast of the largest amount.")
    beyond: Alternative | None = Field(
        description="The forecast of the next larger amount; null where the largest is all that the agents have."
    )

    @classmethod
    def of(cls, found: values.LargestChange) -> Self:
        """Make it from the value."""
        return cls(
            question=found.template.word,
            resource=found.template.resource,
            largest=None if found.largest is None else to_double(found.largest),
            precision=to_double(found.precision),
            tried=found.tried,
            best=None if found.best is None else Alternative.of(found.best),
            beyond=None if found.beyond is None else Alternative.of(found.beyond),
        )
