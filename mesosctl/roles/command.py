"""`mesosctl roles`: its verbs."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import Every, RoleAndBelow, names_argument, nothing_found
from mesosctl.cli.command import Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.reading.list_options import Count, Watch, show_list, sort_option
from mesosctl.reading.lists import ROLE_KEYS, list_roles
from mesosctl.reading.selection import Selection
from mesosctl.roles.report import role_list
from mesosctl.show.report import Report

app = typer.Typer(cls=ListGroup, rich_markup_mode=None)

RoleNames = Annotated[list[str] | None, names_argument("ROLE", completing.roles, "Show only these roles.")]
SortRoles = Annotated[str | None, sort_option(ROLE_KEYS)]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("roles", "every role, with its use, guarantee and limit"),
        ("roles --sort share", "the roles furthest below their guarantee first"),
        ("roles --role ads", "a role and those below it"),
    ),
)
def list_(
    ctx: typer.Context,
    names: RoleNames = None,
    *,
    role: RoleAndBelow = None,
    sort: SortRoles = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List roles with their resources, guarantees and weights.

    The master knows a role if a framework subscribes with it, or if it has a quota, a weight or a reservation.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), role, (), sort)

    def read(master: LeadingMaster) -> Report:
        found = list_roles(master, wanted)
        empty = nothing_found("the master knows no roles", {"--role": role})
        return role_list(found, empty=empty, sort=sort)

    show_list(session, read, watch=watch, every=every, count=count)
