"""`mesosctl quota update`."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.files import Written, named, read_text
from mesosctl.cli.quota.words import (
    AllowNewResource,
    Limit,
    OptionalAmounts,
    OptionalRole,
    PayloadFile,
    check_role_of_file,
    parse_limit,
    parse_words,
)
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.render.quota import quota_changes

if TYPE_CHECKING:
    from mesosctl.core.quota import DesiredQuota

Create = Annotated[bool, typer.Option("--create", help="Also for a role without quota.", show_default=False)]
Forced = Annotated[bool, typer.Option("--force", help="Pass the checks of capacity and use.", show_default=False)]


EXAMPLES = (
    ("quota update dev cpus:8 mem:4GiB", "another guarantee"),
    ("quota update dev mem:4GiB --yes", "none of cpus any more, in a script"),
    ("quota update dev --limit cpus:16", "only another limit"),
    ("quota update dev cpus:8 --limit none", "no limit at all"),
    ("quota update -f - < quota.json", "from the JSON of UPDATE_QUOTA"),
)


@verb(EXAMPLES, changes=True)
def command(  # noqa: PLR0913  # one parameter an option
    session: Session,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    limit: Limit = None,
    force: Forced = False,
    create: Create = False,
    file: PayloadFile = None,
    *,
    allow_new_resource: AllowNewResource = False,
) -> None:
    """Change the quota of a role, or only its limits.

    RESOURCES are the whole guarantee, and --limit all limits. A resource that either had and that is not
    named any more is lost, so you are asked first, and a script says --yes; a smaller amount that you name
    is not asked about. What is not given at all stays as it is.

    A master from 1.9 on changes it in one step.  On an older one, or with --api v0, the quota is
    removed and set anew; if that fails the old one is put back.  With -f the change is read as the
    documented JSON of UPDATE_QUOTA, or as one of its configurations; "guarantees" and "limits" that
    it leaves out stay as they are, and {} is none.
    """
    from mesosctl.ops.quota.options import QuotaOptions
    from mesosctl.ops.quota.updating import update_quotas

    written = None

    if file is not None:
        if resources or limit is not None:
            raise UsageError("words and --file contradict each other", field="--file", hint="give one of them")
        from mesosctl.wire.places import places_in_json
        from mesosctl.wire.quota import read_update_quota

        written = Written(file, read_text(file, "--file", session.environment.stdin), places_in_json)
        with written.refusals():
            request = read_update_quota(written.text, named(file))
            desired = [(config.role, config.to_core()) for config in request.quota_configs]
        check_role_of_file(role, [name for name, _ in desired])
        force = force or request.force
    elif role is None or not (resources or limit is not None):
        raise UsageError("a role and resources are needed", hint="for example: mesosctl quota update dev cpus:8")
    else:
        desired = [(role, _desired(resources or (), limit))]
    with session.open_master() as master:

        def agree(losses: str) -> None:
            session.confirm_destructive("Update it all the same?", losses, "name it too, or in a script say --yes")
            master.deadline.extend_to(master.settings.timeout)

        api = session.options.api or "auto"
        options = QuotaOptions(force, api, session.waits, allow_new_resource, create=create, agree=agree)
        with written.refusals(*(name for name, _ in desired)) if written else nullcontext():
            changes = update_quotas(master, desired, options)
        session.emit(quota_changes(changes))


def _desired(resources: Sequence[str], limit: str | None) -> "DesiredQuota":
    from mesosctl.core.quota import DesiredQuota
    from mesosctl.ops.quota.payload import guarantees_of

    return DesiredQuota(guarantees_of(parse_words(resources)) if resources else None, parse_limit(limit))
