"""The JSON of `wait`, as models; see `show.document`."""

from typing import Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored


class ConditionState(Mirrored):
    """A condition, and what the master showed when all of them held."""

    condition: str = Field(description="As it was written.")
    holds: bool
    shows: str = Field(description="What the master showed, for people.")


class WaitDocument(Document):
    """`wait`; jsonl writes one of `conditions` per line."""

    kind: Literal["wait"] = "wait"
    conditions: list[ConditionState]
