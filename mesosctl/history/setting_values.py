"""The values of settings as a recording keeps them: the documented JSON of quotas, weights and rate limits; lending."""

import json
import math
from collections.abc import Iterable

from mesosctl.history.records import SettingKind
from mesosctl.mesos.amounts.quantities import Quota, to_milli, to_number

Amounts = dict[str, int]


def quota_value(role: str, quota: Quota) -> str:
    """QuotaConfig."""
    config: dict[str, object] = {"role": role}
    for key, amounts in (("guarantees", quota.guarantees), ("limits", quota.limits)):
        config[key] = {name: {"value": to_number(value)} for name, value in amounts.items()}
    return json.dumps(config)


def quota_amounts(value: str) -> tuple[Amounts, Amounts]:
    """The guarantees and the limits of a recorded quota, in thousandths."""
    config = json.loads(value)
    guarantees, limits = (
        {name: to_milli(amount["value"]) for name, amount in config.get(key, {}).items()}
        for key in ("guarantees", "limits")
    )
    return guarantees, limits


def weight_value(role: str, weight: float) -> str:
    """WeightInfo."""
    return json.dumps({"role": role, "weight": weight})


def lending_value(names: Iterable[str]) -> str:
    """The resources that a master lends."""
    return json.dumps({"names": sorted(names)})


def lent_names(value: str) -> frozenset[str]:
    """The names of the resources that a master lends."""
    names = json.loads(value)["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError("the names of resources are not a list of texts")
    return frozenset(names)


def out_of_service_value(*, known: bool) -> str:
    """The value of an agent that is out of service, or of which nobody knows whether it is."""
    return json.dumps({"known": known})


def is_known(value: str) -> bool:
    """Whether an agent is known to be out of service."""
    known = json.loads(value)["known"]
    if not isinstance(known, bool):
        raise TypeError("known is neither true nor false")
    return known


def check_value(kind: SettingKind, value: str) -> None:
    """Raise ValueError, TypeError, KeyError or AttributeError for a value that is not of its kind."""
    if kind == "quota":
        quota_amounts(value)
        return
    if kind == "lending":
        lent_names(value)
        return
    if kind == "out of service":
        is_known(value)
        return
    read = json.loads(value)
    if kind == "weight":
        if not math.isfinite(read["weight"]):
            raise ValueError("a weight is not a number")
    elif kind == "rate limits":
        for limit in read.get("limits") or ():
            if not isinstance(limit["principal"], str):
                raise TypeError("a rate limit has no principal")
