"""Maintenance: the schedule, and machines that go down and come up.

A master takes only whole schedules, and has no way to say "if nobody has changed it": the schedule is read before a
question is asked, read again when it is sent, and not written over one that has changed meanwhile.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from mesosctl.api import maintenance as wire
from mesosctl.api.frameworks import listed_frameworks
from mesosctl.client.leading_master import Master
from mesosctl.model.errors import Conflict, NotFound, RuleViolation
from mesosctl.model.maintenance import (
    Answer,
    Key,
    Machine,
    MachineMode,
    MaintenanceChange,
    Schedule,
    ScheduledMachine,
    Span,
    address_of,
    check_schedule,
    merged,
    spans,
    without,
)
from mesosctl.model.notation import listed, natural
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.roles import did_you_mean
from mesosctl.model.suggestion import command
from mesosctl.operations.confirm import confirm
from mesosctl.operations.list_selection import Selection, SortKey, sort_entries
from mesosctl.operations.reservations.targets import find_agent, has_attributes, no_agent_with, read_agents
from mesosctl.operations.tasks import read_tasks


class MaintenanceState(NamedTuple):
    """The schedule, the modes of machines, and the agents."""

    schedule: Schedule
    status: Mapping[Machine, tuple[MachineMode, wire.Answers]]
    agents: Sequence[RegisteredAgent]

    @property
    def modes(self) -> dict[Key, MachineMode]:
        """The modes of the machines that are not up, by key."""
        return {machine.key: mode for machine, (mode, _) in self.status.items()}

    @property
    def machines(self) -> dict[Key, Machine]:
        """Every machine that is known, by key: of the schedule, of the modes and of agents."""
        named = [*(machine for window in self.schedule for machine in window.machines), *self.status]
        return {machine.key: machine for machine in (*map(machine_of, self.agents), *named)}


def machine_of(agent: RegisteredAgent) -> Machine:
    """The machine that an agent is on: its host name, and the address that its pid has."""
    return Machine(agent.hostname, address_of(agent.pid))


def read_state(master: Master, progress: Callable[..., None] = lambda *_: None) -> MaintenanceState:
    """Everything about maintenance that a master shows."""
    return MaintenanceState(_read_schedule(master), _read_status(master), read_agents(master, progress))


def _read_schedule(master: Master) -> Schedule:
    return wire.schedule_of(master.get("/maintenance/schedule"))


def _read_status(master: Master) -> dict[Machine, tuple[MachineMode, wire.Answers]]:
    return wire.status_of(master.get("/maintenance/status"))


def repeat_state(live: Master, master: Master) -> None:
    """Give a dry run's master the schedule of a live one, and the machines that are down."""
    schedule = _read_schedule(live)
    if not schedule:
        return
    master.post("/maintenance/schedule", wire.Schedule.of(schedule).body())
    down = [machine for machine, (mode, _) in _read_status(live).items() if mode == "down"]
    if down:
        master.post("/machine/down", wire.Machines.of(down).body())


def list_machines(
    master: Master,
    state: MaintenanceState,
    wanted: Selection = Selection(),  # noqa: B008  # it cannot change
) -> list[ScheduledMachine]:
    """The selected machines of the schedule, by default by time and name, and who has answered their inverse offers.

    A framework with tasks on a draining machine that has said nothing has not answered.  Raises what `choose_machines`
    does, and UsageError for an unknown key.
    """
    chosen = {one.key for one in choose_machines(state, wanted.names, {})} if wanted.names else None
    having = {machine_of(agent).key for agent in state.agents if has_attributes(agent, wanted.attributes)}
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
        names = {one.id: one.title for one in listed_frameworks(master.ask("GET_FRAMEWORKS"))}
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
                tuple(Answer(one, names.get(one, one), answer) for one, answer in told.items()),
            )
        )
    sort_keys: dict[str, SortKey[ScheduledMachine]] = {
        "machine": lambda one: (natural(one.machine.name), one.machine.key),
        "mode": lambda one: one.mode,
        "from": lambda one: (one.span is None, one.span.start if one.span else 0),
    }
    found.sort(key=lambda one: (sort_keys["from"](one), one.machine.key))
    return sort_entries(found, wanted.sort, sort_keys, own="machine")


# --- Which machines are meant ------------------------------------------------------------------------


def choose_machines(state: MaintenanceState, names: Sequence[str], attributes: Mapping[str, str]) -> list[Machine]:
    """The machines that words mean, and those of the agents with the attributes.

    A word is a host name, an address, or an agent.  Raises NotFound and UsageError.
    """
    found = [machine for word in names for machine in _named(state, word)]
    if attributes:
        having = [agent for agent in state.agents if has_attributes(agent, attributes)]
        if not having:
            error = no_agent_with(state.agents, attributes)
            down = [machine.name for machine, (mode, _) in state.status.items() if mode == "down"]
            names_them = f"agents are not registered while their machine is down: name the machine: {listed(down)}"
            raise NotFound(
                error.message, field="--attribute", rule="agent.exists", hint=names_them if down else error.hint
            )
        chosen = {machine_of(agent).key for agent in having}
        of_agents = [state.machines[key] for key in dict.fromkeys(machine_of(agent).key for agent in having)]
        found = [one for one in found if one.key in chosen] if names else of_agents
    return list({machine.key: machine for machine in found}.values())


