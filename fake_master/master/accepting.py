"""ACCEPT: operations and tasks upon offers (spec/endpoints.md §5, spec/reservation.md §6.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.master.agents import Agent
from fake_master.master.frameworks import Framework
from fake_master.master.offers import Offer
from fake_master.master.tasks import Executor, Task
from mesosctl.core import operations as rules
from mesosctl.core.errors import Conflict, MesosctlError, RuleViolation
from mesosctl.core.operations import Conversion
from mesosctl.core.resources import Resource, Resources
from mesosctl.core.scalars import to_milli
from mesosctl.wire.resources import to_core

if TYPE_CHECKING:
    from fake_master.master.state import Master

_LAUNCHES = ("LAUNCH", "LAUNCH_GROUP")


@dataclass(slots=True)
class _Ground:
    """What the operations of one ACCEPT stand on: the offers' sum, changing from one to the next."""

    framework: Framework
    agent: Agent
    role: str
    left: Resources
    """Allocated to `role`: what later operations may still use."""
    untouched: Resources
    """The part of `left` that no operation has converted."""


def accept(
    master: "Master",
    framework: Framework,
    offer_ids: Sequence[str],
    operations: Sequence[Mapping[str, Any]],
    refuse_seconds: float | None,
) -> None:
    """Run every operation in order; what is left goes back, untouched parts with the call's filter."""
    offers = [master.offers.get(offer_id) for offer_id in offer_ids]
    problem = _offers_problem(master, framework, offer_ids, offers)
    if problem is not None:
        _refuse_all(master, framework, [offer for offer in offers if offer is not None], operations, problem)
        return
    valid = [offer for offer in offers if offer is not None]
    if not valid:
        return
    offered = Resources()
    for offer in valid:
        master.offers.discard(offer)
        offered += offer.resources
    framework.counts["offers/accepted"] += len(valid)
    ground = _Ground(framework, master.agents[valid[0].agent_id], valid[0].role, offered, offered)
    for operation in operations:
        framework.counts[f"operations/{operation['type'].lower()}"] += 1
        try:
            if operation["type"] in _LAUNCHES:
                _launch(master, ground, operation)
            else:
                _convert(master, ground, operation)
        except (MesosctlError, ValueError) as error:
            _drop(master, framework, operation, str(error))
    _give_back(master, ground, refuse_seconds)


def decline(master: "Master", framework: Framework, offer_ids: Sequence[str], refuse_seconds: float | None) -> None:
    """DECLINE: what is not (or no longer) offered to this framework is passed over."""
    for offer_id in offer_ids:
        offer = framework.offers.get(offer_id)
        if offer is not None:
            framework.counts["offers/declined"] += 1
            master.offers.take_back(offer, _filter(refuse_seconds))


def _filter(refuse_seconds: float | None) -> float:
    return DEFAULT_REFUSE_SECONDS if refuse_seconds is None else refuse_seconds


def _offers_problem(
    master: "Master", framework: Framework, offer_ids: Sequence[str], offers: Sequence[Offer | None]
) -> str | None:
    if len(set(offer_ids)) != len(offer_ids):
        return "Duplicate offer in offer list"
    agents, offered_roles = set(), set()
    for offer_id, offer in zip(offer_ids, offers, strict=True):
        if offer is None:
            return f"Offer {offer_id} is no longer valid"
        if offer.framework_id != framework.id:
            return f"Offer {offer_id} belongs to another framework"
        agents.add(offer.agent_id)
        offered_roles.add(offer.role)
    if len(offered_roles) > 1:
        return "Aggregated offers must be allocated to the same role"
    if len(agents) > 1:
        return "Aggregated offers must belong to one single agent"
    if agents and not master.agents[next(iter(agents))].connected:
        return "The agent of the offer is disconnected"
    return None


