"""`mesosctl options` and `mesosctl completion`: help with what is typed."""

from typing import Annotated

import typer

from mesosctl.cli.command import ContextCommand, Group, examples, format_global_options
from mesosctl.cli.session import Session
from mesosctl.mesos.exit_status import MEANINGS
from mesosctl.shells.scripts import Shell, script

app = typer.Typer(cls=Group, rich_markup_mode=None)


@app.command(
    "options",
    cls=ContextCommand,
    epilog=examples(
        ("quota list --master zk://host1,host2/mesos -o yaml", "another master, and YAML for a program"),
        ("--context prod quota set dev cpus:12 --dry-run", "global options can come before the command, too"),
    ),
)
def options(ctx: typer.Context) -> None:
    """Show global options, exit statuses and fake: addresses.

    You can give options before or after the command. Each of them except --yes has an environment variable, which is
    MESOSCTL_ and its name: MESOSCTL_NO_WAIT for --no-wait. A context can set all of them except --yes and --context.

    On a terminal, help that is longer than the screen is shown in a pager: MESOSCTL_PAGER, else PAGER, else less. An
    empty MESOSCTL_PAGER turns this off.
    """
    import fake_master
    from mesosctl.cli.pager import show

    session: Session = ctx.obj
    formatter = ctx.make_formatter()
    format_global_options(ctx, formatter)
    with formatter.section("Exit statuses"):
        formatter.write_dl([(str(status.value), meaning) for status, meaning in MEANINGS.items()])
    with formatter.section("fake: addresses, for a cluster without machines"):
        formatter.write_dl(fake_master.address_forms())
    show(formatter.getvalue(), session.environment)


ShellName = Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)]
Server = Annotated[
    bool, typer.Option("--server", help="Write the completion for mesos-fake-master.", show_default=False)
]


@app.command(
    "completion",
    cls=ContextCommand,
    epilog=examples(
        ("completion bash > ~/.local/share/bash-completion/completions/mesosctl", "for bash-completion"),
        ("completion zsh > ~/.zfunc/_mesosctl", "for zsh with fpath=(~/.zfunc $fpath)"),
        ("completion fish > ~/.config/fish/completions/mesosctl.fish", "for fish"),
    ),
)
def completion(ctx: typer.Context, shell: ShellName, *, server: Server = False) -> None:
    """Write the completion script for a shell.

    If mesosctl is installed under /usr, /usr/local or ~/.local, or with a recent pipx, completion already works. With
    uv or in a virtual environment, run mesosctl --install-completion once, or write the script to a file with this
    command.
    """
    session: Session = ctx.obj
    session.environment.stdout.write(script("mesos-fake-master" if server else "mesosctl", shell))
