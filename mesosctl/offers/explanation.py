"""`offers explain`: a snapshot of the cluster, the allocator's account of it, and what only the live master shows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.account import account_of
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, SnapshotFramework, evaluable
from mesosctl.mesos.door.offer_explanation import ESSENTIAL, Hindrance, OfferAccount, OfferExplanation, Tried
from mesosctl.mesos.errors import MesosctlError, NotFound
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.listed_agents import AgentsInService, agents_in_service
from mesosctl.mesos.messages.frameworks import completed_frameworks
from mesosctl.mesos.names import ROLE_OR_FRAMEWORK, Names, kind_of
from mesosctl.mesos.roles import did_you_mean, top_level
from mesosctl.mesos.rules.quota.capacity import total_guarantees
from mesosctl.offers.crowds import account_likeness
from mesosctl.reading.offers_after_failover import recovery
from mesosctl.reading.quotas import read_if_allowed
from mesosctl.snapshot.work import UNKNOWN_FILTERS, UNKNOWN_WHITELIST, read_snapshot
from mesosctl.suggestion import command

Subject = tuple[SnapshotFramework, str]
_FIELD = "ROLE|FRAMEWORK"


def explain(
    master: LeadingMaster, target: str, progress: Callable[[str], None] | None = None
) -> list[OfferExplanation]:
    """Explain each role of a framework (by id or name), or each framework of a role.  Raises NotFound.

    `progress` gets a sentence whenever there is news.
    """
    import fake_master

    snapshot = evaluable(read_snapshot(master, progress=progress))
    try:
        subjects = _subjects(snapshot, target)
    except NotFound as error:
        raise _completed(master, target) or error from None
    agents: AgentsInService = master.stream("/slaves", agents_in_service)
    figures = _figures(master)
    accounts = fake_master.account_offers(
        snapshot,
        [(framework.id, role) for framework, role in subjects],
        agents.out_of_service,
    )
    held_back = recovery(snapshot.flags, agents.registered, agents.awaited, figures, has_quotas=bool(snapshot.quotas))
    found = [
        _explanation(snapshot, framework, account, held_back, figures)
        for (framework, _), account in zip(subjects, accounts, strict=True)
    ]
    tried: dict[object, list[tuple[SnapshotFramework, frozenset[Tried]]]] = {}
    made = []
    for explanation, (framework, _) in zip(found, subjects, strict=True):
        # What would help one of many alike frameworks would help each.
        traits = replace(framework, id="", name="")
        known = tried.setdefault(account_likeness(explanation.account), [])
        useless = next((useless for other, useless in known if other == traits), None)
        if useless is None:
            useless = _useless(snapshot, explanation, agents.out_of_service)
            known.append((traits, useless))
        made.append(replace(explanation, useless=useless))
    return made


def _useless(
    snapshot: ClusterSnapshot, explanation: OfferExplanation, out_of_service: Mapping[str, str]
) -> frozenset[Tried]:
    """Return what was tried on the snapshot, and leaves nothing open of what is missing for the role."""
    import fake_master

    account, missing = explanation.account, explanation.missing
    if explanation.hindrance is not None or (missing is None and not explanation.beyond_limit):
        return frozenset()  # nothing of this is advised
    found: set[Tried] = set()
    if missing is None:
        for remedy, tried in _remedies_of_quota(snapshot, account):
            if remedy == ("limit", ""):
                if tried is None:
                    found.add(remedy)
                    continue
                (after,) = fake_master.account_offers(tried, [(account.framework_id, account.role)], out_of_service)
                more = _open(after) - explanation.open
                if not any(more.get_amount(name) for name in explanation.beyond_limit):
                    found.add(remedy)
        return frozenset(found)
    for remedy, tried in _remedies(snapshot, account):
        if tried is None:
            found.add(remedy)
            continue
        role = remedy[1] if remedy[0] == "subscribe" else account.role
        (after,) = fake_master.account_offers(tried, [(account.framework_id, role)], out_of_service)
        is_sooner = remedy[0] == "own guarantee" and len(after.ahead) < len(account.ahead)
        if not _open(after).get_amount(missing) and not is_sooner:
            found.add(remedy)
    return frozenset(found)


def _remedies(snapshot: ClusterSnapshot, account: OfferAccount) -> Iterator[tuple[Tried, ClusterSnapshot | None]]:
    """The changes that may be advised, each with the cluster after it; None if a master would refuse the change."""
    yield from _remedies_of_quota(snapshot, account)
    yield from _remedies_of_reservations(snapshot, account)
    yield from _remedies_of_others(snapshot, account)
    missing = (line.capability for line in account.lines if line.capability is not None)
    lacking = frozenset(capability.name for capability in missing if not capability.of_agent)
    for capability in sorted(lacking):
        yield ("capability", capability), _with_framework(snapshot, account, lacking)


def _remedies_of_reservations(
    snapshot: ClusterSnapshot, account: OfferAccount
) -> Iterator[tuple[Tried, ClusterSnapshot]]:
    """Undo each role's idle dynamic reservations, or subscribe with it."""
    for role in dict.fromkeys(line.roles[0] for line in account.lines if line.cause == "reserved"):
        yield ("unreserve", role), _with_undone(snapshot, role)
        yield ("subscribe", role), _with_framework(snapshot, account, frozenset({"MULTI_ROLE"}), (role,))


