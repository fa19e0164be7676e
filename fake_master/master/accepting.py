"""ACCEPT: operations and tasks upon offers (spec/endpoints.md §5, spec/reservation.md §6.1)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.master.converting import convert
from fake_master.master.frameworks import Framework
from fake_master.master.ground import Ground
from fake_master.master.launching import LAUNCHES, launch, task_infos
from fake_master.master.offers import Offer
from mesosctl.core.errors import MesosctlError
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.master import Master


def accept(
    master: "Master",
    framework: Framework,
    offer_ids: Sequence[str],
    operations: Sequence[Mapping[str, Any]],
    refuse_seconds: float | None,
) -> None:
    """Run every operation in order; what is left goes back, untouched parts with the call's filter."""
    _count_launches(master, operations)
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
    ground = Ground(framework, master.agents[valid[0].agent_id], valid[0].role, offered, knows_throttling=master.lends)
    for operation in operations:
        if _perform(master, ground, operation):
            framework.counts[f"operations/{operation['type'].lower()}"] += 1
    _give_back(master, ground, offered, refuse_seconds)


def _perform(master: "Master", ground: Ground, operation: Mapping[str, Any]) -> bool:
    """One operation; whether anything came of it."""
    if operation["type"] in LAUNCHES:
        return launch(master, ground, operation)
    try:
        convert(master, ground, operation)
    except (MesosctlError, ValueError) as error:
        master.operation_updates.refused(ground.framework, operation, str(error))
        return False
    master.operation_updates.finished(ground, operation)
    return True


def _count_launches(master: "Master", operations: Sequence[Mapping[str, Any]]) -> None:
    """The master's oldest counters know LAUNCH alone, and one without tasks as a way of declining."""
    for operation in operations:
        if operation["type"] == "LAUNCH":
            launches = bool(task_infos(operation))
            master.counts["messages_launch_tasks" if launches else "messages_decline_offers"] += 1


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
    state = "TASK_DROPPED" if framework.is_partition_aware else "TASK_LOST"
    for operation in operations:
        if operation["type"] in LAUNCHES:
            for info in task_infos(operation):
                master.task_updates.refuse(
                    framework, info, state, "REASON_INVALID_OFFERS", f"Task launched with invalid offers: {problem}"
                )
        else:
            master.operation_updates.refused(
                framework, operation, f"Operation attempted with invalid offers: {problem}"
            )


def _give_back(master: "Master", ground: Ground, offered: Resources, refuse_seconds: float | None) -> None:
    """Two recoveries in one bracket: converted without a filter, the rest of `offered` with the call's.

    What was converted and back again is as it was offered.
    """
    converted = ground.left - offered
    untouched = ground.left - converted
    converted += ground.resized
    allocator = master.allocator
    allocator.pause()
    if len(converted):
        allocator.recover_resources(ground.framework.id, ground.agent.id, converted)
    if len(untouched):
        allocator.recover_resources(ground.framework.id, ground.agent.id, untouched, _filter(refuse_seconds))
    allocator.resume()
