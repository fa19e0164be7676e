"""`mesosctl options` and `mesosctl completion`: help with what is typed."""

from typing import Annotated, Literal

import typer

from mesosctl.cli.command import ContextCommand, Group, examples, format_global_options
from mesosctl.cli.completion.shells import script
from mesosctl.cli.session import Session

app = typer.Typer(cls=Group, rich_markup_mode=None)


@app.command(
    "options",
    cls=ContextCommand,
    epilog=examples(
        ("quota list --master zk://host1,host2/mesos -o yaml", "another master, and YAML for a program"),
        ("--context prod quota set dev cpus:12 --dry-run", "global options may stand before the verb too"),
    ),
)
def options(ctx: typer.Context) -> None:
    """Show the options that every command takes.

    They may stand before or after its words. All but --yes and --context can be kept in a context, and each is
    an environment variable too.
    """
    session: Session = ctx.obj
    formatter = ctx.make_formatter()
    format_global_options(ctx, formatter)
    session.environment.stdout.write(formatter.getvalue())


Shell = Annotated[
    Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)
]
Server = Annotated[bool, typer.Option("--server", help="That of mesos-fake-master.", show_default=False)]


@app.command(
    "completion",
    cls=ContextCommand,
    epilog=examples(
        ("completion bash > ~/.local/share/bash-completion/completions/mesosctl", "for bash-completion to find"),
        ("completion zsh > ~/.zfunc/_mesosctl", "for a zsh with fpath=(~/.zfunc $fpath)"),
        ("completion fish > ~/.config/fish/completions/mesosctl.fish", "for fish"),
    ),
)
def completion(ctx: typer.Context, shell: Shell, *, server: Server = False) -> None:
    """Write the completion of a shell.

    An installation below /usr, /usr/local or ~/.local has put it in its place already, and so has a
    pipx of today. The others, those of uv and virtual environments among them, need it kept as a file
    once; mesosctl --install-completion does that for the shell that you use.
    """
    session: Session = ctx.obj
    session.environment.stdout.write(script("mesos-fake-master" if server else "mesosctl", shell))
