"""`mesosctl quota set`."""

from typing import Annotated

import typer

from mesosctl.cli.files import read_text
from mesosctl.cli.quota import app
from mesosctl.cli.quota.words import Force, PayloadFile, parse_words
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.render.quota import quota_changes

OptionalRole = Annotated[
    str | None,
    typer.Argument(metavar="ROLE", help="A role, as frameworks subscribe with it.", show_default=False),
]
OptionalAmounts = Annotated[
    list[str] | None,
    typer.Argument(metavar="RESOURCES...", help="cpus:12 mem:6GiB, or 'cpus:12;mem:6144'.", show_default=False),
]


@verb(app, "set")
def set_(
    session: Session,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    force: Force = False,
    file: PayloadFile = None,
) -> None:
    """Guarantee resources to a role that has no quota yet.

    With -f the request is read as the documented JSON of POST /quota, its role included.
    """
    from mesosctl.ops.quota.setting import set_quota

    if file is not None:
        if resources:
            raise UsageError("RESOURCES and --file contradict each other", field="--file", hint="give one of them")
        from mesosctl.wire.models import read_quota_request

        request = read_quota_request(read_text(file, "--file", session.environment.stdin))
        role = chosen_role(role, request.role)
        guarantee, force = request.to_core(), force or request.force
    elif role is None or not resources:
        raise UsageError("a role and resources are needed", hint="for example: mesosctl quota set dev cpus:12 mem:6GiB")
    else:
        guarantee = parse_words(resources)
    with session.open_master() as master:
        change = set_quota(master, role, guarantee, force=force, v1=session.options.api == "v1", wait=session.waits)
        session.emit(quota_changes([change]))


def chosen_role(argument: str | None, in_file: str) -> str:
    """The role of a payload file, which an argument may repeat but not contradict.  Raises UsageError."""
    if argument is not None and in_file and argument != in_file:
        raise UsageError(
            f"ROLE '{argument}' contradicts role '{in_file}' of the file", field="role", hint="leave ROLE out"
        )
    return in_file or argument or ""
