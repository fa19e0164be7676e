"""The work of `maintenance`: it reads and writes the schedule, and takes machines down and up.

A master takes only whole schedules, and has no way to say "if nobody has changed it": the schedule is read before a
question is asked, read again when it is sent, and not written over one that has changed meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import format_span, listed, natural, utc_minute
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.selectors import Selectors, take
from mesosctl.mesos.errors import Conflict, NotFound, RuleViolation
from mesosctl.mesos.messages import maintenance as wire
from mesosctl.mesos.messages.frameworks import listed_frameworks
from mesosctl.mesos.names import MACHINE, Kind, Names, Spelling
from mesosctl.mesos.rules.maintenance import (
    NANOSECONDS,
    AgentAttributes,
    Answer,
    Key,
    Machine,
    MachineChange,
    MachineMode,
    Schedule,
    ScheduledMachine,
    Span,
    address_of,
    check_schedule,
    merged,
    spans,
    spans_of,
    without,
)
from mesosctl.reading.selection import Selection, SortKey, sort_entries
from mesosctl.reading.targets import has_attributes, no_agent_with, read_agents
from mesosctl.suggestion import command
from mesosctl.tasks.work import read_tasks


class MaintenanceState(NamedTuple):
    """The schedule, the modes of machines, and the agents."""

    schedule: Schedule
    status: Mapping[Machine, tuple[MachineMode, wire.Answers]]
    agents: Sequence[RegisteredAgent]
    recorded: Mapping[Key, Sequence[AgentAttributes]] = MappingProxyType({})
    """The attributes of agents on machines that are down, as far as they are known."""

    def with_attributes(self, wanted: Selectors) -> dict[Key, Machine]:
        """The machines with an agent that has every attribute; those that are down as recorded, in their order."""
        known = self.machines
        keys = [machine_of(agent).key for agent in self.agents if has_attributes(agent, wanted)]
        registered = {machine_of(agent).key for agent in self.agents}
        keys += [
            key
            for key, mode in self.modes.items()
            if mode == "down"
            and key not in registered
            and any(take(wanted, attributes) for attributes in self.recorded.get(key, ()))
        ]
        return {key: known[key] for key in keys}

    def attributes_on(self, machine: Machine) -> tuple[AgentAttributes, ...]:
        """The attributes of each agent that is registered on a machine."""
        return tuple(dict(agent.attributes) for agent in self.agents if machine_of(agent).key == machine.key)

    @property
    def modes(self) -> dict[Key, MachineMode]:
        """The modes of the machines that are not up, by key."""
        return {machine.key: mode for machine, (mode, _) in self.status.items()}

    @property
    def machines(self) -> dict[Key, Machine]:
        """Every machine that is known, by key: of the schedule, of the modes and of agents."""
        named = [*(machine for window in self.schedule for machine in window.machines), *self.status]
        return {machine.key: machine for machine in (*map(machine_of, self.agents), *named)}

    def spelling(self) -> Spelling:
        """How the names of machines are typed."""
        return Spelling(machine=self.names().speller())

    def names(self) -> Names[Machine]:
        """The names of the machines: host name and address, and the ids of the agents that run there."""
        on: dict[Key, list[str]] = {}
        for agent in self.agents:
            on.setdefault(machine_of(agent).key, []).append(agent.id)

        def of(machine: Machine) -> Iterator[tuple[Kind, str]]:
            yield from (("host", machine.hostname), ("address", machine.ip))
            yield from (("id", agent_id) for agent_id in on.get(machine.key, ()))

        return Names(
            self.machines.values(),
            of,
            MACHINE,
        )


def machine_of(agent: RegisteredAgent) -> Machine:
    """The machine that an agent is on: its host name, and the address that its pid has."""
    return Machine(agent.hostname, address_of(agent.pid))


def read_state(master: LeadingMaster, progress: Callable[..., None] = lambda *_: None) -> MaintenanceState:
    """Everything about maintenance that a master shows."""
    return MaintenanceState(_read_schedule(master), _read_status(master), read_agents(master, progress))


def _read_schedule(master: LeadingMaster) -> Schedule:
    return wire.schedule_of(master.get("/maintenance/schedule"))


def _read_status(master: LeadingMaster) -> dict[Machine, tuple[MachineMode, wire.Answers]]:
    return wire.status_of(master.get("/maintenance/status"))


def repeat_state(live: LeadingMaster, master: LeadingMaster) -> None:
    """Give a dry run's master the schedule of a live one, and the machines that are down."""
    schedule = _read_schedule(live)
    if not schedule:
        return
    master.post("/maintenance/schedule", wire.schedule_message(schedule).body())
    down = [machine for machine, (mode, _) in _read_status(live).items() if mode == "down"]
    if down:
        master.post("/machine/down", wire.machines_body(down))


