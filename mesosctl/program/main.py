"""The commands, put together."""

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from mesosctl import __version__
from mesosctl.cli.command import Group
from mesosctl.cli.session import Session
from mesosctl.mesos.exit_status import ExitStatus

SECTIONS = {
    "Share out": {
        "quota": ("quota.command", "Guarantee roles a share of the cluster, and limit what they use."),
        "weights": ("weights.command", "Show and set the weights of roles."),
        "ratelimit": ("ratelimit.command", "Throttle frameworks, so that they do not slow down others."),
    },
    "Reserve": {
        "reserve": ("reservations.reserve_command", "Reserve resources of an agent for a role."),
        "unreserve": ("reservations.reserve_command", "Undo dynamic reservations."),
        "reservations": ("reservations.command", "Show what is reserved on which agent, and by whom."),
        "volumes": ("reservations.volumes_command", "Create, destroy and list persistent volumes."),
        "cleanup": ("cleanup.command", "Destroy volumes and undo reservations that nothing uses."),
    },
    "Maintain": {
        "maintenance": ("maintenance.command", "Schedule maintenance, take machines down and bring them up."),
        "wait": ("wait.command", "Wait until agents are drained, guarantees met, and so on."),
    },
    "Look": {
        "top": ("top.command", "Watch the whole cluster on one screen."),
        "agents": ("agents.command", "List agents, drain them, and bring them back."),
        "frameworks": ("frameworks.command", "List frameworks and what they hold, or tear one down."),
        "tasks": ("tasks.command", "List tasks and what each of them uses."),
        "roles": ("roles.command", "List roles with their resources, guarantees and weights."),
        "offers": ("offers.command", "Show who is offered what and why, and use an offer."),
        "can-i": ("can_i.command", "Ask whether you may run a command, without running it."),
        "who-can": ("can_i.command", "Show who may run a command, by ACLs."),
        "acls": ("acls.command", "Check a file of ACLs, and what it allows to whom."),
    },
    "Rehearse": {
        "whatif": ("whatif.command", "Forecast what changes would do now."),
        "replay": ("replay.command", "Play a recording: what changes would have done."),
        "capacity": ("capacity.command", "Ask which losses of agents the cluster can bear."),
        "tune": ("tune.command", "Find quotas that meet goals, by replaying a recording."),
    },
    "Look back": {
        "history": ("history.command", "Record what happens on a cluster, and import logs of others."),
        "usage": ("usage.command", "Show who got what over time, and what it costs."),
        "metrics": ("metrics.command", "Write or serve metrics for Prometheus."),
        "audit": ("audit.command", "Show which changes you sent, and how they ended."),
    },
    "Keep as a file": {
        "export": ("apply.export_command", "Write quotas, weights and reservations to a file."),
        "diff": ("apply.command", "Show where quotas, weights and reservations differ from a file."),
        "plan": ("apply.command", "Make a plan for a file, with its forecast, to be approved."),
        "apply": ("apply.command", "Bring quotas, weights and reservations in line with a file."),
        "snapshot": ("snapshot.command", "Write a whole cluster to a file."),
    },
    "Settings": {
        "context": ("context.command", "Keep the settings of your clusters; choose one with --context."),
        "completion": ("program.help_commands", "Write the completion script for a shell."),
        "options": ("program.help_commands", "Show global options, exit statuses and fake: addresses."),
    },
}
"""The nouns by purpose: their module, which is imported when it is needed, and a summary."""
NOUNS = {name: noun for section in SECTIONS.values() for name, noun in section.items()}


class LazyGroup(Group):
    """The nouns: the command or group of that name in the app of its module, or the app itself as a group."""

    global_options = (
        "Global options: see mesosctl options (exit statuses and fake: addresses too)\n"
        "To try anything without a cluster: --master fake: or fake:FILE,\n"
        "mesos-fake-master --help, or fake_master.FakeMaster(agents=200) in pytest"
    )

    def rehearse(self, session: Session, name: str, run: Callable[[Session], object], report: str | None) -> ExitStatus:
        """Run a command that changes something on a fake master that is made of a snapshot, and tell the forecast."""
        from mesosctl.whatif.dry_run import start_dry_run  # imported late: few commands are rehearsed

        return start_dry_run(session, name, run, report)

    def list_commands(self, ctx: Any) -> list[str]:
        """Every name, in order."""
        del ctx
        return list(NOUNS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported now; None if there is none."""
        if cmd_name in NOUNS and cmd_name not in self.commands:
            module, summary = NOUNS[cmd_name]
            group = typer.main.get_group(import_module(f"mesosctl.{module}").app)
            command: Any = group.get_command(ctx, cmd_name) or group
            if isinstance(command, Group):
                command.name, command.help = cmd_name, summary
            command.short_help = summary
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve as usual; for a wrong name typer suggests a similar one of all names."""
        if args and args[0] not in NOUNS:
            for name in NOUNS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the nouns by purpose, without importing them."""
        del ctx
        width = max(map(len, NOUNS))
        for title, nouns in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in nouns.items()])


app = typer.Typer(
    name="mesosctl",
    cls=LazyGroup,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        typer.echo(f"mesosctl {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """Share out an Apache Mesos cluster: see what a change will do, make it, and confirm that it took effect."""
    del version  # typer has already shown it