def _with_undone(snapshot: ClusterSnapshot, role: str) -> ClusterSnapshot:
    """Return the cluster after the idle dynamic reservations for `role` are undone; volumes stay."""
    accounts, agents = account_of(snapshot).by_agent, []
    for agent in snapshot.agents:
        idle = accounts[agent.id].idle
        undone = idle.filter(lambda entry: entry.role == role and entry.is_dynamically_reserved and entry.disk is None)
        total = agent.total - undone + Resources([_without_dynamic(entry) for entry in undone])
        agents.append(replace(agent, total=total) if undone else agent)
    return replace(snapshot, agents=tuple(agents))


def _without_dynamic(entry: Resource) -> Resource:
    """Return a reserved resource as it is when every dynamic reservation is undone."""
    while entry.is_dynamically_reserved:
        (entry,) = Resources([entry]).pop_reservation()
    return entry


def _with_framework(
    snapshot: ClusterSnapshot, account: OfferAccount, capabilities: frozenset[str], roles: tuple[str, ...] = ()
) -> ClusterSnapshot:
    """Return the cluster after the framework has subscribed with more capabilities and roles."""
    return replace(
        snapshot,
        frameworks=tuple(
            replace(
                framework,
                roles=tuple(dict.fromkeys((*framework.roles, *roles))),
                capabilities=framework.capabilities | capabilities,
            )
            if framework.id == account.framework_id
            else framework
            for framework in snapshot.frameworks
        ),
    )


def _remedies_of_others(snapshot: ClusterSnapshot, account: OfferAccount) -> Iterator[tuple[Tried, ClusterSnapshot]]:
    """Let tasks end, and offers be answered."""
    own = top_level(account.role)
    without_others = replace(
        _with_usages(snapshot, lambda role: top_level(role) == own),
        offers=tuple(offer for offer in snapshot.offers if top_level(offer.role) == own),
    )
    if any(line.cause in ("used", "minimum") for line in account.lines):
        yield ("others end", ""), without_others
    if any(line.cause == "used" for line in account.lines):
        yield ("agents", ""), _with_more_agents(snapshot, account)
    if account.reached or account.has_own_tasks:
        yield ("own end", ""), _with_usages(snapshot, lambda role: top_level(role) != own)
        quota = _with_larger_limits(snapshot, account)
        yield ("limit and others end", ""), _with_quotas(without_others, {**snapshot.quotas, own: quota})
    if any(line.cause == "offered" and not line.own for line in account.lines):
        held = (account.framework_id, account.role)
        answered = tuple(offer for offer in snapshot.offers if (offer.framework_id, offer.role) == held)
        yield ("answer", ""), replace(snapshot, offers=answered)


_MOST_ADDED = 100
"""Agents that are added to try whether more of them would help."""


