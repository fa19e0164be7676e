"""`cleanup`: what nothing uses any more is found, and released step by step."""

from collections.abc import Sequence
from contextlib import suppress

from mesosctl.api.frameworks import completed_frameworks, listed_frameworks
from mesosctl.client.leading_master import Master
from mesosctl.model.errors import Denied, NotFound
from mesosctl.model.notation import listed
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.roles import check_role, did_you_mean
from mesosctl.operations.reservations.targets import read_agents
from mesosctl.planning.cleanup import Cleanup, CleanupSelection, plan_cleanup
from mesosctl.planning.plan import Step


def select(master: Master, role: str | None, framework: str | None, reserver: str | None) -> CleanupSelection:
    """The selection that these words mean; of a framework, the roles that no other one subscribes to.

    Notices name the roles that are left because of that, and a framework that is still subscribed.

    Raises NotFound, and RuleViolation for an invalid role.
    """
    if role is not None:
        check_role(role, "--role")
    if framework is None:
        return CleanupSelection(role, reserver)
    answer = master.ask("GET_FRAMEWORKS")
    present, gone = listed_frameworks(answer), completed_frameworks(answer)
    found = _named([*present, *gone], framework)
    ids = {one.id for one in found}
    roles = {name for one in found for name in one.roles}
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


def note_subscribed(master: Master, wanted: CleanupSelection) -> None:
    """Tell the operator of frameworks that may still need what is selected by role or by principal."""
    if wanted.roles is not None:  # of a framework, which `select` has told of
        return
    with suppress(Denied):  # only what nothing uses is released in any case
        for one in listed_frameworks(master.ask("GET_FRAMEWORKS")):
            of_role = wanted.role is not None and any(map(wanted.has_role, one.roles))
            if of_role or (wanted.role is None and one.principal == wanted.reserver):
                _note_subscribed(master, one)


def _note_subscribed(master: Master, framework: ListedFramework) -> None:
    master.notice(f"framework '{framework.title}' is still subscribed, and may need what it does not use at the moment")


def _named(frameworks: Sequence[ListedFramework], word: str) -> list[ListedFramework]:
    """The framework with that id, or all with that name: one that came back has a new id.  Raises NotFound."""
    found = [one for one in frameworks if one.id == word] or [one for one in frameworks if one.name == word]
    if not found:
        raise NotFound(
            f"no framework is or was named '{word}'",
            field="--framework",
            rule="framework.exists",
            hint=did_you_mean(
                word,
                [name for one in frameworks for name in (one.name, one.id)],
                "a master forgets old frameworks, and all of them when it restarts: clean up by --role",
            ),
        )
    return found


def read_cleanup(master: Master, wanted: CleanupSelection) -> Cleanup:
    """The steps now, and what stays."""
    return plan_cleanup(read_agents(master), wanted)


def note_more(master: Master, wanted: CleanupSelection) -> None:
    """Tell the operator if more has become unused meanwhile."""
    more: Sequence[Step] = read_cleanup(master, wanted).steps
    if more:
        master.notice("more is unused by now: run the same command again to clean that up too")
