"""`mesosctl maintenance`: its verbs."""

import time
from datetime import datetime, timedelta, tzinfo
from datetime import time as clock_time
from typing import Annotated

import typer

from mesosctl.agents.report import drain_plan
from mesosctl.agents.work import plan_drain
from mesosctl.changes.audit import audit_file
from mesosctl.cli.arguments import (
    Attributes,
    Every,
    PayloadFile,
    names_argument,
    nothing_found,
    read_payload,
    selectors_of,
)
from mesosctl.cli.command import ChangeCommand, Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.session import HOW_A_SCRIPT_AGREES, Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.history.windows import time_zone
from mesosctl.maintenance.recorded_attributes import recorded_attributes
from mesosctl.maintenance.report import machine_list, maintenance_changes
from mesosctl.maintenance.work import (
    MaintenanceState,
    bring_up,
    cancel_machines,
    check_scheduled,
    choose_machines,
    down_notes,
    list_machines,
    machine_of,
    plan_machines,
    read_state,
    removed,
    repeat_state,
    schedule_notes,
    take_down,
    write_schedule,
)
from mesosctl.mesos.amounts.notation import LONGEST_SPAN, and_more, listed, parse_seconds
from mesosctl.mesos.cluster.displacement import DrainPlan
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.messages.maintenance import read_schedule_file
from mesosctl.mesos.rules.maintenance import (
    MACHINE_KEYS,
    NANOSECONDS,
    Machine,
    MachineMode,
    Span,
    check_schedule,
    spans,
    spans_of,
)
from mesosctl.reading.list_options import Count, Watch, show_list, sort_option
from mesosctl.reading.selection import Selection
from mesosctl.show.report import Report
from mesosctl.suggestion import command, options_text

app = typer.Typer(cls=ListGroup, rich_markup_mode=None)

MachineNames = Annotated[
    list[str] | None,
    names_argument("MACHINE", completing.agents, "Machines: host names, addresses, or agents that run on them."),
]
ListedMachines = Annotated[
    list[str] | None,
    names_argument("MACHINE", completing.agents, "Show only these: host names, addresses, or agents that run on them."),
]
SortMachines = Annotated[str | None, sort_option(MACHINE_KEYS, resources=False)]
At = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="TIME",
        help="When the maintenance begins, with its zone, such as 2026-12-01T02:00+01:00 or 2026-12-01T01:00Z; with "
        "--timezone, without one: 2026-12-01T02:00, or 22:00, which is the next one.",
        show_default=False,
    ),
]
Zone = Annotated[
    str | None,
    typer.Option(
        "--timezone", metavar="ZONE", help="The time zone of --at, such as Europe/Berlin.", show_default=False
    ),
]


def _duration(text: str | float) -> float:
    """Seconds of --duration.  Raises UsageError."""
    return parse_seconds(str(text), "--duration", most=LONGEST_SPAN)


Duration = Annotated[
    float | None,
    typer.Option(
        "--duration",
        metavar="SPAN",
        parser=_duration,
        help="How long it lasts, such as 2h. Without it, the end is open.",
        show_default=False,
    ),
]


def _nanoseconds(text: str, timezone: str | None, now: float) -> int:
    """The time of --at: without a date, the next one.  Raises UsageError, also for a time without a zone."""
    hint = "write a time with its zone, such as 2026-12-01T02:00+01:00 or 2026-12-01T01:00Z, or give --timezone"
    zone = None if timezone is None else time_zone(timezone)
    try:
        at = _of_today(text, zone, now) or datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"'{text}' is not a time", field="--at", hint=hint) from None
    if at.tzinfo is None and zone is None:
        raise UsageError(f"'{text}' has no zone", field="--at", hint=hint)
    if at.tzinfo is not None and zone is not None and at.tzinfo is not zone:
        raise UsageError(f"'{text}' has a zone already", field="--timezone", hint="leave --timezone out")
    at = at if at.tzinfo is not None else at.replace(tzinfo=zone)
    return round(at.timestamp() * 1000) * 10**6


def _of_today(text: str, zone: tzinfo | None, now: float) -> datetime | None:
    """The next 22:00, or what other time of day a text means; None if it has a date.  Raises UsageError."""
    try:
        wanted = clock_time.fromisoformat(text)
    except ValueError:
        return None
    if "-" in text or len(text) < len("22:00"):  # a date without dashes reads as a time, too
        return None
    if zone is None or wanted.tzinfo is not None:
        raise UsageError(
            f"'{text}' is a time without a date, which needs --timezone",
            field="--at",
            hint=f"for example, {options_text(at=text, timezone='Europe/Berlin')}",
        )
    present = datetime.fromtimestamp(now, zone)
    at = datetime.combine(present.date(), wanted, zone)
    return at if at > present else at + timedelta(days=1)


