"""The body of POST /quota, which sets the quota of one role."""

from typing import Literal, Self

from pydantic import Field

from mesosctl.mesos.amounts.quantities import Limits, Quantities, parse_amount, to_shown
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.base_model import Bool, MesosModel, Scalar


class GuaranteedAmount(MesosModel):
    """One entry of a guarantee: a Resource message of which quota allows the plain amount, and nothing more."""

    name: str = Field(min_length=1)
    type: Literal["SCALAR"]
    scalar: Scalar
    role: Literal["*"] | None = None


class QuotaRequest(MesosModel):
    """The body of POST /quota, and `quota_request` of SET_QUOTA."""

    role: str = ""
    guarantee: list[GuaranteedAmount] = Field(default=[])  # which pydantic copies
    force: Bool = False

    @classmethod
    def of(cls, role: str, guarantees: Quantities, *, force: bool) -> Self:
        """The request for these amounts."""
        amounts = [
            GuaranteedAmount(name=name, type="SCALAR", scalar=scalar) for name, scalar in scalars(guarantees).items()
        ]
        return cls(role=role, guarantee=amounts, force=force)

    def to_model(self) -> list[Resource]:
        """The guarantee, entry by entry.  Raises RuleViolation naming the field; nothing is rounded."""
        return [
            Resource(entry.name, thousandths(entry.name, entry.scalar, f"guarantee[{index}].scalar.value"))
            for index, entry in enumerate(self.guarantee)
        ]


def scalars(amounts: Quantities | Limits) -> dict[str, Scalar]:
    """Amounts as messages, by name."""
    return {name: Scalar(value=to_shown(milli)) for name, milli in amounts.items()}


def thousandths(name: str, scalar: Scalar, field: str) -> int:
    """The amount in a message, exactly.  Raises RuleViolation, which names the place in the JSON."""
    try:
        return parse_amount(name, repr(scalar.value))
    except RuleViolation as error:
        error.field = field
        raise
