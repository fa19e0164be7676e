"""A master's answers, as values of the model; and the answer of GET /quota, which a registry alone can give.

These are plain functions, so that a list does not have to load models: unknown keys are ignored, what is missing counts
as empty, and a value of the wrong type raises UnexpectedAnswer naming its path. Tests compare them with models of the
documented JSON.
"""

from collections.abc import Mapping
from typing import Any

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, to_milli
from mesosctl.mesos.cluster.role_status import RoleUsage
from mesosctl.mesos.errors import RuleViolation, UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json.messages import INFINITE
from mesosctl.mesos.rules.version_profile import Profile


def version(answer: Any) -> str:
    """`GET /version`: the version, "1.11.0"."""
    return _text(_object(answer, "").get("version"), "version")


def git_tag(answer: Any) -> str:
    """`GET /version`: the tag of its build, "" if it shows none."""
    tag = _object(answer, "").get("git_tag")
    return tag if isinstance(tag, str) else ""


def quotas(answer: Any) -> dict[str, Quota]:
    """Read `GET /quota`: every role with an entry, sorted; a default `Quota` for an empty entry."""
    top = _answer(answer, "infos", "configs")
    infos, configs = Once(), Once()
    guarantees: dict[str, dict[str, int]] = {}
    for index, info in enumerate(_list(top.get("infos"), "infos")):
        where = f"infos[{index}]"
        entry = _object(info, where)
        role = infos.take(_text(entry.get("role"), f"{where}.role"), f"{where}.role")
        guarantees[role], names = {}, Once()
        for i, resource in enumerate(_list(entry.get("guarantee"), f"{where}.guarantee")):
            name, amount = _scalar_resource(resource, f"{where}.guarantee[{i}]")
            guarantees[role][names.take(name, f"{where}.guarantee[{i}].name")] = amount
    limits: dict[str, dict[str, int]] = {}
    for index, config in enumerate(_list(top.get("configs"), "configs")):
        where = f"configs[{index}]"
        entry = _object(config, where)
        role = configs.take(_text(entry.get("role"), f"{where}.role"), f"{where}.role")
        limits[role] = _scalars(entry.get("limits"), f"{where}.limits")
        guaranteed = _scalars(entry.get("guarantees"), f"{where}.guarantees")
        if "guarantees" in entry and Quantities(guarantees.get(role, guaranteed)) != Quantities(guaranteed):
            raise contradiction(f"role '{role}' has another guarantee in 'infos'", f"{where}.guarantees")
        guarantees.setdefault(role, guaranteed)
    return {role: Quota(Quantities(guarantees[role]), Limits(limits.get(role, {}))) for role in sorted(guarantees)}


def quota_status(stored: Mapping[str, Mapping[str, Any]], profile: Profile) -> dict[str, Any]:
    """Write `GET /quota`, of guarantees, limits and, if they are kept, entries by role; {} if nothing is set."""
    if not stored:
        return {}
    answer: dict[str, Any] = {"infos": [_quota_info(role, quota, profile) for role, quota in stored.items()]}
    has_limits = any(quota["limits"] for quota in stored.values())
    if profile.configs_shown == "always" or (profile.configs_shown == "with limits" and has_limits):
        answer["configs"] = [_quota_config(role, quota) for role, quota in stored.items()]
    return answer


