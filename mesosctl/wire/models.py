"""The documented JSON of quota in a file that an operator wrote (seeds/quota.md, spec/quota.md §3, §4 and §8).

Imported only where there is such a file: the import costs more than everything else in a listing.
What is sent is written by `wire.requests`, and what a master answers is read by `wire.answers`.
"""

import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.quantities import Limits, Quantities
from mesosctl.core.quota import DesiredQuota
from mesosctl.core.resource import Resource as CoreResource
from mesosctl.core.scalars import parse_amount
from mesosctl.wire.decoding import ConversionError, decode
from mesosctl.wire.json_faults import why_broken
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core

Model = TypeVar("Model", bound=BaseModel)


def _not_a_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a boolean is not a number")  # noqa: TRY004  # pydantic reports only ValueError
    return value


def _as_a_master_reads_it(value: Any) -> Any:
    """A master takes a boolean in quotes, and neither yes nor 1."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


Double = Annotated[float, BeforeValidator(_not_a_boolean), Field(allow_inf_nan=False)]
Switch = Annotated[bool, Field(strict=True), BeforeValidator(_as_a_master_reads_it)]


class _Documented(BaseModel):
    """A part of a payload: a master ignores a key that it does not know; here it is refused, as it may be misspelt."""

    # A command uses one or two of these; the others need not be built.
    model_config = ConfigDict(extra="forbid", defer_build=True)


class Scalar(_Documented):
    """An amount."""

    value: Double


class Resource(_Documented):
    """One resource.  The fields after `scalar` are known so that a rule can name them; quota allows none."""

    name: str
    type: Literal["SCALAR", "RANGES", "SET", "TEXT"]
    scalar: Scalar | None = None
    role: str | None = None
    ranges: dict[str, Any] | None = None
    set_: dict[str, Any] | None = Field(default=None, alias="set")
    reservation: dict[str, Any] | None = None
    reservations: list[dict[str, Any]] | None = None
    allocation_info: dict[str, Any] | None = None
    disk: dict[str, Any] | None = None
    revocable: dict[str, Any] | None = None
    shared: dict[str, Any] | None = None
    provider_id: dict[str, Any] | None = None

    def to_core(self, field: str) -> CoreResource:
        """The value it means.  Raises RuleViolation or BadInput naming `field`; nothing is rounded."""
        if self.scalar is not None:
            _milli(self.name, self.scalar, f"{field}.scalar.value")
        try:
            return to_core(read(RESOURCE, self.model_dump(exclude_none=True, by_alias=True), field), field)
        except ConversionError as error:
            raise BadInput(str(error), field=error.path or field) from None


class QuotaRequest(_Documented):
    """The body of POST /quota, and `quota_request` of SET_QUOTA."""

    role: str = ""
    guarantee: list[Resource] = Field(default_factory=list)
    force: Switch = False

    def to_core(self) -> list[CoreResource]:
        """The guarantee, entry by entry.  Raises RuleViolation naming the field."""
        for index, entry in enumerate(self.guarantee):
            for name in ("allocation_info", "provider_id"):
                if getattr(entry, name) is not None:
                    raise RuleViolation(
                        f"{entry.name} carries {name}, and quota counts plain amounts only",
                        field=f"guarantee[{index}].{name}",
                        rule="quota.plain-amounts",
                    )
        return [entry.to_core(f"guarantee[{index}]") for index, entry in enumerate(self.guarantee)]


class QuotaConfig(_Documented):
    """What a role is guaranteed and limited to; a name without an entry is neither.

    A part that is left out stays as it is (`core.quota.DesiredQuota`), and an empty one is none.
    """

    role: str
    guarantees: dict[str, Scalar] | None = None
    limits: dict[str, Scalar] | None = None

    def to_core(self) -> DesiredQuota:
        """The quota that is desired.  Raises RuleViolation; nothing is rounded."""
        try:
            return DesiredQuota(
                None if self.guarantees is None else Quantities(_exact(self.guarantees, "guarantees")),
                None if self.limits is None else Limits(_exact(self.limits, "limits")),
            )
        except RuleViolation as error:
            error.role = self.role
            raise


class UpdateQuota(_Documented):
    """`update_quota` of the v1 call; all configurations are taken, or none."""

    force: Switch = False
    quota_configs: list[QuotaConfig] = Field(default_factory=list)


class UpdateQuotaCall(_Documented):
    """The v1 call UPDATE_QUOTA."""

    type: Literal["UPDATE_QUOTA"] = "UPDATE_QUOTA"
    update_quota: UpdateQuota


def _exact(amounts: dict[str, Scalar], field: str) -> dict[str, int]:
    return {name: _milli(name, scalar, f"{field}.{name}.value") for name, scalar in amounts.items()}


def _milli(name: str, scalar: Scalar, field: str) -> int:
    """Thousandths, exactly.  Raises RuleViolation naming the place in the JSON rather than a word to type."""
    try:
        return parse_amount(name, repr(scalar.value))
    except RuleViolation as error:
        error.field = field
        raise


def read_quota_request(text: bytes | str) -> QuotaRequest:
    """The documented JSON of POST /quota.  Raises BadInput, naming the field."""
    return _validate(QuotaRequest, _decode(text))


def read_update_quota(text: bytes | str) -> UpdateQuota:
    """The documented JSON of UPDATE_QUOTA: the whole call, its `update_quota`, or one configuration."""
    value = _decode(text)
    if isinstance(value, dict) and "update_quota" in value:
        return _validate(UpdateQuotaCall, value).update_quota
    if isinstance(value, dict) and "quota_configs" not in value:
        return UpdateQuota(quota_configs=[_validate(QuotaConfig, value)])
    return _validate(UpdateQuota, value)


def _decode(text: bytes | str) -> Any:
    try:
        value = decode(text)
        json.loads(text, object_pairs_hook=_each_once)
    except (ConversionError, RecursionError, ValueError) as error:  # the second reader is the stricter one
        said = text if isinstance(text, str) else text.decode(errors="replace")
        raise BadInput(f"the payload is not JSON: {why_broken(said, error)}") from None
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    """An object may say a thing once: which of two a reader believes is anybody's guess.  Raises BadInput."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise BadInput(f"the key '{key}' stands twice in one object of the payload", field=key)
        seen.add(key)


_SAID = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such key",
    "string_type": "it should be a string",
    "float_type": "it should be a number",
    "float_parsing": "it should be a number",
    "finite_number": "it should be a finite number",
    "bool_type": "it should be true or false",
    "bool_parsing": "it should be true or false",
    "list_type": "it should be an array",
    "dict_type": "it should be an object",
    "model_type": "it should be an object",
    "value_error": "it should be a number, not a boolean",
}
"""What kind of mistake it is, in words that need no knowledge of the library that found it."""


def _said(error: Any) -> str:
    if error["type"] == "literal_error":
        return f"it should be {error['ctx']['expected']}"
    return _SAID.get(error["type"], "it is not what belongs there")


def _validate(model: type[Model], value: Any) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        raise BadInput(
            f"the payload is not as documented: {field or 'the top'}: {_said(first)}", field=field or None
        ) from None