def _refuse_all(
    master: "Master",
    framework: Framework,
    offers: Sequence[Offer],
    operations: Sequence[Mapping[str, Any]],
    problem: str,
) -> None:
    for offer in {offer.id: offer for offer in offers if offer.framework_id == framework.id}.values():
        master.offers.take_back(offer)
    state = "TASK_DROPPED" if "PARTITION_AWARE" in framework.capabilities else "TASK_LOST"
    for operation in operations:
        if operation["type"] in _LAUNCHES:
            for info in _task_infos(operation):
                master.task_runner.refuse(
                    framework, info, state, "REASON_INVALID_OFFERS", f"Task launched with invalid offers: {problem}"
                )
        else:
            _drop(master, framework, operation, problem)


def _drop(master: "Master", framework: Framework, operation: Mapping[str, Any], problem: str) -> None:
    """An operation that is not done is told of only if it has an id."""
    if "id" in operation:
        master.tell.operation(
            framework, {"operation_id": operation["id"], "state": "OPERATION_ERROR", "message": problem}
        )


def _give_back(master: "Master", ground: _Ground, refuse_seconds: float | None) -> None:
    """Two recoveries in one bracket: converted without a filter, untouched with the call's."""
    converted = ground.left - ground.untouched
    allocator = master.allocator
    allocator.pause()
    if len(converted):
        allocator.recover_resources(ground.framework.id, ground.agent.id, converted)
    if len(ground.untouched):
        allocator.recover_resources(ground.framework.id, ground.agent.id, ground.untouched, _filter(refuse_seconds))
    allocator.resume()


# --- RESERVE, UNRESERVE, CREATE, DESTROY, GROW_VOLUME, SHRINK_VOLUME ----------------------------------


def _convert(master: "Master", ground: _Ground, operation: Mapping[str, Any]) -> None:
    """Check, and convert the agent, the allocator and the ground.  Raises RuleViolation, Conflict, Forbidden."""
    conversions = _conversions(master, ground, operation)
    allocated = [
        Conversion(step.consumed.allocated_to(ground.role), step.converted.allocated_to(ground.role))
        for step in conversions
    ]
    left = rules.apply_all(ground.left, allocated)
    master.allocator.update_allocation(ground.framework.id, ground.agent.id, ground.left, allocated)
    for step in allocated:
        ground.untouched = ground.untouched - step.consumed
    ground.left = left
    master.agent_was_converted(ground.agent, conversions)


def _conversions(master: "Master", ground: _Ground, operation: Mapping[str, Any]) -> list[Conversion]:
    kind = operation["type"]
    body = operation.get(kind.lower())
    if body is None:
        raise RuleViolation(f"Expecting '{kind.lower()}' to be present")
    requester = rules.Requester(
        principal=ground.framework.principal,
        framework_roles=ground.framework.roles,
        offer_role=ground.role,
        may_share="SHARED_RESOURCES" in ground.framework.capabilities,
    )
    principal = ground.framework.principal
    if kind in ("RESERVE", "UNRESERVE"):
        resources = _entries(body.get("resources", ()), ground.role)
        if kind == "UNRESERVE":
            rules.check_unreserve(resources, requester)
            master.access.may_unreserve(principal, resources)
            return rules.unreserve(_plain(resources))
        if body.get("source"):
            raise RuleViolation("Reservation updates are not yet implemented for the scheduler API.")
        rules.check_reserve(resources, requester, agent_capabilities=ground.agent.capabilities)
        master.access.may_reserve(principal, resources)
        return rules.reserve(_plain(resources))
    if kind in ("CREATE", "DESTROY"):
        volumes = _entries(body.get("volumes", ()), ground.role)
        if kind == "CREATE":
            rules.check_create(
                volumes, requester, existing=ground.agent.volumes(), agent_capabilities=ground.agent.capabilities
            )
            master.access.may_create(principal, volumes)
            return rules.create(_plain(volumes))
        rules.check_destroy(volumes, existing=ground.agent.volumes(), in_use=master.used_on(ground.agent.id))
        master.access.may_destroy(principal, volumes)
        return rules.destroy(_plain(volumes))
    if kind == "GROW_VOLUME":
        volume, addition = _plain(_entries((body["volume"], body["addition"]), ground.role))
        return rules.grow(volume, addition)
    if kind == "SHRINK_VOLUME":
        (volume,) = _plain(_entries((body["volume"],), ground.role))
        return rules.shrink(volume, to_milli(body["subtract"]["value"]))
    raise RuleViolation(f"Operation {kind} is not supported")


