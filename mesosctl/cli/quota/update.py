"""`mesosctl quota update`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.files import named, read_text
from mesosctl.cli.quota.words import OptionalAmounts, OptionalRole, PayloadFile, check_role_of_file, parse_words
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.render.quota import quota_changes

if TYPE_CHECKING:
    from mesosctl.ops.quota.updating import Wish

Limit = Annotated[
    str | None,
    typer.Option("--limit", metavar="RESOURCES", help="Upper bounds, or none; without it they follow the guarantee."),
]
Create = Annotated[bool, typer.Option("--create", help="Also for a role without quota.", show_default=False)]
Forced = Annotated[bool, typer.Option("--force", help="Pass the checks of capacity and use.", show_default=False)]


EXAMPLES = (
    ("quota update dev cpus:8 mem:4GiB", "another guarantee"),
    ("quota update dev --limit cpus:16", "only another limit"),
    ("quota update dev cpus:8 --limit none", "no limit at all"),
    ("quota update -f - < quota.json", "from the JSON of UPDATE_QUOTA"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    limit: Limit = None,
    force: Forced = False,
    create: Create = False,
    file: PayloadFile = None,
) -> None:
    """Change the quota of a role, or only its limits.

    A master from 1.9 on changes it in one step.  On an older one, or with --api v0, the quota is
    removed and set anew; if that fails the old one is put back.  With -f the wish is read as the
    documented JSON of UPDATE_QUOTA, or as one of its configurations.
    """
    from mesosctl.ops.quota.updating import UpdateManner, update_quotas

    if file is not None:
        if resources or limit is not None:
            raise UsageError("words and --file contradict each other", field="--file", hint="give one of them")
        wishes, forced = _wishes_of_file(read_text(file, "--file", session.environment.stdin), named(file))
        check_role_of_file(role, [wish.role for wish in wishes])
        force = force or forced
    elif role is None or not (resources or limit is not None):
        raise UsageError("a role and resources are needed", hint="for example: mesosctl quota update dev cpus:8")
    else:
        wishes = [_wish_of_words(role, resources or (), limit)]
    manner = UpdateManner(force=force, create=create, api=session.options.api or "auto", wait=session.waits)
    with session.open_master() as master:
        session.emit(quota_changes(update_quotas(master, wishes, manner)))


def _wishes_of_file(text: str, where: str) -> "tuple[list[Wish], bool]":
    from mesosctl.ops.quota.updating import Wish
    from mesosctl.wire.quota import read_update_quota

    request = read_update_quota(text, where)
    quotas = [(config.role, config.to_core()) for config in request.quota_configs]
    return [Wish(role, quota.guarantees, quota.limits) for role, quota in quotas], request.force


def _wish_of_words(role: str, resources: Sequence[str], limit: str | None) -> "Wish":
    from mesosctl.ops.quota.payload import guarantees_of, limits_of
    from mesosctl.ops.quota.updating import Wish

    guarantees = guarantees_of(parse_words(resources)) if resources else None
    limits = None if limit is None else limits_of([] if limit == "none" else parse_words([limit]))
    return Wish(role, guarantees, limits)
