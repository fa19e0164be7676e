"""The differences for a cluster when a master of another release takes over: both masters are asked."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fake_master.http.application import Application
from fake_master.http.request_response import JSON, Request, Response
from fake_master.master import Master
from fake_master.state.flags import DEFAULTS
from fake_master.state.master_state import MasterState
from fake_master.state.shown_since import flags_of, pattern_of
from mesosctl.mesos.amounts.amount_text import in_words, shown_amount
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.door.upgrade import SentRequest, TriedRequest, UpgradeDifference
from mesosctl.mesos.roles import ancestors
from mesosctl.mesos.rules.version_profile import Profile

_NONE = "none"
_GONE = "not there"


def differences(before: Master, after: Master) -> Iterator[UpgradeDifference]:
    """Each difference between two masters that have the same cluster."""
    yield from _quotas(before.state, after.state)
    yield from _counted(before.state, after.state.profile)
    yield from _capacity(before.state, after.state)
    yield from _suppressed(before.state, after.state.profile)
    yield from _flags(before.state, after.state.profile)
    yield from _metrics(before, after)


def _quotas(before: MasterState, after: MasterState) -> Iterator[UpgradeDifference]:
    were, are = before.quota_meanings(), after.quota_meanings()
    for role in sorted(were):
        today, there = _quota_text(were[role], before.profile), _quota_text(are.get(role), after.profile)
        if today != there:
            yield UpgradeDifference("quota", role, today, there)


def _quota_text(quota: Quota | None, profile: Profile) -> str:
    if quota is None:
        return _NONE
    parts = [f"guarantee {in_words(quota.guarantees)}"] if quota.guarantees else []
    if profile.guarantee_is_limit:
        parts.append("which is the limit too")
    elif quota.limits:
        parts.append(f"limit {in_words(quota.limits)}")
    return ", ".join(parts)


def _counted(before: MasterState, after: Profile) -> Iterator[UpgradeDifference]:
    """Holdings that count towards the quota of a role in one release, and not in the other."""
    owners = {entry.role for agent in before.agents.values() for entry in agent.total if entry.is_reserved}
    holders = {
        str(entry.allocation_role) for framework in before.frameworks.values() for entry in framework.used()
    } | owners
    today = before.profile
    for role in sorted(before.quotas):
        if role in owners and today.reservations_consume_quota != after.reservations_consume_quota:
            yield _counting(role, "its reservations", after.reservations_consume_quota)
        has_below = any(role in ancestors(holder) for holder in holders)
        if has_below and today.subroles_consume_quota != after.subroles_consume_quota:
            yield _counting(role, "what roles below it have", after.subroles_consume_quota)


def _counting(role: str, what: str, there: bool) -> UpgradeDifference:
    today, later = ("not counted", "counted") if there else ("counted", "not counted")
    return UpgradeDifference("quota", role, f"{what}: {today}", f"{what}: {later}")


def _capacity(before: MasterState, after: MasterState) -> Iterator[UpgradeDifference]:
    was, becomes = before.capacity(), after.capacity()
    for name in sorted({*was, *becomes}):
        if was.get_amount(name) != becomes.get_amount(name):
            yield UpgradeDifference(
                "capacity", name, shown_amount(name, was.get_amount(name)), shown_amount(name, becomes.get_amount(name))
            )


def _suppressed(before: MasterState, after: Profile) -> Iterator[UpgradeDifference]:
    """Frameworks that want no offers in a role, and say so again when they subscribe."""
    if before.profile.honours_suppressed_roles == after.honours_suppressed_roles:
        return
    today, there = (
        f"{'kept' if profile.honours_suppressed_roles else 'ignored'} when it subscribes"
        for profile in (before.profile, after)
    )
    for framework in before.frameworks.values():
        if framework.suppressed:
            yield UpgradeDifference("suppression", framework.name, today, there)


def _flags(before: MasterState, after: Profile) -> Iterator[UpgradeDifference]:
    """Flags with another value than the default, with which a master that does not have them does not start."""
    given = [name for name, text in before.flags.shown.items() if DEFAULTS.get(name) != text]
    for name in sorted({*flags_of(before.profile.release, given)} - {*flags_of(after.release, given)}):
        yield UpgradeDifference("flag", name, before.flags.shown[name], "the master does not start with it")


def _metrics(before: Master, after: Master) -> Iterator[UpgradeDifference]:
    """Names that are gone; those that came together with a later release are one row."""
    gone = sorted(before.metrics.snapshot().keys() - after.metrics.snapshot().keys())
    named = Counter(pattern_of(name) or name for name in gone)
    for name, count in named.items():
        yield UpgradeDifference("metric", name, "there" if count == 1 else f"{count} of them", _GONE)


# --- Requests -----------------------------------------------------------------------------------------


def answered_differently(before: Master, after: Master, requests: Sequence[SentRequest]) -> tuple[TriedRequest, ...]:
    """Send each request to both masters, in order, and return those that they answer differently."""
    applications = Application(before), Application(after)
    found: list[TriedRequest] = []
    for sent in requests:
        headers = {"accept": JSON, **({"content-type": JSON} if sent.body else {})}
        request = Request(sent.method, sent.target, headers, sent.body)
        today, there = (application.handle(request) for application in applications)
        gone = _gone(_members(today), _members(there)) if today.status == there.status == _OK else ()
        if today.status != there.status or gone:
            message = "" if there.status < _REFUSED else there.body.decode(errors="replace").strip()
            found.append(
                TriedRequest(_name(sent), sent.times, today.status, there.status, message, tuple(sorted(gone)))
            )
    return tuple(found)


_OK, _REFUSED = 200, 400


def _name(sent: SentRequest) -> str:
    """Method, path and the type of a call."""
    try:
        call = json.loads(sent.body)["type"]
    except (ValueError, LookupError, TypeError):
        return f"{sent.method} {sent.target}"
    return f"{sent.method} {sent.target} {call}"


def _gone(before: set[str], after: set[str]) -> tuple[str, ...]:
    """The names that are only in the first of both, without those below them."""
    gone = before - after
    highest = sorted(name for name in gone if name.rpartition(".")[0] not in gone)
    return tuple(dict.fromkeys(pattern_of(name) or name for name in highest))


def _members(response: Response) -> set[str]:
    """The names of members in an answer, each with those above it; those of a stream are not read."""
    if response.stream is not None:
        response.stream.left()
        return set()
    try:
        return set(_names(json.loads(response.body), ""))
    except ValueError:
        return set()


def _names(part: Any, above: str) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _names(one, above)
    elif isinstance(part, dict):
        for name, value in part.items():
            here = f"{above}.{name}" if above else name
            yield here
            yield from _names(value, here)
