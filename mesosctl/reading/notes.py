"""Notes that several commands write about a role: it may be mistyped, at its limit, or lack some of its guarantee."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.amounts.quantities import SIGN, Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import NONE
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.errors import MesosctlError, RuleViolation
from mesosctl.reading.meant_quotas import note_meaning
from mesosctl.reading.quotas import note_unknown_role, status_at_limit, unmet_guarantees
from mesosctl.reading.targets import read_agents
from mesosctl.suggestion import command


def note_role(session: Session, master: LeadingMaster, role: str, reserved: Quantities | None = None) -> None:
    """Tell the operator of a role that may be mistyped, unless nothing is to be read or told any more."""
    if not session.options.quiet and (session.waits or session.options.dry_run):
        note_unknown_role(master, role, reserved or Quantities())


def note_quotas(session: Session, master: LeadingMaster, given: Mapping[str, Quota | None]) -> None:
    """Tell the operator what the quotas of these roles mean, unless nothing is to be read or told any more."""
    if not session.options.quiet and (session.waits or session.options.dry_run):
        note_meaning(master, given)


@contextmanager
def sums_for_signs(session: Session, in_sum: Callable[[LeadingMaster], str | None]) -> Iterator[None]:
    """Let a refusal of an amount such as `cpus:+2` have the hint of `in_sum`, if that can be read.

    It is the command that sets the sum of what is there and the amount; None if no command could.
    """
    try:
        yield
    except RuleViolation as error:
        if SIGN in (error.rule, *(other.rule for other in error.joined)):
            with suppress(MesosctlError), session.open_master() as master:
                error.hint = in_sum(master) or error.hint
        raise


NO_LIMIT_OPTION = "--limit none sets no limit"


def note_limit(session: Session, status: RoleStatus, no_limit: str | None, *, would: bool = False) -> None:
    """Tell the operator of a role that is, or would be, at or above its limit, and how to set none.

    `no_limit` says how, with {role} for its name; None if that takes a command of its own.
    """
    if no_limit is None:
        has_guarantee, role = bool(status.quota.guarantees), status.role
        remove = command("quota update", role, limit=NONE) if has_guarantee else command("quota remove", role)
        how = f"{remove} removes it"
    else:
        how = no_limit.format(role=shlex.quote(status.role))
    session.note(f"{status.limit_sentence(in_words, would=would)}; {how}")


def note_role_at_limit(
    session: Session, master: LeadingMaster, role: str, limits: Limits | None = None, *, would: bool = False
) -> None:
    """Tell the operator if the role is, or would be, at or above its limit or `limits`; a forecast says so itself."""
    if not session.options.quiet and session.waits and not session.options.dry_run:
        status = status_at_limit(master, role, limits)
        if status is not None:
            note_limit(session, status, NO_LIMIT_OPTION if would else None, would=would)


def _counts_as_free(entry: Resource) -> bool:
    return not entry.is_reserved and not entry.revocable


def note_unmet_guarantees(
    session: Session, master: LeadingMaster, agents: Iterable[RegisteredAgent], taken: Quantities
) -> None:
    """Tell the operator of guarantees that cannot be met after `taken` is reserved of what these agents had free.

    A forecast says so itself.
    """
    if session.options.quiet or not session.waits or session.options.dry_run:
        return
    for role, lacking in unmet_guarantees(master, lambda: _free_on(agents) - taken).items():
        if any(name in taken for name in lacking):
            session.note(
                f"{role} lacks {in_words(lacking)} of its guarantee, and what is free now is not enough for it"
            )


def note_unmet_wish(session: Session, master: LeadingMaster, role: str, wish: Quota, tried: str) -> None:
    """Tell the operator of a guarantee that would be accepted, and for which what is free now is not enough.

    `tried` is the command that forecasts the change. Nothing is said if the cluster cannot be read.
    """
    if session.options.quiet:
        return
    try:
        agents = [agent for agent in read_agents(master) if agent.active]
    except MesosctlError:
        return
    free = _free_on(agents)
    unmet = unmet_guarantees(master, lambda: free, {role: wish})
    if role not in unmet:
        return
    short = Quantities.total(unmet.values()) - free
    held = _unreserved(agent.total for agent in agents) - free
    until = " until other roles release enough" if held.contains(short) else ""
    if len(unmet) == 1:
        says = f"role {role} would be {in_words(short)} below its new guarantee{until}"
    else:
        says = f"what is free now is {in_words(short)} too little for the guarantees of {listed(sorted(unmet))}{until}"
    session.note(f"{says}; {tried} forecasts it")


def _free_on(agents: Iterable[RegisteredAgent]) -> Quantities:
    """The amounts that a guarantee can be met with at once; what is offered counts too."""
    return _unreserved(agent.available for agent in agents if agent.active)


def _unreserved(parts: Iterable[Resources]) -> Quantities:
    return Quantities.total(resources.filter(_counts_as_free).scalar_quantities() for resources in parts)