def _quota_info(role: str, quota: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    if quota.get("entries") is not None:
        setter = {"principal": quota["principal"]} if "principal" in quota else {}
        return {"role": role, **setter, "guarantee": list(quota["entries"])}
    extra = {"role": "*"} if profile.guarantee_shows_role else {}
    guarantees = quota["guarantees"].items()
    guarantee = [{"name": name, "type": "SCALAR", "scalar": {"value": value}, **extra} for name, value in guarantees]
    return {"role": role, "guarantee": guarantee} if guarantee else {"role": role}


def _quota_config(role: str, quota: Mapping[str, Any]) -> dict[str, Any]:
    config: dict[str, Any] = {"role": role}
    for key in ("guarantees", "limits"):
        if quota[key]:
            config[key] = {name: {"value": value} for name, value in quota[key].items()}
    return config


def roles(answer: Any) -> dict[str, RoleUsage]:
    """`GET /roles`: what each known role holds."""
    found: dict[str, RoleUsage] = {}
    names = Once()
    for index, element in enumerate(_list(_answer(answer, "roles").get("roles"), "roles")):
        where = f"roles[{index}]"
        entry = _object(element, where)
        quota = _object(entry.get("quota"), f"{where}.quota")
        found[names.take(_text(entry.get("name"), f"{where}.name"), f"{where}.name")] = RoleUsage(
            consumed=_amounts(quota["consumed"], f"{where}.quota.consumed") if "consumed" in quota else None,
            allocated=_amounts(entry.get("allocated"), f"{where}.allocated"),
            offered=_amounts(entry.get("offered"), f"{where}.offered"),
            reserved=_amounts(entry.get("reserved"), f"{where}.reserved"),
            frameworks=len(_list(entry.get("frameworks"), f"{where}.frameworks")),
            weight=_weight(entry.get("weight", 1.0), f"{where}.weight"),
        )
    return found


def quota_of_role(answer: Any, role: str) -> Quota:
    """`GET /roles`: the quota of one role; none before Mesos 1.9, and for a role that is not shown."""
    for index, element in enumerate(_list(_answer(answer, "roles").get("roles"), "roles")):
        where = f"roles[{index}]"
        entry = _object(element, where)
        if entry.get("name") == role:
            quota = _object(entry.get("quota"), f"{where}.quota")
            guarantee, limit = (
                {
                    name: _milli(amount, f"{where}.quota.{part}.{name}")
                    for name, amount in _object(quota.get(part), f"{where}.quota.{part}").items()
                }
                for part in ("guarantee", "limit")
            )
            return Quota(Quantities(guarantee), Limits(limit))
    return Quota()


def weights(answer: Any) -> dict[str, float]:
    """`GET /weights`: what is configured, sorted; every other role has weight 1."""
    found, names = {}, Once()
    for index, info in enumerate(_list(answer, "weights")):
        entry = _object(info, f"[{index}]")
        role = names.take(_text(entry.get("role"), f"[{index}].role"), f"[{index}].role")
        found[role] = _weight(entry.get("weight"), f"[{index}].weight")
    return dict(sorted(found.items()))


def allocation_runs(answer: Any) -> list[float]:
    """`GET /allocation-runs` of the fake master: the times of allocation runs, in seconds since 1970."""
    shown = _list(_answer(answer, "allocation_runs").get("allocation_runs"), "allocation_runs")
    return [_number(at, f"allocation_runs[{index}]") for index, at in enumerate(shown)]


def flags(answer: Any) -> dict[str, str]:
    """`GET /flags`: every flag as text."""
    shown = _object(_answer(answer, "flags").get("flags"), "flags")
    return {name: _text(value, f"flags.{name}") for name, value in shown.items()}


def whitelist(answer: Any) -> frozenset[str] | None:
    """`GET /flags`: the roles of `--roles`, or None if there is no whitelist."""
    flags = _object(_answer(answer, "flags").get("flags"), "flags")
    if "roles" not in flags:
        return None
    return frozenset(role.strip() for role in _text(flags["roles"], "flags.roles").split(",") if role.strip())


def shows_everything(answer: Any) -> bool:
    """`GET /flags`: whether this master has no authorizer, so that everybody sees everything."""
    flags = _object(_answer(answer, "flags").get("flags"), "flags")
    return flags.get("authorizers") == "local" and "acls" not in flags


def _scalar_resource(value: Any, where: str) -> tuple[str, int]:
    entry = _object(value, where)
    scalar = _object(entry.get("scalar"), f"{where}.scalar")
    return _text(entry.get("name"), f"{where}.name"), _milli(scalar.get("value"), f"{where}.scalar.value")


def _scalars(value: Any, where: str) -> dict[str, int]:
    """A map from names to `{"value": amount}`."""
    return {
        name: _milli(_object(scalar, f"{where}.{name}").get("value"), f"{where}.{name}.value")
        for name, scalar in _object(value, where).items()
    }


def _amounts(value: Any, where: str) -> Quantities:
    """A map from names to amounts; the text form of ranges and sets, before 1.9, is left out."""
    return Quantities(
        {
            name: _milli(amount, f"{where}.{name}")
            for name, amount in _object(value, where).items()
            if not isinstance(amount, str)
        }
    )


def _milli(value: Any, where: str) -> int:
    try:
        amount = to_milli(_number(value, where))
    except ValueError as error:
        raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=where) from None
    if amount < 0:
        raise UnexpectedAnswer(f"the master's answer is not as documented: {value} is below zero", field=where)
    return amount


