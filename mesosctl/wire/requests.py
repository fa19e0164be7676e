"""The documented JSON of quota as it is sent (seeds/quota.md, spec/quota.md §3 and §8).

Pydantic checks each payload once more before it leaves, by schemas that say what `wire.models` say: those are read
from files, and building them takes longer than all the rest of a change.  Tests hold the two together.
"""

from collections.abc import Mapping
from typing import Any

from pydantic_core import CoreSchema, SchemaValidator, to_json
from pydantic_core import core_schema as schema

from mesosctl.core.quantities import Limits, Quantities, Quota
from mesosctl.core.scalars import to_double


def _object(fields: Mapping[str, CoreSchema]) -> CoreSchema:
    """An object with all of these fields, and with no other."""
    return schema.typed_dict_schema(
        {name: schema.typed_dict_field(kind, required=True) for name, kind in fields.items()}, extra_behavior="forbid"
    )


_TEXT = schema.str_schema(strict=True)
_SWITCH = schema.bool_schema(strict=True)
_SCALAR = _object({"value": schema.float_schema(strict=True, allow_inf_nan=False)})
_RESOURCE = _object({"name": _TEXT, "type": schema.literal_schema(["SCALAR"]), "scalar": _SCALAR})
_AMOUNTS = schema.dict_schema(_TEXT, _SCALAR)
_QUOTA_REQUEST = _object({"role": _TEXT, "guarantee": schema.list_schema(_RESOURCE), "force": _SWITCH})
_QUOTA_CONFIG = _object({"role": _TEXT, "guarantees": _AMOUNTS, "limits": _AMOUNTS})
_UPDATE_QUOTA = _object({"force": _SWITCH, "quota_configs": schema.list_schema(_QUOTA_CONFIG)})


def quota_request(role: str, guarantees: Quantities, *, force: bool) -> bytes:
    """The body of POST /quota that asks for these amounts."""
    return _checked(_QUOTA_REQUEST, _request(role, guarantees, force=force))


def set_quota_call(role: str, guarantees: Quantities, *, force: bool) -> bytes:
    """The v1 call SET_QUOTA."""
    request = _object({"quota_request": _QUOTA_REQUEST})
    return _call("SET_QUOTA", "set_quota", request, {"quota_request": _request(role, guarantees, force=force)})


def update_quota_call(quotas: Mapping[str, Quota], *, force: bool) -> bytes:
    """The v1 call UPDATE_QUOTA, which makes all of these quotas or none."""
    configs = [
        {"role": role, "guarantees": _scalars(quota.guarantees), "limits": _scalars(quota.limits)}
        for role, quota in quotas.items()
    ]
    return _call("UPDATE_QUOTA", "update_quota", _UPDATE_QUOTA, {"force": force, "quota_configs": configs})


def _request(role: str, guarantees: Quantities, *, force: bool) -> dict[str, Any]:
    entries = [
        {"name": name, "type": "SCALAR", "scalar": {"value": to_double(milli)}} for name, milli in guarantees.items()
    ]
    return {"role": role, "guarantee": entries, "force": force}


def _scalars(amounts: Quantities | Limits) -> dict[str, dict[str, float]]:
    return {name: {"value": to_double(milli)} for name, milli in amounts.items()}


def _call(kind: str, part: str, shape: CoreSchema, value: dict[str, Any]) -> bytes:
    """A v1 call, whose one part is named in small letters."""
    return _checked(_object({"type": schema.literal_schema([kind]), part: shape}), {"type": kind, part: value})


def _checked(shape: CoreSchema, value: dict[str, Any]) -> bytes:
    """The value as JSON.  What is not as documented is a mistake of our own, and so no error for people."""
    return to_json(SchemaValidator(shape).validate_python(value))