def list_machines(
    master: LeadingMaster,
    state: MaintenanceState,
    wanted: Selection = Selection(),  # noqa: B008  # it cannot change
) -> list[ScheduledMachine]:
    """The selected machines of the schedule, by default by time and name, and who has answered their inverse offers.

    A framework with tasks on a draining machine that has said nothing has not answered.  Raises what `choose_machines`
    does, and UsageError for an unknown key.
    """
    chosen = {machine.key for machine in choose_machines(state, wanted.names, ())} if wanted.names else None
    having = state.with_attributes(wanted.attributes)
    on: dict[Key, list[RegisteredAgent]] = {}
    for agent in state.agents:
        on.setdefault(machine_of(agent).key, []).append(agent)
    when, answers = spans(state.schedule), {machine.key: told for machine, (_, told) in state.status.items()}
    modes, known = state.modes, state.machines
    keys = [
        key
        for key in dict.fromkeys([*when, *modes])
        if (chosen is None or key in chosen) and (not wanted.attributes or key in having)
    ]
    holders: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    if any(on.get(key) for key in keys):
        for task in read_tasks(master):
            holders.setdefault(task.agent_id, set()).add(task.framework_id)
        names = {framework.id: framework.title for framework in listed_frameworks(master.ask("GET_FRAMEWORKS"))}
    found = []
    for key in keys:
        told = dict(answers.get(key, {}))
        if modes.get(key) == "draining":
            for agent in on.get(key, ()):
                for framework_id in sorted(holders.get(agent.id, ())):
                    told.setdefault(framework_id, "not answered")
        found.append(
            ScheduledMachine(
                known[key],
                modes.get(key, "up"),
                when.get(key),
                tuple(agent.name for agent in on.get(key, ())),
                tuple(
                    Answer(framework_id, names.get(framework_id, framework_id), answer)
                    for framework_id, answer in told.items()
                ),
            )
        )
    sort_keys: dict[str, SortKey[ScheduledMachine]] = {
        "machine": lambda scheduled: (natural(scheduled.machine.name), scheduled.machine.key),
        "mode": lambda scheduled: scheduled.mode,
        "from": lambda scheduled: (scheduled.span is None, scheduled.span.start if scheduled.span else 0),
    }
    found.sort(key=lambda scheduled: (sort_keys["from"](scheduled), scheduled.machine.key))
    return sort_entries(found, wanted.sort, sort_keys, own="machine")


# --- Which machines are meant ------------------------------------------------------------------------


def choose_machines(
    state: MaintenanceState,
    names: Sequence[str],
    attributes: Selectors,
    modes: Sequence[MachineMode] = (),
) -> list[Machine]:
    """The machines that words mean, and those of the agents with the attributes.

    A word is a host name, an address, or an agent.  If it means several machines, such as that of an agent and one that
    a schedule names by its host name alone, those in one of the `modes` are meant.  Raises NotFound, and UsageError for
    a word that is the host name of one and the address or the agent of another.
    """
    found = _named(state, names, modes)
    if attributes:
        having = state.with_attributes(attributes)
        if not having:
            error = no_agent_with(state.agents, attributes)
            down = [machine for machine, (mode, _) in state.status.items() if mode == "down"]
            raise NotFound(
                error.message,
                field="--attribute",
                rule="agent.exists",
                hint=_name_machines(state, down) if down else error.hint,
            )
        found = [machine for machine in found if machine.key in having] if names else [*having.values()]
    return list({machine.key: machine for machine in found}.values())


def _name_machines(state: MaintenanceState, down: Sequence[Machine]) -> str:
    """How machines that are down are chosen, if it is not recorded which agents were on them."""
    words = [state.names().word(machine) for machine in down]
    return (
        "agents are not registered while their machine is down, and the audit file of this user does not have their "
        f"attributes: name the machines; {command('maintenance up', *words)} brings up every one that is down"
    )