def _named(state: MaintenanceState, word: str) -> list[Machine]:
    known = state.machines
    found = [machine for key, machine in known.items() if word.lower() == key[0] or word == key[1]]
    if found:
        return found
    try:
        return [known[machine_of(find_agent(state.agents, word)).key]]
    except NotFound:
        names = sorted({name for machine in known.values() for name in machine if name})
        there = f"the machines are {listed(names)}" if names else "there are no agents"
        raise NotFound(
            f"no machine is named '{word}'",
            field="machine",
            rule="machine.exists",
            hint=did_you_mean(
                word,
                names,
                f"{there}; a schedule of your own may name any machine: {command('maintenance schedule', f='FILE')}",
            ),
        ) from None


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
                hint=f"bring it up first: {command('maintenance up', machine.name)}",
            )
    return without(state.schedule, machines)


def removed(state: MaintenanceState, target: Schedule) -> list[Machine]:
    """The machines that a schedule would drop."""
    kept = spans(target)
    return [machine for window in state.schedule for machine in window.machines if machine.key not in kept]


def write_schedule(
    master: Master, state: MaintenanceState, target: Schedule, *, v1: bool = False, wait: bool = True
) -> list[MaintenanceChange]:
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
                master.call(wire.UpdateMaintenanceScheduleCall.of(target).body())
            else:
                master.post("/maintenance/schedule", wire.Schedule.of(target).body())

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
        MaintenanceChange(
            known[key],
            "scheduled" if key in after else "cancelled",
            after.get(key),
            before.get(key) != after.get(key),
            confirmed,
        )
        for key in dict.fromkeys([*after, *before])
    ]


# --- Machines that go down and come up ---------------------------------------------------------------


def take_down(
    master: Master, state: MaintenanceState, machines: Sequence[Machine], *, v1: bool = False, wait: bool = True
) -> list[MaintenanceChange]:
    """Take machines down, except those that are: the master shuts their agents down, and lets none register.

    Raises RuleViolation for a machine that is not in the schedule.
    """
    for machine in machines:
        if machine.key not in state.modes:
            raise RuleViolation(
                f"machine '{machine.name}' is not in the maintenance schedule",
                field="machine",
                rule="maintenance.scheduled",
                hint=f"schedule it first: {command('maintenance plan', machine.name, at='TIME')}",
            )
    return _change_mode(master, state, machines, "down", v1=v1, wait=wait)


def bring_up(
    master: Master, state: MaintenanceState, machines: Sequence[Machine], *, v1: bool = False, wait: bool = True
) -> list[MaintenanceChange]:
    """Bring machines up that are down: their agents may register, and they leave the schedule.

    Raises RuleViolation for a machine that is only scheduled.
    """
    for machine in machines:
        if state.modes.get(machine.key) == "draining":
            raise RuleViolation(
                f"machine '{machine.name}' is scheduled, but not down",
                field="machine",
                rule="maintenance.mode",
                hint=f"take it out of the schedule: {command('maintenance cancel', machine.name)}",
            )
    return _change_mode(master, state, machines, "up", v1=v1, wait=wait)


def _change_mode(
    master: Master,
    state: MaintenanceState,
    machines: Sequence[Machine],
    mode: MachineMode,
    *,
    v1: bool,
    wait: bool,
) -> list[MaintenanceChange]:
    """Send one request for all machines that are not in `mode`, and read it back."""
    modes, when = state.modes, spans(state.schedule)
    target = [machine for machine in machines if modes.get(machine.key, "up") != mode]
    confirmed = True
    if target:
        is_down = mode == "down"
        call = wire.StartMaintenanceCall if is_down else wire.StopMaintenanceCall

        def send() -> None:
            if v1:
                master.call(call.of(target).body())
            else:
                master.post(f"/machine/{mode}", wire.Machines.of(target).body())

        confirmed = confirm(
            master,
            send,
            lambda: _are(_read_status(master), target, mode),
            what=f"taking {listed([one.name for one in target])} {mode}"
            if is_down
            else f"bringing {listed([one.name for one in target])} up",
            wait=wait,
            shown_by=command("maintenance list"),
        )
    sent = {machine.key for machine in target}
    return [
        MaintenanceChange(
            machine,
            "down" if mode == "down" else "up",
            when.get(machine.key) if mode == "down" else None,
            machine.key in sent,
            confirmed,
        )
        for machine in machines
    ]


def _are(
    status: Mapping[Machine, tuple[MachineMode, wire.Answers]], machines: Iterable[Machine], mode: MachineMode
) -> bool:
    shown = {machine.key: now for machine, (now, _) in status.items()}
    return all(shown.get(machine.key, "up") == mode for machine in machines)
