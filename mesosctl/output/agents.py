"""Agents that are taken out of service and back, as reports."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.model.notation import listed
from mesosctl.model.reservations.holdings import ServiceChange
from mesosctl.output.formats.amounts import amounts_text
from mesosctl.output.formats.report import NOTHING, Column, Report, Verdict
from mesosctl.output.reservations import agent_id_column
from mesosctl.planning.displacement import DrainPlan, RunningTask

if TYPE_CHECKING:
    from mesosctl.output.json_documents import agents as documents


def drain_plan(plan: DrainPlan) -> Report:
    """Agents that leave, what ends there, and which tasks would fit on no other agent."""

    def items() -> "list[documents.LeavingAgent]":
        from mesosctl.output.json_documents import agents

        return [
            agents.LeavingAgent.of(
                agent,
                tasks=len(plan.tasks_on(agent)),
                without_room=_by_framework(plan.stranded_on(agent)),
            )
            for agent in plan.agents
        ]

    def document() -> "documents.DrainPlanDocument":
        from mesosctl.output.json_documents import agents

        return agents.DrainPlanDocument(agents=items())

    columns = (
        Column("AGENT"),
        Column("STATUS", rank=1),
        Column("TASKS", kind="number"),
        Column("USED", kind="amounts"),
        Column("NO ROOM ELSEWHERE", kind="sentence"),
        agent_id_column(plan.agents),
    )
    rows = [
        [
            agent.hostname,
            agent.status,
            str(len(plan.tasks_on(agent))),
            amounts_text(agent.used.quantities()),
            listed([f"{count} of {name}" for name, count in _by_framework(plan.stranded_on(agent)).items()]) or NOTHING,
            agent.id,
        ]
        for agent in plan.agents
    ]
    verdicts = [_room(plan.tasks, plan.stranded)] if plan.tasks else []
    return Report(columns, rows, [agent.id for agent in plan.agents], document, items, verdicts=verdicts)


def _by_framework(tasks: Sequence[RunningTask]) -> dict[str, int]:
    """How many of the tasks each framework has, by name; a forecast does not know their ids."""
    return dict(sorted(Counter(task.framework for task in tasks).items()))


def _room(tasks: Sequence[RunningTask], stranded: Sequence[RunningTask]) -> Verdict:
    if not stranded:
        all_ = "the task fits" if len(tasks) == 1 else f"all {len(tasks)} tasks fit"
        return Verdict(f"{all_} on other agents as they are now", "met")
    fit = "fits" if len(stranded) == 1 else "fit"
    return Verdict(f"{len(stranded)} of {len(tasks)} tasks {fit} on no other agent as they are now", "not met")


def service_changes(changes: Sequence[ServiceChange]) -> Report:
    """Agents, and the status that they have after a change."""

    def items() -> "list[documents.ServiceChange]":
        from mesosctl.output.json_documents import agents

        return [agents.ServiceChange.of(change) for change in changes]

    def document() -> "documents.ServiceChanges":
        from mesosctl.output.json_documents import agents

        return agents.ServiceChanges(changes=items())

    columns = (
        Column("AGENT"),
        Column("STATUS"),
        Column("SENT", wide=True),
        Column("CONFIRMED", wide=True),
        agent_id_column([change.agent for change in changes]),
    )
    rows = [
        [one.agent.hostname, one.status, "yes" if one.sent else "no", "yes" if one.confirmed else "no", one.agent.id]
        for one in changes
    ]
    done = "; ".join(f"agent {one.agent.name} is {one.status}" for one in changes)
    return Report(columns, rows, [one.agent.id for one in changes], document, items, done=done)