def _named(state: MaintenanceState, words: Sequence[str], modes: Sequence[MachineMode]) -> list[Machine]:
    """The machines that these words mean, in the order of the words."""
    names, known = state.names(), state.machines
    found = []
    for word in words:
        meant = names.every(word, "machine")
        if not meant:
            there = sorted({name for machine in known.values() for name in machine if name})
            are = f"the machines are {listed(there)}" if there else "there are no agents"
            own = command("maintenance schedule", f="FILE")
            raise names.absent(word, "machine", f"{are}; a schedule of your own may name any machine: {own}", there)
        found += [machine for machine in meant if state.modes.get(machine.key) in modes] or meant
    return found


# --- Notes about a schedule that does not do what somebody may expect --------------------------------

_EARLY = 300.0
"""Seconds; nobody is told that a machine goes down this long before its window."""


def schedule_notes(state: MaintenanceState, scheduled: Mapping[Machine, Span], now: float) -> list[str]:
    """Sentences about machines on which no agent is, and about windows that are over or last no time.

    `now` is in seconds since 1970.
    """
    notes = _unmatched(state, scheduled)
    for span in dict.fromkeys(scheduled.values()):
        named = listed([machine.name for machine, its in scheduled.items() if its == span])
        if span.duration == 0:
            notes.append(f"the window of {named} lasts 0 seconds")
        elif span.end is not None and span.end < now * NANOSECONDS:
            ago = format_span(now - span.end / NANOSECONDS)
            notes.append(f"the window of {named} ended {ago} ago; it stays in the schedule until you cancel it")
    return notes


def down_notes(state: MaintenanceState, machines: Sequence[Machine], now: float) -> list[str]:
    """Sentences about machines that go down although no agent is on them, or long before their windows."""
    notes = _unmatched(state, machines)
    for machine, span in spans_of(state.schedule, machines).items():
        start = span.start / NANOSECONDS
        if start - now > _EARLY:
            notes.append(f"the window of {machine.name} begins only at {utc_minute(start)} UTC")
    return notes


def _unmatched(state: MaintenanceState, machines: Iterable[Machine]) -> list[str]:
    """A sentence about each machine on which no agent is: Mesos compares the host name and the address."""
    there = dict.fromkeys(map(machine_of, state.agents))
    on = {registered.key for registered in there}
    by_part: dict[tuple[int, str], list[Machine]] = {}
    """By host name, and by address."""
    for registered in there:
        for part in enumerate(registered.key):
            by_part.setdefault(part, []).append(registered)
    notes = []
    for machine in machines:
        if machine.key in on or state.modes.get(machine.key) == "down":
            continue
        named = [(place, name) for place, name in enumerate(machine.key) if name]
        like = dict.fromkeys(registered for part in named for registered in by_part.get(part, ()))
        text = f"no agent is registered as exactly machine '{machine.name}'{_lacking(machine)}"
        if like:
            names = listed([f"{registered.hostname} with the address {registered.ip}" for registered in like])
            whole = command("maintenance plan", "MACHINE", at="TIME")
            text += f", only as {names}: the schedule has to name both, as {whole} does"
        notes.append(text)
    return notes


def _lacking(machine: Machine) -> str:
    if not machine.ip:
        return " without an address"
    return "" if machine.hostname else " without a host name"


# --- Changing the schedule ---------------------------------------------------------------------------


def plan_machines(state: MaintenanceState, machines: Sequence[Machine], span: Span) -> Schedule:
    """The schedule in which these machines are unavailable at this time.  Raises RuleViolation."""
    target = merged(state.schedule, machines, span)
    check_schedule(target, state.modes)
    return target


def cancel_machines(state: MaintenanceState, machines: Sequence[Machine]) -> Schedule:
    """The schedule without these machines.  Raises RuleViolation for one that is down."""
    for machine in machines:
        if state.modes.get(machine.key) == "down":
            raise RuleViolation(
                f"machine '{machine.name}' is down, so it cannot leave the schedule",
                field="machine",
                rule="maintenance.down",
                hint=f"bring it up first: {command('maintenance up', state.names().word(machine))}",
            )
    return without(state.schedule, machines)


def removed(state: MaintenanceState, target: Schedule) -> list[Machine]:
    """The machines that a schedule would drop."""
    kept = spans(target)
    return [machine for window in state.schedule for machine in window.machines if machine.key not in kept]


