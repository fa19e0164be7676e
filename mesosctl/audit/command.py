"""`mesosctl audit`."""

import time
from typing import Annotated

import typer

from mesosctl.audit.report import audit_list
from mesosctl.audit.work import read_audit
from mesosctl.changes.audit import audit_file
from mesosctl.changes.audited_commands import AUDIT_KEYS, AuditFilter
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.session import Session
from mesosctl.history.records import MICROS
from mesosctl.history.windows import parse_time
from mesosctl.reading.list_options import sort_option

app = typer.Typer(cls=Group, rich_markup_mode=None)

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[WORD]...", help="Only commands with these words, such as quota set.", show_default=False),
]
SinceTime = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Only commands since a span ago, such as 30d, or since 2026-03-01T08:00Z."
    ),
]
By = Annotated[
    str | None,
    typer.Option("--by", metavar="NAME", help="Only commands of this user or principal.", show_default=False),
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="NAME", help="Only changes of this master or context.", show_default=False),
]
Failed = Annotated[
    bool, typer.Option("--failed", help="Only commands that did not end with status 0.", show_default=False)
]
SortAudit = Annotated[str | None, sort_option(AUDIT_KEYS, resources=False)]


@app.command(
    "list",
    cls=SingleCommand,
    epilog=examples(
        ("audit list", "every change that this user has sent"),
        ("audit list quota --since 7d", "changes of quota in the last week"),
        ("audit list --on prod --failed -o wide", "what failed in the context prod, and why"),
        ("audit list -o json", "with the state before and after each change"),
    ),
)
def list_(
    ctx: typer.Context,
    words: Words = None,
    *,
    since: SinceTime = None,
    by: By = None,
    on: On = None,
    failed: Failed = False,
    sort: SortAudit = None,
) -> None:
    """Show the commands that sent changes, and how they ended.

    You see when, who, to which master, which words and which status.

    Every command that sends a change appends to one file in the state folder ($XDG_STATE_HOME/mesosctl/audit, or
    ~/.local/state/mesosctl/audit), which only you can read; the context setting no-audit turns this off. It writes the
    first line before it sends anything. A command without a status is running, or was killed. A full file is renamed;
    the last nine are kept. Secrets are never written.
    """
    session: Session = ctx.obj
    start = None
    if since is not None:
        start = parse_time(since, "--since", round(time.time() * MICROS)) / MICROS
    wanted = AuditFilter(start, by, on, words or (), failed)
    found = read_audit(audit_file(session.environment.variables), wanted, sort)
    if found.unreadable:
        session.note(f"lines of the audit file that cannot be read are left out: {found.unreadable}")
    session.emit(audit_list(found.commands))
