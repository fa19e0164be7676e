"""One operation on agents: checked, sent once, then confirmed on the master and on the agent.

202 means that the master has accepted it, not that the agent has done it: the message to the agent may be lost, and the
agent may fail (Mesos documentation, "Reservation", "/reserve").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mesosctl.changes.back_off import BackOff
from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import AcceptedOperation, ExpectedResources, OperationKind, RegisteredAgent
from mesosctl.mesos.errors import Conflict, Denied, MesosctlError, NotConfirmed
from mesosctl.mesos.messages import agent_operations as operations
from mesosctl.mesos.messages.agent_operations import AgentOperation
from mesosctl.mesos.messages.elements import listed_agents as agents
from mesosctl.mesos.rules.reservations.operations import Conversion, apply_all
from mesosctl.reading.targets import read_agents
from mesosctl.suggestion import command


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation on one agent; `conversions` are its effect."""

    agent: RegisteredAgent
    action: OperationKind
    resources: Sequence[Resource]
    conversions: Sequence[Conversion]
    source: Sequence[Resource] | None = None

    @property
    def outcome(self) -> ExpectedResources:
        """The state of the agent afterwards. The operation must fit."""
        return self._looks(apply_all(self.agent.total, self.conversions))

    @property
    def outcome_of_two(self) -> ExpectedResources | None:
        """The state of the agent if it happened twice; None if it can happen only once, or that looks the same."""
        once = apply_all(self.agent.total, self.conversions)
        try:
            twice = self._looks(apply_all(once, self.conversions))
        except Conflict:
            return None
        return None if twice.is_shown_by(once) else twice

    def _looks(self, after: Resources) -> ExpectedResources:
        resources = Resources(self.resources)
        gains = self.action in ("reserved", "created")
        return ExpectedResources.gained(after, resources) if gains else ExpectedResources.lost(after, resources)

    def check_fits(self) -> None:
        """Raise Conflict if the agent does not have the resources to change, or tasks hold them."""
        try:
            apply_all(self.agent.available, self.conversions)
        except Conflict as error:
            needed = Resources(entry for conversion in self.conversions for entry in conversion.consumed)
            missing = [entry for entry in needed if not self.agent.available.contains(Resources([entry]))]
            raise Conflict(
                f"agent {self.agent.name} does not have {Resources(missing or needed).in_words}, or tasks use it",
                field=missing[0].name if missing else None,
                rule=error.rule,
                hint=f"{self.agent.name} has {self.agent.available.in_words}",
            ) from error


@dataclass(frozen=True, slots=True)
class SendOptions:
    """The options of sending and confirming; `progress` is called with a sentence while a change is awaited."""

    v1: bool = False
    wait: bool = True
    ask_agents: bool = True
    progress: Callable[[str], None] = lambda _: None


def operate(master: LeadingMaster, operations: Sequence[Operation], options: SendOptions) -> list[AcceptedOperation]:
    """Send every operation, then wait for all.  Raises Conflict before anything is sent.

    If one of several fails, those before it stay done, and a notice names them.
    """
    for operation in operations:
        operation.check_fits()
    done: list[AcceptedOperation] = []
    for operation in operations:
        try:
            seen = _send(master, operation, options)
        except (MesosctlError, KeyboardInterrupt) as stopped:
            if done:
                accepted = ", ".join(change.agent.name for change in done)
                if isinstance(stopped, KeyboardInterrupt):
                    stopped.add_note(f"accepted before that: {accepted} ({len(done)} of {len(operations)})")
                else:
                    master.notice(f"accepted before that: {accepted}")
            raise
        done.append(
            AcceptedOperation(operation.agent, operation.action, Resources(operation.resources), by_master=seen)
        )
    if not options.wait:
        return done
    try:
        return [
            wait_for(master, change, operation, options) for change, operation in zip(done, operations, strict=True)
        ]
    except KeyboardInterrupt as stopped:
        accepted = ", ".join(change.agent.hostname for change in done)
        stopped.add_note(
            f"the request was accepted, but is not confirmed everywhere yet: {accepted}; "
            f"check with {command('reservations')}"
        )
        raise


def _send(master: LeadingMaster, operation: Operation, options: SendOptions) -> bool:
    message = _message(operation)

    def send() -> None:
        if options.v1:
            master.call(message.call().body())
        else:
            master.post_form(message.path, message.form())

    changed = Resources(operation.resources).in_words
    try:
        seen = confirm(
            master,
            send,
            lambda: _on_master(master, operation),
            what=f"{operation.action.removesuffix('ed')}ing {changed} on {operation.agent.name}",
            wait=False,
            shown_by=_shows(operation),
        )
    except Conflict as error:
        # It fitted a moment ago.
        raise Conflict(
            error.message,
            status=error.status,
            hint=f"another client got there first; check with {_shows(operation)}",
        ) from error
    if seen:
        _total_once(master, operation, unread="took effect; whether it did so twice is unknown")
    return seen