def write_schedule(
    master: LeadingMaster, state: MaintenanceState, target: Schedule, *, v1: bool = False, wait: bool = True
) -> list[MachineChange]:
    """Make `target` the schedule, unless it says what is there already, and read it back.

    Raises Conflict if the schedule is not that of `state` any more, RuleViolation, NotConfirmed.
    """
    check_schedule(target, state.modes)
    before, after = spans(state.schedule), spans(target)
    sent = before != after
    confirmed = True
    if sent:
        now = spans(_read_schedule(master))
        if now != before:
            raise Conflict(
                "the maintenance schedule has changed meanwhile; nothing was sent",
                rule="maintenance.unchanged",
                hint=f"look at it with {command('maintenance list')}, and run the command again",
            )

        def send() -> None:
            if v1:
                master.call(wire.update_schedule(target).body())
            else:
                master.post("/maintenance/schedule", wire.schedule_message(target).body())

        confirmed = confirm(
            master,
            send,
            lambda: spans(_read_schedule(master)) == after,
            what="the new maintenance schedule",
            wait=wait,
            shown_by=command("maintenance list"),
        )
    known = {machine.key: machine for window in (*state.schedule, *target) for machine in window.machines}
    return [
        MachineChange(
            known[key],
            "scheduled" if key in after else "cancelled",
            after.get(key),
            before.get(key) != after.get(key),
            confirmed,
            state.attributes_on(known[key]),
        )
        for key in dict.fromkeys([*after, *before])
    ]


# --- Machines that go down and come up ---------------------------------------------------------------


def take_down(
    master: LeadingMaster, state: MaintenanceState, machines: Sequence[Machine], *, v1: bool = False, wait: bool = True
) -> list[MachineChange]:
    """Take machines down, except those that are: the master shuts their agents down, and lets none register.

    Raises RuleViolation for a machine that is not in the schedule.
    """
    check_scheduled(state, machines)
    return _change_mode(master, state, machines, "down", v1=v1, wait=wait)


def check_scheduled(state: MaintenanceState, machines: Sequence[Machine]) -> None:
    """Check that machines are in the schedule.  Raises RuleViolation."""
    for machine in machines:
        if machine.key not in state.modes:
            raise RuleViolation(
                f"machine '{machine.name}' is not in the maintenance schedule",
                field="machine",
                rule="maintenance.scheduled",
                hint=f"schedule it first: {command('maintenance plan', state.names().word(machine), at='TIME')}",
            )


def bring_up(
    master: LeadingMaster, state: MaintenanceState, machines: Sequence[Machine], *, v1: bool = False, wait: bool = True
) -> list[MachineChange]:
    """Bring machines up that are down: their agents may register, and they leave the schedule.

    Raises RuleViolation for a machine that is only scheduled.
    """
    for machine in machines:
        if state.modes.get(machine.key) == "draining":
            raise RuleViolation(
                f"machine '{machine.name}' is scheduled, but not down",
                field="machine",
                rule="maintenance.mode",
                hint=f"take it out of the schedule: {command('maintenance cancel', state.names().word(machine))}",
            )
    return _change_mode(master, state, machines, "up", v1=v1, wait=wait)


def _change_mode(
    master: LeadingMaster,
    state: MaintenanceState,
    machines: Sequence[Machine],
    mode: MachineMode,
    *,
    v1: bool,
    wait: bool,
) -> list[MachineChange]:
    """Send one request for all machines that are not in `mode`, and read it back."""
    modes, when = state.modes, spans(state.schedule)
    target = [machine for machine in machines if modes.get(machine.key, "up") != mode]
    confirmed = True
    if target:
        is_down = mode == "down"

        def send() -> None:
            if v1:
                master.call(wire.machines_call("START_MAINTENANCE" if is_down else "STOP_MAINTENANCE", target).body())
            else:
                master.post(f"/machine/{mode}", wire.machines_body(target))

        confirmed = confirm(
            master,
            send,
            lambda: _are(_read_status(master), target, mode),
            what=f"taking {listed([machine.name for machine in target])} {mode}"
            if is_down
            else f"bringing {listed([machine.name for machine in target])} up",
            wait=wait,
            shown_by=command("maintenance list"),
        )
    sent = {machine.key for machine in target}
    return [
        MachineChange(
            machine,
            "down" if mode == "down" else "up",
            when.get(machine.key) if mode == "down" else None,
            machine.key in sent,
            confirmed,
            state.attributes_on(machine),
        )
        for machine in machines
    ]


def _are(
    status: Mapping[Machine, tuple[MachineMode, wire.Answers]], machines: Iterable[Machine], mode: MachineMode
) -> bool:
    shown = {machine.key: now for machine, (now, _) in status.items()}
    return all(shown.get(machine.key, "up") == mode for machine in machines)