def _with_more_agents(snapshot: ClusterSnapshot, account: OfferAccount) -> ClusterSnapshot:
    """Return the cluster with more empty agents like the largest: enough for what guarantees lack, and one."""
    largest = max(snapshot.agents, key=lambda agent: sorted(agent.total.scalar_quantities().items()))
    total = Resources([_without_dynamic(entry) for entry in largest.total if entry.disk is None])
    lacking, has = Quantities.total(account.lacking.values()), total.quantities()
    count = 1 + max((-(-milli // has[name]) for name, milli in lacking.items() if has.get(name)), default=0)
    added = (f"added-{number}" for number in range(min(count, _MOST_ADDED)))
    return replace(
        snapshot, agents=(*snapshot.agents, *(replace(largest, id=name, hostname=name, total=total) for name in added))
    )


def _with_usages(snapshot: ClusterSnapshot, stays: Callable[[str], bool]) -> ClusterSnapshot:
    """Return the cluster after all tasks of the other roles have ended; `stays` tells the roles whose tasks go on."""
    lending = snapshot.lending
    if lending is not None:
        lending = replace(
            lending,
            tasks=tuple(task for task in lending.tasks if stays(task.role)),
            debts=tuple(debt for debt in lending.debts if stays(debt.role)),
        )
    usages = tuple(usage for usage in snapshot.usages if stays(usage.role))
    return replace(snapshot, usages=usages, lending=lending)


def _remedies_of_quota(
    snapshot: ClusterSnapshot, account: OfferAccount
) -> Iterator[tuple[Tried, ClusterSnapshot | None]]:
    """Change guarantees and limits."""
    now = account_of(snapshot)
    keeping = {role for line in account.lines if line.cause == "guarantee" for role in line.roles}
    if keeping:
        freed = {role: snapshot.quotas[role]._replace(guarantees=Quantities()) for role in keeping}
        yield ("guarantee", ""), _with_quotas(snapshot, {**snapshot.quotas, **freed})
    own = top_level(account.role)
    if any(line.cause == "limit" for line in account.lines):
        larger = {**snapshot.quotas, own: _with_larger_limits(snapshot, account)}
        fits = not account.guarantee_is_limit or now.capacity.contains(total_guarantees(larger))
        yield ("limit", ""), _with_quotas(snapshot, larger) if fits else None
    if any(line.cause in ("guarantee", "used") for line in account.lines):
        quota = snapshot.quotas.get(own, Quota())
        raised = quota._replace(guarantees=quota.guarantees + now.unpromised)
        is_possible = any(now.unpromised.get_amount(name) for name in ESSENTIAL)
        if not is_possible:
            yield ("any guarantee", ""), None
        yield ("own guarantee", ""), _with_quotas(snapshot, {**snapshot.quotas, own: raised}) if is_possible else None
    holders = {
        top_level(role) for line in account.lines if line.cause == "offered" and not line.own for role in line.roles
    }
    if holders:
        limits = {
            role: snapshot.quotas.get(role, Quota())._replace(
                limits=Limits({name: now.status(role).counted.get_amount(name) for name in ESSENTIAL})
            )
            for role in holders
        }
        # A master rescinds the offers that a new limit leaves no room for.
        left = tuple(offer for offer in snapshot.offers if top_level(offer.role) not in holders)
        yield ("cap", ""), replace(_with_quotas(snapshot, {**snapshot.quotas, **limits}), offers=left)


def _with_quotas(snapshot: ClusterSnapshot, quotas: Mapping[str, Quota]) -> ClusterSnapshot:
    return replace(snapshot, quotas={role: quota for role, quota in quotas.items() if not quota.is_default})


def _open(account: OfferAccount) -> Quantities:
    return Quantities.total(line.amounts for line in account.lines if line.cause == "open")


def _explanation(
    snapshot: ClusterSnapshot,
    framework: SnapshotFramework,
    account: OfferAccount,
    held_back: str,
    figures: Mapping[str, float],
) -> OfferExplanation:
    refusals = figures.get(f"allocator/mesos/offer_filters/roles/{account.role}/active")
    return OfferExplanation(
        account=account,
        offers=sum((offer.framework_id, offer.role) == (framework.id, account.role) for offer in snapshot.offers),
        hindrance=_hindrance(framework, account.role, held_back),
        failover_timeout=None if framework.connected else framework.failover_timeout or None,
        refusals=None if refusals is None else int(refusals),
        has_whitelist=UNKNOWN_WHITELIST in snapshot.unknown,
        could_borrow=snapshot.lending is not None and "REVOCABLE_RESOURCES" not in framework.capabilities,
        has_limits=snapshot.profile.knows_update_quota,
        sharers=sum(account.role in other.roles for other in snapshot.frameworks),
        recovery=held_back,
        larger_limits=_larger_limits(snapshot, account),
        smaller_guarantees=_smaller_guarantees(snapshot, account),
        unknown=tuple(_unknown(snapshot, account.role, refusals)),
    )


def _smaller_guarantees(snapshot: ClusterSnapshot, account: OfferAccount) -> dict[str, Quota]:
    """Return the quotas of the roles that something is kept for, with which nothing of that would be kept."""
    kept = [line for line in account.lines if line.cause == "guarantee"]
    names = {name for line in kept for name in line.amounts}
    found = {}
    for role in sorted({role for line in kept for role in line.roles}):
        quota, lacking = snapshot.quotas.get(role, Quota()), account.lacking.get(role, Quantities())
        less = Quantities({name: lacking.get_amount(name) for name in names})
        found[role] = quota._replace(guarantees=quota.guarantees - less)
    return found


_ONE_MORE = {"mem": 1024_000, "disk": 1024_000}
"""Thousandths by which a limit is raised for what others hold now: 1 GiB, and one of any other resource."""


def _larger_limits(snapshot: ClusterSnapshot, account: OfferAccount) -> Limits:
    """Return limits with room for what is free beyond them, or where that is nothing, for a little more."""
    own = top_level(account.role)
    limits = snapshot.profile.caps(snapshot.quotas.get(own, Quota()))
    beyond = Quantities.total(line.amounts for line in account.lines if line.cause == "limit")
    now = account_of(snapshot)
    usage = now.status(own).usage
    held = Quantities() if usage is None else usage.counted_with_offers
    possible = Quantities.total([held, beyond, _open(account)])
    larger = {
        name: possible.get_amount(name) if name in beyond else bound + _ONE_MORE.get(name, 1000)
        for name, bound in limits.items()
        if name in beyond or name in account.reached
    }
    if account.guarantee_is_limit:
        larger = {name: min(bound, limits[name] + now.unpromised.get_amount(name)) for name, bound in larger.items()}
    return Limits({**limits, **larger}) if larger else Limits()


def _with_larger_limits(snapshot: ClusterSnapshot, account: OfferAccount) -> Quota:
    """Return the quota of its top-level role without limits, or with a larger guarantee where that is the limit."""
    quota = snapshot.quotas.get(top_level(account.role), Quota())
    if account.guarantee_is_limit:
        return quota._replace(guarantees=Quantities(_larger_limits(snapshot, account) or quota.guarantees))
    return quota._replace(limits=Limits())


def _hindrance(framework: SnapshotFramework, role: str, held_back: str) -> Hindrance | None:
    if not framework.connected:
        return "disconnected"
    if not framework.active:
        return "inactive"
    if role in (framework.suppressed or ()):
        return "suppressed"
    return "recovery" if held_back else None


def _completed(master: LeadingMaster, target: str) -> NotFound | None:
    """Return the error for a framework that has completed; None if none of this name has."""
    text = kind_of(target)[1]
    try:
        completed = completed_frameworks(master.ask("GET_FRAMEWORKS"))
    except MesosctlError:
        return None
    for framework in reversed(completed):
        if text in (framework.id, framework.name):
            ended = "" if framework.ended is None else f" at {utc_text(framework.ended)}"
            return NotFound(
                f"the framework '{framework.title}' has completed{ended}, so it is offered nothing",
                field=_FIELD,
                hint=f"{command('frameworks list', all=True)} shows all that have completed",
            )
    return None


def _subjects(snapshot: ClusterSnapshot, target: str) -> list[Subject]:
    """Return at least one.  Raises NotFound, and UsageError for a word that means a role and another framework."""
    known = snapshot.frameworks
    names = Names(
        [(framework, role) for framework in known for role in framework.roles or ("",)],
        lambda pair: (("role", pair[1]), ("name", pair[0].name), ("id", pair[0].id)),
        ROLE_OR_FRAMEWORK,
    )
    meant = names.every(target, _FIELD)
    found = [(framework, role) for framework, role in meant if role]
    if found:
        return found
    if meant:
        raise NotFound(
            f"the framework '{target}' is not subscribed to any role, so it is offered nothing",
            hint="it subscribes to roles with SUBSCRIBE or UPDATE_FRAMEWORK",
        )
    kind, text = kind_of(target)
    has_role = text in snapshot.quotas or any(entry.role == text for agent in snapshot.agents for entry in agent.total)
    if has_role and kind in (None, "role"):
        raise NotFound(
            f"no framework is subscribed to role '{text}', so nothing is offered to it",
            field=_FIELD,
            hint=f"its quota and reservations wait for one; {command('frameworks')} shows the roles of each framework",
        )
    raise NotFound(
        f"'{target}' is neither a framework nor a role with frameworks",
        field=_FIELD,
        hint=did_you_mean(
            target,
            [name for framework in known for name in (*framework.roles, framework.name, framework.id)],
            "name a framework by its name or id, or a role that a framework is subscribed to",
        ),
    )


def _unknown(snapshot: ClusterSnapshot, role: str, refusals: float | None) -> list[str]:
    """Return the relevant facts that the master does not show."""
    filters = []
    if snapshot.lending is None and refusals is None:
        filters = ["refusals (filters): this master does not say whether any are in force in the role"]
    elif snapshot.lending is None and refusals:
        count = f"{refusals:.0f} in force in role {role}"
        filters = [f"refusals (filters): {count}; a master does not show whose, on which agents or until when"]
    others = [sentence for sentence in snapshot.unknown if sentence != UNKNOWN_FILTERS]
    return [*filters, *others]


def _figures(master: LeadingMaster) -> dict[str, float]:
    """Return the master's metrics; empty if it has none, hides them, or does not send them in time."""
    without = "reasons that only metrics show are left out"
    try:
        return read_if_allowed(master, "/metrics/snapshot", _numbers, without) or {}
    except MesosctlError:
        return {}


def _numbers(answer: object) -> dict[str, float]:
    if not isinstance(answer, dict):
        raise responses.wrong(answer, "an object", "metrics")
    return {str(name): float(value) for name, value in answer.items() if isinstance(value, int | float)}