def _message(operation: Operation) -> AgentOperation:
    """Return the message for an operation."""
    agent, resources = operation.agent.id, operation.resources
    match operation.action:
        case "reserved":
            return operations.ReserveResources(agent, source=operation.source, resources=resources)
        case "unreserved":
            return operations.UnreserveResources(agent, resources=resources)
        case "created":
            return operations.CreateVolumes(agent, volumes=resources)
        case "destroyed":
            return operations.DestroyVolumes(agent, volumes=resources)


def wait_for(
    master: LeadingMaster, change: AcceptedOperation, operation: Operation, options: SendOptions
) -> AcceptedOperation:
    """Wait until the master and the agent show the outcome of `operation`.

    Raises NotConfirmed, which names the side that never did, at the deadline or if the agent's state is not visible.
    """
    pauses, agent_says = BackOff(master), "was not queried"
    agent = change.agent
    while True:
        if not change.by_master:
            change = replace(change, by_master=_read_back(master, operation))
        if options.ask_agents and not change.by_agent:
            shown, agent_says = _on_agent(master, agent, operation.outcome)
            change = replace(change, by_agent=shown)
        missing = [] if change.by_master else ["the master"]
        if options.ask_agents and not change.by_agent:
            missing.append("the agent")
        if not missing:
            return change
        if pauses.is_too_late:
            raise NotConfirmed(_not_shown(change, agent_says), hint=_hint(change))
        options.progress(f"waiting for {' and '.join(missing)} to show the change on {agent.name}")
        pauses.sleep()


def _total(master: LeadingMaster, operation: Operation) -> Resources | None:
    """Return the resources of the agent as the master shows them; None if the agent is gone."""
    return next((agent.total for agent in read_agents(master) if agent.id == operation.agent.id), None)


def _on_master(master: LeadingMaster, operation: Operation) -> bool:
    """Whether the master shows it."""
    total = _total(master, operation)
    return total is not None and operation.outcome.is_shown_by(total)


def _total_once(master: LeadingMaster, operation: Operation, *, unread: str) -> Resources | None:
    """As `_total`, of a change that was sent; `unread` says what is known of it where the master cannot be read.

    Raises NotConfirmed if the master cannot be read, or shows it twice.
    """
    try:
        total = _total(master, operation)
    except MesosctlError as error:
        raise NotConfirmed(
            f"the change on {operation.agent.name} {unread}: {error.message}",
            hint=f"check with {_shows(operation)} when a master answers",
        ) from error
    _check_once(operation, total)
    return total


def _check_once(operation: Operation, total: Resources | None) -> None:
    """Raise NotConfirmed if the operation seems to have happened twice."""
    twice = operation.outcome_of_two
    if total is not None and twice is not None and twice.is_shown_by(total):
        undo = {"reserved": "unreserve", "unreserved": "reserve"}.get(operation.action, "undo")
        raise NotConfirmed(
            f"the change on {operation.agent.name} was made, and the master shows it twice: a proxy may have "
            "delivered the request twice, or another client made the same change",
            rule="operation.once",
            hint=f"check with {_shows(operation)}, and {undo} the excess",
        )


def _read_back(master: LeadingMaster, operation: Operation) -> bool:
    """Like `_on_master`, for a change that was accepted.

    Raises NotConfirmed if the master cannot be read, or shows it twice.
    """
    total = _total_once(master, operation, unread="was accepted, but could not be read back")
    return total is not None and operation.outcome.is_shown_by(total)


def _on_agent(master: LeadingMaster, agent: RegisteredAgent, outcome: ExpectedResources) -> tuple[bool, str]:
    """Whether the agent's own state shows it, and what to say if it never does."""
    try:
        total = agents.agent_state(master.agent_state(agent.pid))
    except Denied as error:
        raise NotConfirmed(
            f"the change was accepted, but agent {agent.name} does not show its state ({error.status})",
            hint="use --trust-master to rely on the master alone",
        ) from error
    except MesosctlError as error:
        return False, f"could not be queried: {error.message}"
    return outcome.is_shown_by(total), "never showed it in its own state"


def _not_shown(change: AcceptedOperation, agent_says: str) -> str:
    accepted = f"the change on {change.agent.name} was accepted"
    agent = f"the agent {agent_says}"
    if change.by_master:
        return f"{accepted} and the master shows it, but {agent}"
    if change.by_agent:
        return f"{accepted} and the agent shows it, but the master never did"
    return f"{accepted}, but the master never showed it, and {agent}"


def _shows(operation: Operation) -> str:
    """The command that shows the agent of an operation."""
    return command("reservations", agent=operation.agent.typed_name)


def _hint(change: AcceptedOperation) -> str:
    if change.by_master:
        return (
            "the message to the agent may be late or lost: allow more time with --timeout, or rely on the master with "
            "--trust-master"
        )
    look = command("reservations", agent=change.agent.typed_id)
    return f"another client may have changed it again; check with {look}"