def _weight(value: Any, where: str) -> float:
    weight = _number(value, where)
    if not weight > 0:
        raise UnexpectedAnswer(
            f"the master's answer is not as documented: the weight {value} is not above zero", field=where
        )
    return weight


def _number(value: Any, where: str) -> float:
    if isinstance(value, str) and value in INFINITE:
        return INFINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, "a number", where)
    return float(value)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise wrong(value, "a string", where)
    return value


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if value is None and where:
        return {}
    if not isinstance(value, dict):
        raise wrong(value, "an object", where)
    return value


def _answer(value: Any, *parts: str) -> Mapping[str, Any]:
    """An answer that has one of these parts, or nothing: anything else is the answer to another request."""
    found = _object(value, "")
    if found and not any(part in found for part in parts):
        raise UnexpectedAnswer(
            f"the master's answer is not as documented: it has no {' or '.join(parts)}, as if it came from "
            "another server"
        )
    return found


def _list(value: Any, where: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong(value, "a list", where)
    return value


NATURAL = (RuleViolation, KeyError, TypeError, ValueError, AttributeError)
"""The exceptions that an undocumented answer raises if it was not checked before."""


def text(value: Any) -> str:
    """A text, such as a name or an id.  Raises ValueError, one of `NATURAL`, for everything else."""
    if isinstance(value, str):
        return value
    raise ValueError(f"expected a string, got {_kind(value)}")


def texts(value: Any) -> tuple[str, ...]:
    """A list of them.  Raises ValueError."""
    if not isinstance(value, list):
        raise ValueError(f"expected a list, got {_kind(value)}")  # noqa: TRY004  # a TypeError is Python's own
    return tuple(map(text, value))


def contradiction(sentence: str, where: str) -> UnexpectedAnswer:
    """The error for an answer whose parts cannot all be true."""
    return UnexpectedAnswer(f"the master's answer contradicts itself: {sentence}", field=where)


class Once:
    """The names in a list in which each may be only once: adding one up twice would share out what is not there."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str, where: str) -> str:
        """The name.  Raises UnexpectedAnswer if it was there before."""
        if name in self._taken:
            raise contradiction(f"'{name}' is in the list twice", where)
        self._taken.add(name)
        return name


def undocumented(error: Exception, where: str) -> UnexpectedAnswer:
    """The sentence for one of `NATURAL`, raised while the value at `where` was read."""
    field: str | None = where
    if isinstance(error, RuleViolation):
        told, field = error.message, error.field or where
    elif isinstance(error, KeyError):
        told = f"it has no '{error.args[0]}'"
    else:
        told = str(error)
    return UnexpectedAnswer(f"the master's answer is not as documented: {told}", field=field)


def wrong(value: Any, expected: str, where: str) -> UnexpectedAnswer:
    """The error for a value of the wrong type at `where` ("infos[0].role")."""
    return UnexpectedAnswer(
        f"the master's answer is not as documented: {expected} expected at {where or 'the top level'}, got "
        f"{_kind(value)}",
        field=where or None,
    )


def _kind(value: Any) -> str:
    found = {type(None): "nothing", str: "a string", bool: "a boolean", list: "a list", dict: "an object"}
    return found.get(type(value), "a number")
