"""Steps of a plan as JSON, for the journal.  Amounts are whole thousandths, so that nothing is rounded."""

from collections.abc import Mapping
from typing import Any

from mesosctl.core.quantities import Limits, Quantities, Quota
from mesosctl.core.resources import Resources
from mesosctl.core.wanted_plan import QuotaStep, Step, WeightsStep
from mesosctl.core.wanted_reservations import ReservationStep
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, list_to_json, to_core


def to_json(step: Step) -> dict[str, Any]:
    """One step."""
    if isinstance(step, QuotaStep):
        return {
            "kind": "quota",
            "role": step.role,
            "before": _quota_to_json(step.before),
            "after": _quota_to_json(step.after),
        }
    if isinstance(step, WeightsStep):
        return {"kind": "weights", "before": dict(step.before), "after": dict(step.after)}
    return {
        "kind": step.deed,
        "agent_id": step.agent_id,
        "hostname": step.hostname,
        **{key: list_to_json(getattr(step, key), "POST") for key in ("resources", "before", "after")},
    }


def from_json(value: Mapping[str, Any]) -> Step:
    """The step again.  Raises KeyError, TypeError or ValueError where it is none."""
    if value["kind"] == "quota":
        return QuotaStep(str(value["role"]), _quota(value["before"]), _quota(value["after"]))
    if value["kind"] == "weights":
        return WeightsStep(dict(value["before"]), dict(value["after"]))
    if value["kind"] not in ("reserved", "unreserved"):
        raise ValueError(f"'{value['kind']}' is no kind of step")
    parts = {
        key: Resources(to_core(read(RESOURCE, entry)) for entry in value[key])
        for key in ("resources", "before", "after")
    }
    return ReservationStep(str(value["agent_id"]), str(value["hostname"]), value["kind"], **parts)


def _quota_to_json(quota: Quota | None) -> dict[str, Any] | None:
    return None if quota is None else {"guarantees": dict(quota.guarantees), "limits": dict(quota.limits)}


def _quota(value: Mapping[str, Any] | None) -> Quota | None:
    return None if value is None else Quota(Quantities(value["guarantees"]), Limits(value["limits"]))
