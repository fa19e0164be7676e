"""`mesosctl quota set`."""

from contextlib import nullcontext

from mesosctl.cli.files import Written, named, read_text
from mesosctl.cli.quota.words import (
    AllowNewResource,
    Force,
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

EXAMPLES = (
    ("quota set dev cpus:12 mem:6GiB", "guarantee 12 cpus and 6 GiB"),
    ("quota set dev 'cpus:12;mem:6144' --force", "even if the cluster has less now"),
    ("quota set dev cpus:12 --limit 'cpus:16;mem:8GiB'", "and with limits of its own"),
    ("quota set dev cpus:12 --limit none", "without any limit"),
    ("quota set -f quota.json", "from the JSON of POST /quota"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    limit: Limit = None,
    force: Force = False,
    file: PayloadFile = None,
    *,
    allow_new_resource: AllowNewResource = False,
) -> None:
    """Guarantee resources to a role that has no quota yet, and limit what it may use.

    With -f the request is read as the documented JSON of POST /quota or SET_QUOTA, its role included;
    --limit goes with it, as that JSON has no word for limits. Limits of their own need a master from
    1.9 on, and are set by UPDATE_QUOTA.
    """
    from mesosctl.ops.quota.options import QuotaOptions
    from mesosctl.ops.quota.setting import set_quota

    written = None
    if file is not None:
        if resources:
            raise UsageError("RESOURCES and --file contradict each other", field="--file", hint="give one of them")
        from mesosctl.wire.places import places_in_json
        from mesosctl.wire.quota import read_quota_request

        written = Written(file, read_text(file, "--file", session.environment.stdin), places_in_json)
        with written.refusals():
            request = read_quota_request(written.text, named(file))
            guarantee, force = request.to_core(), force or request.force
        check_role_of_file(role, [request.role])
        role = request.role or role or ""
    elif role is None or not resources:
        raise UsageError("a role and resources are needed", hint="for example: mesosctl quota set dev cpus:12 mem:6GiB")
    else:
        guarantee = parse_words(resources)
    limits = parse_limit(limit)
    with session.open_master() as master, written.refusals(role) if written else nullcontext():
        change = set_quota(
            master,
            role,
            guarantee,
            limits,
            QuotaOptions(force, session.options.api or "auto", session.waits, allow_new_resource),
        )
        session.emit(quota_changes([change]))
