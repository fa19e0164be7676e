"""Frameworks, tasks, executors and operations as the calls GET_FRAMEWORKS, GET_TASKS and so on show them.

Each framework is written once, and again when one of its parts is another object: see `response_cache`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fake_master.http.views.frameworks import task_parts, visible
from fake_master.http.writing.response_cache import Parts, texts
from fake_master.http.writing.text import ResourceTexts, Written, dumps, written
from fake_master.services import descriptions
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import Task


def frameworks(state: MasterState, runtime: AgentRuntime, principal: str | None) -> Written:
    """Return the answer of GET_FRAMEWORKS for a principal."""

    def parts(of: Framework) -> Parts:
        # Whatever is shown of an agent with an offer, and of its maintenance.
        agents = [state.agents[offer.agent_id] for offer in of.offers.values()]
        spans = map(state.maintenance.unavailability, agents)
        return (
            *(of.info, of.offer_constraints, of.active, of.connected, of.recovered),
            *(of.registered_time, of.reregistered_time, of.unregistered_time, of.used(), of.offered()),
            *of.offers.values(),
            *[agent.revision for agent in agents],
            *spans,
        )

    def view(of: Framework) -> dict[str, Any]:
        return descriptions.framework(state, of, runtime.describe_framework(of), ResourceTexts().listed)

    def array(kind: str, some: Iterable[Framework]) -> Written:
        shown = visible(state, principal, some)
        if runtime.shows_more:  # what a framework is owed can change while its own parts are the same
            return Written((dumps([view(of) for of in shown]),))
        return texts(state, f"{kind} described that {principal!r} sees").array(shown, parts, view)

    return written(
        {
            "frameworks": array("frameworks", state.frameworks.values()),
            "completed_frameworks": array("completed frameworks", state.completed_frameworks.values()),
        }
    )


def tasks(state: MasterState, principal: str | None) -> Written:
    """Return the answer of GET_TASKS for a principal."""
    shown = visible(state, principal, [*state.frameworks.values(), *state.completed_frameworks.values()])

    def array(kind: str, held: Callable[[Framework], Iterable[Task]]) -> Written:
        def view(of: Framework) -> Iterable[Mapping[str, Any]]:
            listed = ResourceTexts().listed
            return (descriptions.task(task, listed) for task in held(of))

        kept = texts(state, f"{kind} that {principal!r} sees")
        return kept.concatenated(shown, lambda of: tuple(task_parts(held(of))), view)

    return written(
        {
            "tasks": array("tasks", lambda of: of.tasks.values()),
            "unreachable_tasks": array("unreachable tasks", lambda of: of.unreachable_tasks.values()),
            "completed_tasks": array("completed tasks", lambda of: of.completed_tasks),
        }
    )


def executors(state: MasterState, principal: str | None) -> Written:
    """Return the answer of GET_EXECUTORS for a principal."""

    def view(of: Framework) -> Iterable[Mapping[str, Any]]:
        for executor in of.executors.values():
            yield {"executor_info": descriptions.executor(executor), "agent_id": {"value": executor.agent_id}}

    kept = texts(state, f"executors that {principal!r} sees")
    shown = visible(state, principal, state.frameworks.values())
    return written({"executors": kept.concatenated(shown, lambda of: tuple(of.executors.values()), view)})


def operations(state: MasterState) -> Written:
    """Return the answer of GET_OPERATIONS."""
    waiting = state.operations

    def answer() -> Written:
        return written({"operations": [one.message() for one in waiting.values()]} if waiting else {})

    return texts(state, "operations").whole(waiting.values, answer)
