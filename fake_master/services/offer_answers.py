"""ACCEPT and DECLINE: operations and tasks on offers (Mesos documentation, "Scheduler HTTP API").

The allocator keeps the filter that a refusal asks for: `allocator/hierarchical/offer_filters.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import sub
from typing import Any

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, Allocator
from fake_master.services.accept_context import AcceptContext, entries, problem_of_other_bodies
from fake_master.services.agents.checkpointed_resources import CheckpointedResources
from fake_master.services.launch import LAUNCHES, TaskLauncher, task_infos
from fake_master.services.offers import Offers
from fake_master.services.operation_updates import OperationUpdates
from fake_master.services.task_updates import TaskUpdates
from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.tasks import KnownTask, TaskState
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.quantities import to_milli
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import MesosctlError, RuleViolation
from mesosctl.mesos.rules.reservations import operations as operations_model
from mesosctl.mesos.rules.reservations.operations import (
    Conversion,
    check_create,
    check_destroy,
    check_grow,
    check_shrink,
    looked_for,
)
from mesosctl.mesos.rules.reservations.rules import Requester, check_reserve, check_unreserve

_rests = IdentityCache(sub)
"""The rests of offers: local schedulers launch tasks of the same resources from thousands of them."""
# What these convert is not there for later operations of the same ACCEPT.
_RESIZES = ("GROW_VOLUME", "SHRINK_VOLUME")


class OfferAnswers:
    """Carries out ACCEPT and DECLINE."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        offers: Offers,
        launcher: TaskLauncher,
        checkpointed_resources: CheckpointedResources,
        task_updates: TaskUpdates,
        operation_updates: OperationUpdates,
    ) -> None:
        self._state = state
        self._allocator = allocator
        self._offers = offers
        self._launcher = launcher
        self._checkpointed_resources = checkpointed_resources
        self._task_updates = task_updates
        self._operation_updates = operation_updates

    def accept(
        self,
        framework: KnownFramework,
        offer_ids: Sequence[str],
        operations: Sequence[Mapping[str, Any]],
        refuse_seconds: float | None,
    ) -> None:
        """Run every operation in order; the rest is returned, untouched parts with the call's filter."""
        self._count_launches(operations)
        offers = [self._state.offers.get(offer_id) for offer_id in offer_ids]
        problem = self._offers_problem(framework, offer_ids, offers)
        if problem is not None:
            self._refuse_all(framework, [offer for offer in offers if offer is not None], operations, problem)
            return
        valid = [offer for offer in offers if offer is not None]
        offered = Resources()
        for offer in valid:
            self._offers.discard(offer)
            offered += offer.resources
        framework.counts["offers/accepted"] += len(valid)
        context = AcceptContext(
            framework,
            self._state.agents[valid[0].agent_id],
            valid[0].role,
            offered,
            knows_throttling=self._state.revocability.throttles,
            release=self._state.profile.release,
            launches_ids_once=self._state.profile.launches_ids_once,
        )
        for operation in operations:
            if self._perform(context, operation):
                framework.counts[f"operations/{operation['type'].lower()}"] += 1
        self._give_back(context, offered, refuse_seconds)

    def launch(self, framework: KnownFramework, offer_id: str, tasks: Sequence[KnownTask], held: Resources) -> None:
        """ACCEPT of a local scheduler: launch tasks, which together hold `held`, from one offer.

        The rest of the offer can be offered again at once.
        """
        self._state.counts["messages_launch_tasks"] += 1
        offer = self._state.offers.get(offer_id)
        problem = self._offers_problem(framework, (offer_id,), (offer,))
        if problem is not None or offer is None:
            if offer is not None and offer.framework_id == framework.id:
                self._offers.take_back(offer)
            for task in tasks:
                self._refuse_launch(
                    framework, {"task_id": {"value": task.id}, "agent_id": {"value": task.agent_id}}, problem
                )
            return
        self._offers.discard(offer)
        framework.counts["offers/accepted"] += 1
        self._launcher.launch_alike(framework, tasks, held)
        framework.counts["operations/launch"] += 1
        left = _rests.of(offer.resources, held)
        if len(left):
            self._allocator.pause()
            self._allocator.recover_resources(framework.id, offer.agent_id, left, 0.0)
            self._allocator.resume()

    def _perform(self, context: AcceptContext, operation: Mapping[str, Any]) -> bool:
        """Perform one operation; return whether anything came of it."""
        if operation["type"] in LAUNCHES:
            return self._launcher.launch(context, operation)
        try:
            conversions = self._convert(context, operation)
        except MesosctlError as error:
            self._operation_updates.refused(context.framework, operation, str(error))
            return False
        # The agent may answer within `convert`, and its answer is for an operation that was sent.
        arrived = self._operation_updates.sent(context, operation)
        self._checkpointed_resources.convert(context.agent, conversions, arrived)
        return True

    def _count_launches(self, operations: Sequence[Mapping[str, Any]]) -> None:
        """The master's oldest counters know LAUNCH alone, and one without tasks as a way of declining."""
        for operation in operations:
            if operation["type"] == "LAUNCH":
                launches = bool(task_infos(operation))
                self._state.counts["messages_launch_tasks" if launches else "messages_decline_offers"] += 1

    def decline(self, framework: KnownFramework, offer_ids: Sequence[str], refuse_seconds: float | None) -> None:
        """DECLINE; offers that are not, or no longer, this framework's are ignored."""
        for offer_id in offer_ids:
            offer = framework.offers.get(offer_id)
            if offer is not None:
                framework.counts["offers/declined"] += 1
                self._offers.take_back(offer, _filter(refuse_seconds))

    def _offers_problem(
        self, framework: KnownFramework, offer_ids: Sequence[str], offers: Sequence[OutstandingOffer | None]
    ) -> str | None:
        if len(set(offer_ids)) != len(offer_ids):
            return "Duplicate offer in offer list"
        if not offers:
            return "No offers specified"
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
        if agents and not self._state.agents[next(iter(agents))].connected:
            return "The agent of the offer is disconnected"
        return None

    def _refuse_all(
        self,
        framework: KnownFramework,
        offers: Sequence[OutstandingOffer],
        operations: Sequence[Mapping[str, Any]],
        problem: str,
    ) -> None:
        for offer in {offer.id: offer for offer in offers if offer.framework_id == framework.id}.values():
            self._offers.take_back(offer)
        for operation in operations:
            if operation["type"] in LAUNCHES:
                for info in task_infos(operation):
                    self._refuse_launch(framework, info, problem)
            else:
                self._operation_updates.refused(
                    framework, operation, f"Operation attempted with invalid offers: {problem}"
                )

    def _refuse_launch(self, framework: KnownFramework, info: Mapping[str, Any], problem: str | None) -> None:
        state: TaskState = "TASK_DROPPED" if framework.is_partition_aware else "TASK_LOST"
        message = f"Task launched with invalid offers: {problem}"
        self._task_updates.refuse(framework, info, state, "REASON_INVALID_OFFERS", message)

    def _give_back(self, context: AcceptContext, offered: Resources, refuse_seconds: float | None) -> None:
        """Return what is left to the allocator: converted resources without a filter, all others with that of the call.

        The filter is for all of it in releases where not `converted_comes_back_at_once`.
        Resources that were converted and converted back count as the rest. Of what a SHRINK_VOLUME frees, a master
        loses sight as far as the offer had the like: that stays allocated to the framework until it is gone, or for
        ever (`framework_leaves_nothing`).  With disk:4 beside a volume of 10 in the offer, a shrink by 3 leaves disk:4
        and the volume of 7, and disk:3 beside them: converted are the volume of 7 and disk:3, disk:4 is untouched.
        """
        converted = context.left + context.resized - offered
        untouched = context.left - converted
        if not self._state.profile.converted_comes_back_at_once:
            converted, untouched = Resources(), untouched + converted
        self._allocator.pause()
        if len(converted):
            self._allocator.recover_resources(context.framework.id, context.agent.id, converted)
        if len(untouched):
            self._allocator.recover_resources(
                context.framework.id, context.agent.id, untouched, _filter(refuse_seconds)
            )
        self._allocator.resume()

    def _convert(self, context: AcceptContext, operation: Mapping[str, Any]) -> list[Conversion]:
        """Check an operation, apply it to the allocator and the context, and return it for the agent.

        Raises RuleViolation, Conflict or Forbidden.
        """
        if (problem := problem_of_other_bodies(operation, context.release)) is not None:
            raise RuleViolation(problem)
        conversions = self._conversions(context, operation)
        self._checkpointed_resources.check(context.agent, conversions)
        allocated = [
            Conversion(
                step.consumed.allocated_to(context.role),
                step.converted.allocated_to(context.role),
                nothing=None if step.nothing is None else step.nothing.with_allocation_role(context.role),
            )
            for step in conversions
        ]
        left = operations_model.apply_all(context.left, allocated)
        if operation["type"] in _RESIZES:
            (step,) = allocated
            left = context.left - step.consumed
            context.resized += step.converted
        if operation["type"] == "DESTROY":
            self._rescind_offers_of(context.agent, allocated)
        self._allocator.update_allocation(context.framework.id, context.agent.id, context.left, allocated)
        context.left = left
        if operation["type"] in ("CREATE", "DESTROY"):
            context.note_shared()
        return conversions

    def _rescind_offers_of(self, agent: KnownAgent, conversions: Sequence[Conversion]) -> None:
        """Rescind the offers of an agent that hold a shared volume which is about to be destroyed.

        A master compares allocation roles too, so offers to roles below that of the volume stay.
        """
        for offer in self._state.offers.on_agent(agent.id):
            if any(offer.resources.contains(step.consumed) for step in conversions):
                self._offers.rescind(offer)

    def _conversions(self, context: AcceptContext, operation: Mapping[str, Any]) -> list[Conversion]:
        kind = operation["type"]
        if "id" in operation and self._state.profile.operations_with_ids != "done":
            raise RuleViolation("Operation requested feedback, but the agent has no capability for it")
        if kind in ("CREATE_DISK", "DESTROY_DISK"):
            raise RuleViolation("'source' is not managed by a resource provider")
        body = operation.get(kind.lower())
        if body is None:
            raise RuleViolation(f"Expecting '{kind.lower()}' to be present")
        requester = Requester(
            principal=context.framework.principal,
            framework_roles=context.framework.roles,
            offer_role=context.role,
            may_share="SHARED_RESOURCES" in context.framework.capabilities,
        )
        principal = context.framework.principal
        if kind in ("RESERVE", "UNRESERVE"):
            resources = _offered(body.get("resources", ()), context)
            if kind == "UNRESERVE":
                check_unreserve(resources, self._state.profile)
                self._state.access.may_unreserve(principal, resources)
                return operations_model.unreserve(map(_alone, looked_for(resources, self._state.profile)))
            if body.get("source"):
                raise RuleViolation("Reservation updates are not yet implemented for the scheduler API.")
            check_reserve(
                resources,
                requester,
                agent_capabilities=context.agent.capabilities,
                profile=self._state.profile,
            )
            self._state.access.may_reserve(principal, resources)
            one_by_one = self._state.profile.reserves_one_by_one
            return operations_model.reserve(map(_alone, resources), one_by_one=one_by_one)
        if kind in ("CREATE", "DESTROY"):
            volumes = _offered(body.get("volumes", ()), context)
            if kind == "CREATE":
                check_create(
                    volumes,
                    requester,
                    existing=context.agent.volumes(),
                    agent_capabilities=context.agent.capabilities,
                    profile=self._state.profile,
                )
                self._state.access.may_create(principal, volumes)
                return operations_model.create(map(_alone, looked_for(volumes, self._state.profile)))
            check_destroy(
                volumes,
                existing=context.agent.volumes(),
                in_use=self._state.used_on(context.agent.id),
                profile=self._state.profile,
            )
            self._state.access.may_destroy(principal, volumes)
            return operations_model.destroy(map(_alone, looked_for(volumes, self._state.profile)))
        if kind == "GROW_VOLUME":
            volume, addition = map(_alone, _offered((body["volume"], body["addition"]), context))
            check_grow(volume, addition)
            self._state.access.may_resize(principal, volume)
            return operations_model.grow(volume, addition)
        if kind == "SHRINK_VOLUME":
            (volume,) = map(_alone, _offered((body["volume"],), context))
            try:
                subtract = to_milli(body["subtract"]["value"])
            except ValueError as error:
                raise RuleViolation(str(error)) from None
            check_shrink(volume, subtract)
            self._state.access.may_resize(principal, volume)
            return operations_model.shrink(volume, subtract)
        raise RuleViolation(f"Operation {kind} is not supported")


def _filter(refuse_seconds: float | None) -> float:
    return DEFAULT_REFUSE_SECONDS if refuse_seconds is None else refuse_seconds


def _offered(messages: Sequence[Mapping[str, Any]], context: AcceptContext) -> list[Resource]:
    """Return the resources that an operation names.  Raises RuleViolation if their role is not that of the offer."""
    found = entries(messages, context)
    for entry in found:
        if entry.allocation_role != context.role:
            raise RuleViolation(f"{entry.in_words} is not allocated to the role of the offer, '{context.role}'")
    return found


def _alone(resource: Resource) -> Resource:
    """One resource as an agent has it, also if it is none of anything."""
    return replace(resource, allocation_role=None)