def _entries(messages: Sequence[Mapping[str, Any]], role: str) -> list[Resource]:
    """Resources of a framework's operation; the offer's role is understood where none is named."""
    found = [to_core(message, f"resources[{index}]") for index, message in enumerate(messages)]
    return [replace(entry, allocation_role=entry.allocation_role or role) for entry in found]


def _plain(resources: Sequence[Resource]) -> Resources:
    return Resources(resources).allocated_to(None)


# --- LAUNCH and LAUNCH_GROUP --------------------------------------------------------------------------


def _task_infos(operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if operation["type"] == "LAUNCH":
        return list(operation.get("launch", {}).get("task_infos", ()))
    return list(operation.get("launch_group", {}).get("task_group", {}).get("tasks", ()))


def _launch(master: "Master", ground: _Ground, operation: Mapping[str, Any]) -> None:
    """Each task on its own; of a group all or none."""
    infos = _task_infos(operation)
    shared = operation.get("launch_group", {}).get("executor")
    if operation["type"] == "LAUNCH_GROUP":
        problem = next(filter(None, (_task_problem(ground, info, shared) for info in infos)), None)
        if problem is not None:
            for info in infos:
                _task_error(master, ground, info, problem)
            return
    for info in infos:
        executor = shared or info.get("executor")
        problem = _task_problem(ground, info, executor)
        if problem is not None:
            _task_error(master, ground, info, problem)
            continue
        _start(master, ground, info, executor)


def _task_problem(ground: _Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> str | None:
    task_id = info["task_id"]["value"]
    if not task_id or "/" in task_id or task_id in (".", ".."):
        return f"Task ID '{task_id}' is invalid"
    if task_id in ground.framework.tasks:
        return f"Task has duplicate ID: {task_id}"
    if info["agent_id"]["value"] != ground.agent.id:
        return f"Task uses invalid agent {info['agent_id']['value']} while agent {ground.agent.id} is expected"
    if executor is None and "command" not in info:
        return "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
    try:
        wanted = _needed(ground, info, executor)
    except (RuleViolation, Conflict) as error:
        return f"Task uses invalid resources: {error.message}"
    for name in {resource.name for resource in wanted}:
        if len({resource.revocable for resource in wanted if resource.name == name}) > 1:
            return f"Task (with its executor) mixes revocable and non-revocable {name}"
    if not ground.left.contains(wanted):
        return f"Total resources {wanted} required by task and its executor is more than available {ground.left}"
    return None


def _needed(ground: _Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> Resources:
    """What the task takes, with its executor's part unless that runs already."""
    wanted = Resources(_entries(info.get("resources", ()), ground.role))
    if not len(wanted):
        raise RuleViolation("a task needs resources")
    if executor is not None and not _runs_already(ground, executor):
        wanted += Resources(_entries(executor.get("resources", ()), ground.role))
    return wanted


def _runs_already(ground: _Ground, executor: Mapping[str, Any]) -> bool:
    return (ground.agent.id, executor["executor_id"]["value"]) in ground.framework.executors


def _task_error(master: "Master", ground: _Ground, info: Mapping[str, Any], problem: str) -> None:
    master.task_runner.refuse(ground.framework, info, "TASK_ERROR", "REASON_TASK_INVALID", problem)


def _start(master: "Master", ground: _Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> None:
    held = _needed(ground, info, executor)
    own = Resources(_entries(info.get("resources", ()), ground.role))
    made = None
    if executor is not None and not _runs_already(ground, executor):
        made = Executor(
            id=executor["executor_id"]["value"],
            framework_id=ground.framework.id,
            agent_id=ground.agent.id,
            info=executor,
            resources=held - own,
        )
    task = Task(
        id=info["task_id"]["value"],
        framework_id=ground.framework.id,
        agent_id=ground.agent.id,
        info=info,
        resources=own,
        role=ground.role,
        executor_id=executor["executor_id"]["value"] if executor is not None else "",
    )
    ground.left -= held
    ground.untouched -= held
    master.allocator.transition_offered_to_allocated(ground.agent.id, held)
    master.task_runner.launch(ground.framework, task, made)
