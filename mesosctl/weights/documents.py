"""The JSON of `weights -o json`, as models; see `show.document`."""

from typing import Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored


class Weight(Mirrored):
    """A weight that was set; every other role has weight 1."""

    role: str
    weight: float


class WeightList(Document):
    """`weights` and `weights list`; jsonl writes one of `weights` per line."""

    kind: Literal["weights.list"] = "weights.list"
    weights: list[Weight]


class WeightChange(Mirrored):
    """One weight that was set."""

    role: str
    before: float
    after: float
    confirmed: bool = Field(description="Whether it was read back.")


class WeightChanges(Document):
    """`weights set`; jsonl writes one of `changes` per line, without weights that the roles already had."""

    kind: Literal["weights.changes"] = "weights.changes"
    changes: list[WeightChange]
