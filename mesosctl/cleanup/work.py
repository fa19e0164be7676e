"""The work of `cleanup`: it finds what nothing uses any more, and releases it step by step."""

from collections.abc import Sequence
from contextlib import suppress

from mesosctl.apply.plan import Step
from mesosctl.cleanup.unused import Cleanup, CleanupSelection, plan_cleanup
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.errors import Denied
from mesosctl.mesos.messages.frameworks import completed_frameworks, listed_frameworks
from mesosctl.mesos.names import framework_names
from mesosctl.mesos.roles import check_role
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.reading.targets import read_agents


def select(master: LeadingMaster, role: str | None, framework: str | None, reserver: str | None) -> CleanupSelection:
    """The selection that these words mean; of a framework, the roles that no other one subscribes to.

    Notices name the roles that are left because of that, and a framework that is still subscribed.

    Raises NotFound, RuleViolation for an invalid role, and UsageError for a word that is the name of some frameworks
    and the id of another.
    """
    if role is not None:
        check_role(role, "--role")
    if framework is None:
        return CleanupSelection(role, reserver)
    answer = master.ask("GET_FRAMEWORKS")
    present, gone = listed_frameworks(answer), completed_frameworks(answer)
    known = [*present, *gone]
    names = framework_names({candidate.id: candidate.name for candidate in known})
    meant = set(names.every(framework, "--framework"))
    found = [candidate for candidate in known if candidate.id in meant]
    if not found:
        forgets = "a master forgets old frameworks, and all of them when it restarts: clean up by --role"
        raise names.absent(framework, "--framework", forgets, is_named="is or was named")
    ids = {candidate.id for candidate in found}
    roles = {name for candidate in found for name in candidate.roles}
    for other in present:
        shared = roles.intersection(other.roles)
        if other.id in ids:
            _note_subscribed(master, other)
        elif shared:
            roles -= shared
            master.notice(
                f"what {listed(sorted(shared))} has is left, because framework '{other.title}' subscribes to the same "
                "role; --role cleans up a role whatever its frameworks"
            )
    return CleanupSelection(role, reserver, frozenset(roles))


def note_subscribed(master: LeadingMaster, wanted: CleanupSelection) -> None:
    """Tell the operator of frameworks that may still need what is selected by role or by principal."""
    if wanted.roles is not None:  # of a framework, which `select` has told of
        return
    with suppress(Denied):  # only what nothing uses is released in any case
        for framework in listed_frameworks(master.ask("GET_FRAMEWORKS")):
            of_role = wanted.role is not None and any(map(wanted.has_role, framework.roles))
            if of_role or (wanted.role is None and framework.principal == wanted.reserver):
                _note_subscribed(master, framework)


def _note_subscribed(master: LeadingMaster, framework: ListedFramework) -> None:
    master.notice(f"framework '{framework.title}' is still subscribed, and may need what it does not use at the moment")


def read_cleanup(master: LeadingMaster, wanted: CleanupSelection) -> Cleanup:
    """The steps now, and what stays."""
    return plan_cleanup(read_agents(master), wanted)


def note_more(master: LeadingMaster, wanted: CleanupSelection) -> None:
    """Tell the operator if more has become unused meanwhile."""
    more: Sequence[Step] = read_cleanup(master, wanted).steps
    if more:
        master.notice("more is unused by now: run the same command again to clean that up too")
