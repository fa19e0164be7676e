"""`offers explain`: reads what there is to know, and names the reasons."""

from collections.abc import Mapping
from dataclasses import dataclass

from mesosctl.api import responses
from mesosctl.api.agents import agent_usages
from mesosctl.api.frameworks import FrameworkStatus, frameworks
from mesosctl.client.master import Master
from mesosctl.model.errors import NotFound
from mesosctl.model.offers.offers import Explanation
from mesosctl.model.quota.status import RoleUsage
from mesosctl.model.roles import did_you_mean
from mesosctl.operations import offer_context
from mesosctl.operations.offer_context import OfferContext
from mesosctl.operations.offer_reasons import all_reasons
from mesosctl.operations.quota.state import read_if_allowed, read_quotas


@dataclass(frozen=True, slots=True)
class _Subject:
    framework: FrameworkStatus
    role: str


def explain(master: Master, target: str) -> list[Explanation]:
    """Each role of a framework (by id or name), or each framework of a role.  Raises NotFound."""
    known = frameworks(master.get("/frameworks"))
    subjects = _subjects(known, target)
    agents, awaited = agent_usages(master.get("/slaves"))
    usage: Mapping[str, RoleUsage] = read_if_allowed(master, "/roles", responses.roles, "quota is left out") or {}
    figures = read_if_allowed(master, "/metrics/snapshot", _numbers, "reasons that only metrics show are left out")
    flags = read_if_allowed(master, "/flags", _flags, "the master's minimum offer is assumed to be the default")
    revocable_tasks = offer_context.revocable_tasks_if_any(master, flags or {}, known)
    quotas = read_quotas(master) if usage else {}
    return [
        Explanation(
            framework_id=subject.framework.id,
            framework=subject.framework.name,
            role=subject.role,
            offers=subject.framework.offers.get(subject.role, 0),
            reasons=all_reasons(
                OfferContext(
                    framework=subject.framework,
                    role=subject.role,
                    everybody=known,
                    agents=agents,
                    awaited=awaited,
                    usage=usage,
                    quotas=quotas,
                    figures=figures,
                    flags=flags or {},
                    revocable_tasks=revocable_tasks,
                )
            ),
        )
        for subject in subjects
    ]


def _subjects(known: list[FrameworkStatus], target: str) -> list[_Subject]:
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
            f"the framework '{target}' is not subscribed to any role, so it is offered nothing",
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
        raise responses.wrong(answer, "an object", "metrics")
    return {str(name): float(value) for name, value in answer.items() if isinstance(value, int | float)}


def _flags(answer: object) -> dict[str, str]:
    flags = answer.get("flags") if isinstance(answer, dict) else None
    if not isinstance(flags, dict):
        raise responses.wrong(flags, "an object", "flags")
    return {str(name): str(value) for name, value in flags.items()}
