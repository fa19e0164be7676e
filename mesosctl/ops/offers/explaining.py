"""`offers explain`: every reason for which a role of a framework may get no offers, with its figures."""

from collections.abc import Mapping
from dataclasses import dataclass

from mesosctl.client.master import Master
from mesosctl.core.errors import NotFound
from mesosctl.core.offers import Explanation
from mesosctl.core.standing import RoleUsage
from mesosctl.core.suggestion import did_you_mean
from mesosctl.ops.offers import lending, reasons
from mesosctl.ops.offers.scene import Scene
from mesosctl.ops.quota.state import read_if_allowed, read_quotas
from mesosctl.wire import answers
from mesosctl.wire.agent_standing import standings
from mesosctl.wire.framework_standing import FrameworkStanding, frameworks


@dataclass(frozen=True, slots=True)
class _Subject:
    framework: FrameworkStanding
    role: str


def explain(master: Master, target: str) -> list[Explanation]:
    """Each role of a framework (by id or name), or each framework of a role.  Raises NotFound."""
    known = frameworks(master.get("/frameworks"))
    subjects = _subjects(known, target)
    agents, awaited = standings(master.get("/slaves"))
    usage: Mapping[str, RoleUsage] = read_if_allowed(master, "/roles", answers.roles, "quota is not looked at") or {}
    figures = read_if_allowed(master, "/metrics/snapshot", _numbers, "what only metrics tell is left out")
    flags = read_if_allowed(master, "/flags", _flags, "the master's minimum is taken to be the default")
    tenants = lending.tenants_if_any(master, flags or {}, known)
    quotas = read_quotas(master) if usage else {}
    return [
        Explanation(
            framework_id=subject.framework.id,
            framework=subject.framework.name,
            role=subject.role,
            offers=subject.framework.offers.get(subject.role, 0),
            reasons=reasons.all_reasons(
                Scene(
                    framework=subject.framework,
                    role=subject.role,
                    everybody=known,
                    agents=agents,
                    awaited=awaited,
                    usage=usage,
                    quotas=quotas,
                    figures=figures,
                    flags=flags or {},
                    tenants=tenants,
                )
            ),
        )
        for subject in subjects
    ]


def _subjects(known: list[FrameworkStanding], target: str) -> list[_Subject]:
    """At least one.  Raises NotFound."""
    named = [framework for framework in known if target in (framework.id, framework.name)]
    if named:
        found = [_Subject(framework, role) for framework in named for role in framework.roles]
    else:
        found = [_Subject(framework, target) for framework in known if target in framework.roles]
    if found:
        return found
    if named:
        raise NotFound(
            f"the framework '{target}' is subscribed to no role, and so is offered nothing",
            hint="it subscribes to roles with SUBSCRIBE or UPDATE_FRAMEWORK",
        )
    raise NotFound(
        f"'{target}' is neither a framework nor a role with frameworks",
        field="ROLE|FRAMEWORK",
        hint=did_you_mean(
            target,
            [name for one in known for name in (*one.roles, one.name, one.id)],
            "name a framework by its name or id, or a role that a framework is subscribed to",
        ),
    )


def _numbers(answer: object) -> dict[str, float]:
    if not isinstance(answer, dict):
        raise answers.wrong(answer, "an object", "metrics")
    return {str(name): float(value) for name, value in answer.items() if isinstance(value, int | float)}


def _flags(answer: object) -> dict[str, str]:
    flags = answer.get("flags") if isinstance(answer, dict) else None
    if not isinstance(flags, dict):
        raise answers.wrong(flags, "an object", "flags")
    return {str(name): str(value) for name, value in flags.items()}
