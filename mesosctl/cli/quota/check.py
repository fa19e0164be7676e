"""`mesosctl quota check`."""

from mesosctl.cli.quota.words import AllowNewResource, Amounts, Limit, Role, parse_limit, parse_words
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import ExitStatus
from mesosctl.render.quota import quota_check

EXAMPLES = (
    ("quota check dev cpus:12 mem:6GiB", "would that be accepted?"),
    ("quota check dev cpus:12 && mesosctl quota set dev cpus:12", "set it only if so"),
)


@verb(EXAMPLES)
def command(
    session: Session,
    role: Role,
    resources: Amounts,
    limit: Limit = None,
    *,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Say whether a quota would be accepted, rule by rule, and how much room there is.

    Nothing is changed.  The exit status is 1 where a rule is broken.
    """
    from mesosctl.ops.quota.checking import check_quota

    guarantee, limits = parse_words(resources), parse_limit(limit)
    with session.open_master() as master:
        found = check_quota(master, role, guarantee, limits, allow_new_resource=allow_new_resource)
    session.emit(quota_check(found))
    return ExitStatus.DONE if found.passed else ExitStatus.ANSWER_IS_NO