def _span(at: str, duration: float | None, timezone: str | None, now: float) -> Span:
    """The time of --at and --duration, which Mesos keeps in 64 bits of nanoseconds.  Raises UsageError."""
    span = Span(_nanoseconds(at, timezone, now), None if duration is None else round(duration * NANOSECONDS))
    for moment, option in ((span.start, "--at"), (span.start + (span.duration or 0), "--duration")):
        if not 0 <= moment < 2**63:
            raise UsageError(
                "maintenance has to be between the years 1970 and 2262",
                field=option,
                hint="for example, --at 2026-12-01T02:00+01:00 --duration 2h",
            )
    return span


def _read(session: Session, master: LeadingMaster) -> MaintenanceState:
    """The state of maintenance.  A snapshot has none, so a dry run repeats that of the live master first."""
    session.repeat_live(repeat_state)
    state = _with_recorded(session, read_state(master, session.progress))
    session.end_progress()
    return state


def _with_recorded(session: Session, state: MaintenanceState) -> MaintenanceState:
    """The state with the attributes of agents on machines that are down, as the audit file has them."""
    if "down" not in state.modes.values():
        return state
    recorded = recorded_attributes(audit_file(session.environment.variables), session.options.master or "")
    return state._replace(recorded=recorded)


def _chosen(
    session: Session,
    master: LeadingMaster,
    names: list[str] | None,
    attribute: list[str] | None,
    *modes: MachineMode,
) -> tuple[MaintenanceState, list[Machine]]:
    """The state of maintenance, and the machines that were chosen, if possible in a mode.

    Raises UsageError, NotFound.
    """
    attributes = selectors_of(attribute)
    if not names and not attributes:
        raise UsageError("no machine is named", hint="name machines, or give --attribute NAME=VALUE")
    state = _read(session, master)
    return state, choose_machines(state, names or (), attributes, modes)


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("maintenance", "the machines that are scheduled or down, and who has answered"),
        ("maintenance --attribute rack=r1 --watch", "the machines of a rack, refreshed every two seconds"),
        ("maintenance list -o json", "the same as JSON, with times in UTC"),
    ),
)
def list_(
    ctx: typer.Context,
    names: ListedMachines = None,
    *,
    attribute: Attributes = None,
    sort: SortMachines = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List the machines that are scheduled for maintenance or down.

    Times are those of this machine's zone. ANSWERS are those of frameworks to inverse offers, with which a master asks
    them to leave; a framework with tasks on the machine that has said nothing has not answered.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), None, selectors_of(attribute), sort)
    said = {"--attribute": ",".join(attribute or ()) or None}

    def read(master: LeadingMaster) -> Report:
        state = _with_recorded(session, read_state(master, session.progress))
        found = list_machines(master, state, wanted)
        empty = nothing_found(_nothing_scheduled(names), said)
        return machine_list(found, empty=empty, spelling=state.spelling())

    show_list(session, read, watch=watch, every=every, count=count)


def _nothing_scheduled(names: list[str] | None) -> str:
    return "no maintenance is scheduled" + (f" for {', '.join(names)}" if names else "")


@app.command(
    "plan",
    cls=ChangeCommand,
    epilog=examples(
        ("maintenance plan agent-1 --at 2026-12-01T02:00+01:00 --duration 2h", "one machine"),
        ("maintenance plan agent-1 --at 22:00 --timezone Europe/Berlin --duration 2h", "tonight, or tomorrow night"),
        ("maintenance plan --attribute rack=r1 --at 2026-12-01T01:00Z --duration 2h", "the machines of a rack"),
    ),
)
def plan(  # one parameter an option
    ctx: typer.Context,
    names: MachineNames = None,
    *,
    at: At,
    timezone: Zone = None,
    duration: Duration = None,
    attribute: Attributes = None,
) -> None:
    """Add machines to the maintenance schedule.

    A machine that is in it already gets the new time, and other machines keep theirs. The master rescinds all offers
    and sends inverse offers for these machines. Nothing is written over a schedule that
    another operator changes at the same time.
    """
    session: Session = ctx.obj
    span = _span(at, duration, timezone, time.time())
    with session.open_master() as master:
        state, machines = _chosen(session, master, names, attribute)
        target = plan_machines(state, machines, span)
        done = write_schedule(master, state, target, v1=session.options.api == "v1", wait=session.waits)
    meant = {machine.key for machine in machines}
    session.emit(maintenance_changes([change for change in done if change.machine.key in meant], state.spelling()))
    _note(session, schedule_notes(state, dict.fromkeys(machines, span), time.time()))


def _note(session: Session, sentences: list[str]) -> None:
    for sentence in sentences[:_MOST_NOTES]:
        session.note(sentence)
    if len(sentences) > _MOST_NOTES:
        session.note(and_more(len(sentences) - _MOST_NOTES))


_MOST_NOTES = 5


