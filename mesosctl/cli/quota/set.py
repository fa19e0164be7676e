"""`mesosctl quota set`."""

from mesosctl.cli.files import named, read_text
from mesosctl.cli.quota.words import Force, OptionalAmounts, OptionalRole, PayloadFile, check_role_of_file, parse_words
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.render.quota import quota_changes

EXAMPLES = (
    ("quota set dev cpus:12 mem:6GiB", "guarantee 12 cpus and 6 GiB"),
    ("quota set dev 'cpus:12;mem:6144' --force", "even if the cluster has less now"),
    ("quota set -f quota.json", "from the JSON of POST /quota"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    force: Force = False,
    file: PayloadFile = None,
) -> None:
    """Guarantee resources to a role that has no quota yet.

    With -f the request is read as the documented JSON of POST /quota or SET_QUOTA, its role
    included.
    """
    from mesosctl.ops.quota.setting import set_quota

    if file is not None:
        if resources:
            raise UsageError("RESOURCES and --file contradict each other", field="--file", hint="give one of them")
        from mesosctl.wire.quota import read_quota_request

        request = read_quota_request(read_text(file, "--file", session.environment.stdin), named(file))
        check_role_of_file(role, [request.role])
        role = request.role or role or ""
        guarantee, force = request.to_core(), force or request.force
    elif role is None or not resources:
        raise UsageError("a role and resources are needed", hint="for example: mesosctl quota set dev cpus:12 mem:6GiB")
    else:
        guarantee = parse_words(resources)
    with session.open_master() as master:
        change = set_quota(master, role, guarantee, force=force, v1=session.options.api == "v1", wait=session.waits)
        session.emit(quota_changes([change]))
