"""Events to frameworks and to operators (Mesos documentation, "Scheduler HTTP API" and "Operator HTTP API")."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fake_master.services import v1_messages
from fake_master.state import roles
from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import EventStream, Listener, SharedEvent
from fake_master.state.tasks import KnownTask, TaskStatus
from fake_master.state.visibility import Sight
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.messages.resources import list_to_json

HEARTBEAT_SECONDS = 15.0
_HEARTBEAT = SharedEvent({"type": "HEARTBEAT"})
_LOG = logging.getLogger(__name__)
Event = Mapping[str, Any]
Sent = TypeVar("Sent", Event, SharedEvent, bytes)


class EventPublisher:
    """Writes events to streams, and counts them for each framework.

    Events are sent in the middle of changes, so a failure to write one never stops the change: the subscriber is
    disconnected after it instead.
    """

    def __init__(self, state: MasterState) -> None:
        self._state = state

    # --- To one framework -----------------------------------------------------------------------------

    def subscribed(self, framework: KnownFramework) -> None:
        """Send the first event of a subscription, and the heartbeats that follow."""
        stream = framework.stream
        assert stream is not None, "a subscribed framework has a stream"
        framework.counts["calls/subscribe"] += 1
        self._to(
            framework,
            {
                "type": "SUBSCRIBED",
                "subscribed": {
                    "framework_id": {"value": framework.id},
                    "heartbeat_interval_seconds": HEARTBEAT_SECONDS,
                    "master_info": v1_messages.master_info(self._state),
                },
            },
        )
        # A driver is looked after by its connection, and a scheduler in this process needs nobody.
        if framework.pid is None and framework.scheduler is None:
            self.keep_alive(stream, framework)

    def keep_alive(self, stream: EventStream, framework: KnownFramework | None = None) -> None:
        """Send a heartbeat now, and every fifteen seconds until the stream is closed."""
        if stream.closed:
            return
        if framework is not None:
            framework.counts["events/heartbeat"] += 1
        self._write(stream, stream.send_shared, _HEARTBEAT)
        self._state.timers.at(self._state.now + HEARTBEAT_SECONDS, lambda: self.keep_alive(stream, framework))

    def offers(self, framework: KnownFramework, offers: Sequence[OutstandingOffer]) -> None:
        """Send one OFFERS event."""
        stream = framework.stream
        if stream is None:
            return
        if not stream.is_read:  # describing thousands of offers without subscribers would waste time
            framework.counts["events/offers"] += 1
            if framework.scheduler is not None:
                framework.scheduler.offered(offers)
            return
        state, capabilities = self._state, framework.capabilities
        described = [v1_messages.offer(state, offer, state.agents[offer.agent_id], capabilities) for offer in offers]
        self._to(framework, {"type": "OFFERS", "offers": {"offers": described}})

    def rescind(self, framework: KnownFramework, offer: OutstandingOffer) -> None:
        """Send RESCIND."""
        self._to(framework, {"type": "RESCIND", "rescind": {"offer_id": {"value": offer.id}}})

    def inverse_offers(self, framework: KnownFramework, agents: Mapping[str, str]) -> None:
        """Send one INVERSE_OFFERS event; `agents`: agent ids by inverse offer id."""
        described = [
            v1_messages.inverse_offer(self._state, framework, offer_id, self._state.agents[agent_id])
            for offer_id, agent_id in agents.items()
        ]
        self._to(framework, {"type": "INVERSE_OFFERS", "inverse_offers": {"inverse_offers": described}})

    def rescind_inverse_offer(self, framework: KnownFramework, offer_id: str) -> None:
        """Send RESCIND_INVERSE_OFFER."""
        self._to(
            framework,
            {"type": "RESCIND_INVERSE_OFFER", "rescind_inverse_offer": {"inverse_offer_id": {"value": offer_id}}},
        )

    def task_update(self, framework: KnownFramework, task: KnownTask, status: TaskStatus) -> None:
        """Send a status of a task."""
        scheduler = framework.scheduler
        if scheduler is None:
            self.update(framework, status.message(task))
        else:
            framework.counts["events/update"] += 1
            scheduler.updated(task, status)

    def update(self, framework: KnownFramework, status: Mapping[str, Any]) -> None:
        """Send a TaskStatus message, also of a task that is not known."""
        if framework.stream is not None:
            self._to(framework, {"type": "UPDATE", "update": {"status": status}})

    def operation(self, framework: KnownFramework, status: Mapping[str, Any]) -> None:
        """Send the status of an offer operation that has an id."""
        self._to(framework, {"type": "UPDATE_OPERATION_STATUS", "update_operation_status": {"status": status}})

    def message(self, framework: KnownFramework, agent_id: str, executor_id: str, data: str) -> None:
        """Send a message of an executor."""
        self._to(
            framework,
            {
                "type": "MESSAGE",
                "message": {"agent_id": {"value": agent_id}, "executor_id": {"value": executor_id}, "data": data},
            },
        )

    def failure(self, *agent_ids: str) -> None:
        """Tell every framework that agents are gone: one event for each agent."""
        for framework in self._state.frameworks.values():
            if framework.stream is not None and not framework.stream.is_read:  # thousands may be gone at once
                framework.counts["events/failure"] += len(agent_ids)
                continue
            for agent_id in agent_ids:
                self._to(framework, {"type": "FAILURE", "failure": {"agent_id": {"value": agent_id}}})

    def executor_failure(self, framework: KnownFramework, agent_id: str, executor_id: str, status: int) -> None:
        """Tell the framework that its executor has ended; `status` is as wait(2) returns it."""
        content = {"agent_id": {"value": agent_id}, "executor_id": {"value": executor_id}, "status": status}
        self._to(framework, {"type": "FAILURE", "failure": content})

    def error(self, stream: EventStream, message: str) -> None:
        """Send ERROR, and close the stream."""
        self.error_only(stream, message)
        stream.close()

    def error_only(self, stream: EventStream, message: str) -> None:
        """Send ERROR to a subscriber that closes its stream by itself."""
        self._write(stream, stream.send, {"type": "ERROR", "error": {"message": message}})

    def _to(self, framework: KnownFramework, event: Event) -> None:
        if framework.stream is not None:
            framework.counts[f"events/{event['type'].lower()}"] += 1
            self._write(framework.stream, framework.stream.send, event)

    def _write(self, stream: EventStream, send: Callable[[Sent], None], event: Sent) -> None:
        try:
            send(event)
        except Exception as error:  # noqa: BLE001  # one subscriber must not undo half of a change
            if not isinstance(error, BufferError):
                _LOG.exception("an event cannot be written, so its subscriber is disconnected")
            stream.close()
            self._state.timers.at(self._state.now, stream.lost)

    def anybody_hears(self, framework: KnownFramework) -> bool:
        """Whether anybody reads what is sent to a framework, or to operators about it."""
        return self.have_operators or (framework.stream is not None and framework.stream.is_read)

    # --- To every operator ----------------------------------------------------------------------------

    def add_operator(self, stream: EventStream, principal: str | None, subscribed: bytes) -> EventStream:
        """A new listener, whose first record is `subscribed`; the oldest is closed if there are too many."""
        listeners = self._state.operator_streams
        listeners[stream.id] = Listener(stream, principal)
        stream.on_abandon(lambda: self._forget_operator(stream))
        self._write(stream, stream.send_first, subscribed)
        while len(listeners) > self._state.flags.count("max_operator_event_stream_subscribers"):
            listeners.pop(next(iter(listeners))).stream.close()
        if "HEARTBEAT" in self._state.message("mesos.v1.master.Event").types:
            self.keep_alive(stream)
        return stream

    def _forget_operator(self, stream: EventStream) -> None:
        self._state.operator_streams.pop(stream.id, None)

    @property
    def have_operators(self) -> bool:
        """Whether any operator is subscribed, so that describing an event for them is worth its time."""
        return bool(self._state.operator_streams)

    def framework_changed(self, kind: str, framework: KnownFramework) -> None:
        """Send FRAMEWORK_ADDED, FRAMEWORK_UPDATED or FRAMEWORK_REMOVED to the operators who may see the framework."""
        if self.have_operators:
            content: Mapping[str, Any] = (
                {"framework_info": framework.info}
                if kind == "FRAMEWORK_REMOVED"
                else {"framework": v1_messages.framework_event(framework)}
            )
            self._operators(kind, lambda by: content if by.framework(framework) else None)

    def task_added(self, framework: KnownFramework, task: KnownTask) -> None:
        """Send TASK_ADDED to the operators who may see the task."""
        self._task("TASK_ADDED", framework, task, lambda: {"task": v1_messages.task(task)})

    def task_updated(self, framework: KnownFramework, task: KnownTask, status: TaskStatus) -> None:
        """Send TASK_UPDATED to the operators who may see the task."""

        def content() -> Mapping[str, Any]:
            return {"framework_id": {"value": framework.id}, "status": status.message(task), "state": task.state}

        self._task("TASK_UPDATED", framework, task, content)

    def _task(
        self, kind: str, framework: KnownFramework, task: KnownTask, describe: Callable[[], Mapping[str, Any]]
    ) -> None:
        if self.have_operators:
            content = describe()
            self._operators(kind, lambda by: content if by.framework(framework) and by.task(framework, task) else None)

    def agent_added(self, agent: KnownAgent, added: Mapping[str, Any]) -> None:
        """Send AGENT_ADDED to all operators; `added` comes from an extension.

        Only the total resources are those that each may see: a real master leaves the others as they are, `agent_info`
        too (GET_AGENTS leaves out of all what is not to be seen).
        """
        if self.have_operators:
            state, texts = self._state, dict[tuple[str, ...], Mapping[str, Any]]()
            whole = v1_messages.agent(agent, state.offered_on(agent.id), added=added)
            owners = sorted({level.role for entry in agent.total for level in entry.reservations})

            def describe(by: Sight) -> Mapping[str, Any]:
                sees = roles.sees(state, by.principal)
                seen = tuple(filter(sees, ["*", *owners]))
                if seen not in texts:
                    visible = list_to_json(roles.seen(agent.whole, sees), "ENDPOINT")
                    texts[seen] = {"agent": {**whole, "total_resources": visible}}
                return texts[seen]

            self._operators("AGENT_ADDED", describe)

    def agent_removed(self, agent: KnownAgent) -> None:
        """Send AGENT_REMOVED to all operators."""
        content = {"agent_id": {"value": agent.id}}
        self._operators("AGENT_REMOVED", lambda _by: content)

    def _operators(self, kind: str, content: Callable[[Sight], Mapping[str, Any] | None]) -> None:
        """Send one event to every subscribed operator for whom there is any content, written once for like contents."""
        event = IdentityCache(lambda told: SharedEvent({"type": kind, kind.lower(): told}))
        for listener in list(self._state.operator_streams.values()):
            told = content(Sight(self._state.flags.authorizer, listener.principal))
            if told is not None:
                self._write(listener.stream, listener.stream.send_shared, event.of(told))