@app.command(
    "schedule",
    cls=ChangeCommand,
    epilog=examples(
        ("maintenance schedule -f schedule.json", "from the JSON of POST /maintenance/schedule"),
    ),
)
def schedule(ctx: typer.Context, file: PayloadFile = None) -> None:
    """Replace the whole maintenance schedule by the documented JSON.

    mesosctl asks before machines leave the schedule that the file does not name. A master takes an agent to be on a
    machine only if both its host name and its address are those in the schedule, and a note names the others.
    """
    session: Session = ctx.obj
    if file is None:
        plan = command("maintenance plan", "MACHINE", at="TIME")
        raise UsageError("no file is given", field="--file", hint=f"give -f FILE, or use {plan}")
    written = read_payload(session, file)
    with written.refusals():
        target = read_schedule_file(written.text, named(file))
        check_schedule(target, {})
    with session.open_master() as master:
        state = _read(session, master)
        dropped = removed(state, target)
        if dropped:
            session.confirm(
                "Replace the schedule?", f"the file does not name {listed([machine.name for machine in dropped])}"
            )
        done = write_schedule(master, state, target, v1=session.options.api == "v1", wait=session.waits)
    session.emit(maintenance_changes(done, state.spelling()))
    machines = [machine for window in target for machine in window.machines]
    _note(session, schedule_notes(state, spans_of(target, machines), time.time()))


@app.command(
    "cancel",
    cls=ChangeCommand,
    epilog=examples(("maintenance cancel agent-1", "it is not taken down after all")),
)
def cancel(ctx: typer.Context, names: MachineNames = None, *, attribute: Attributes = None) -> None:
    """Take machines out of the maintenance schedule."""
    session: Session = ctx.obj
    with session.open_master() as master:
        state, machines = _chosen(session, master, names, attribute)
        target = cancel_machines(state, machines)
        done = write_schedule(master, state, target, v1=session.options.api == "v1", wait=session.waits)
    scheduled = spans(state.schedule)
    meant = {machine.key for machine in machines if machine.key in scheduled}
    session.emit(maintenance_changes([change for change in done if change.machine.key in meant], state.spelling()))


@app.command(
    "down",
    cls=ChangeCommand,
    epilog=examples(
        ("maintenance down agent-1", "after you have confirmed"),
        ("maintenance down --attribute rack=r1 --yes", "a rack, without being asked"),
    ),
)
def down(ctx: typer.Context, names: MachineNames = None, *, attribute: Attributes = None) -> None:
    """Take scheduled machines down.

    You are asked first; a script must use --yes. The master shuts their agents down, and lets none register from there.
    Tasks that still run there are lost, so drain the agents first: mesosctl agents drain --wait.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        state, machines = _chosen(session, master, names, attribute, "draining", "down")
        meant = {machine.key for machine in machines if state.modes.get(machine.key) != "down"}
        leaving = [agent for agent in state.agents if machine_of(agent).key in meant]
        check_scheduled(state, machines)
        _note(session, down_notes(state, [machine for machine in machines if machine.key in meant], time.time()))
        loss, hint = "the agents of a machine that is down cannot register", HOW_A_SCRIPT_AGREES
        if leaving:
            plan_ = plan_drain(master, leaving, state.agents)
            session.show(drain_plan(plan_, loses_tasks=True))
            loss = f"this shuts down {plan_.title}"
            if plan_.tasks:
                hint = f"drain the agents first: {_drain(plan_, names, attribute)}; {HOW_A_SCRIPT_AGREES} to lose them"
        if meant:
            session.confirm(f"Take {listed([machine.name for machine in machines])} down?", loss, hint)
        done = take_down(master, state, machines, v1=session.options.api == "v1", wait=session.waits)
    session.emit(maintenance_changes(done, state.spelling()))


def _drain(plan_: DrainPlan, names: list[str] | None, attribute: list[str] | None) -> str:
    """The command that drains the agents on which something runs."""
    if attribute and len(attribute) == 1 and not names:
        return command("agents drain", attribute=attribute[0], wait=True)
    return command("agents drain", *(agent.typed_name for agent in plan_.agents if plan_.tasks_on(agent)), wait=True)


@app.command(
    "up",
    cls=ChangeCommand,
    epilog=examples(
        ("maintenance up agent-1", "its agents may register again"),
        ("maintenance up --attribute rack=r1", "the machines of a rack that you took down"),
    ),
)
def up(ctx: typer.Context, names: MachineNames = None, *, attribute: Attributes = None) -> None:
    """Bring machines up again.

    Their agents may register, and they leave the schedule. Agents are not registered while their machine is down, so
    --attribute goes by the attributes that they had when you took it down, as the audit file has them.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        state, machines = _chosen(session, master, names, attribute, "down")
        done = bring_up(master, state, machines, v1=session.options.api == "v1", wait=session.waits)
        session.emit(maintenance_changes(done, state.spelling()))
