"""Sentences that explain offers: the answer, where resources are, and what would help."""

from collections.abc import Mapping, Sequence

from mesosctl.mesos.amounts.amount_text import as_typed, enumerated, in_words, shown_amount
from mesosctl.mesos.amounts.notation import counted, format_span, listed
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.door.offer_explanation import Cause, Hindrance, OfferExplanation, WithheldResources
from mesosctl.mesos.roles import top_level
from mesosctl.mesos.rules.offers.frameworks import MissingCapability
from mesosctl.suggestion import command

_MOST_CLAUSES = 4
"""In the sentence that answers; the table has all of them."""
_MOST_NAMES = 3


def is_held(line: WithheldResources) -> bool:
    """Whether another role or framework holds it."""
    return line.cause in ("used", "offered") and not line.own


def names(all_names: Sequence[str]) -> str:
    """`a, b and c`; for many, the first few and the number of the others."""
    return listed(all_names, _MOST_NAMES) if len(all_names) > _MOST_NAMES else enumerated(all_names)


def _holder(line: WithheldResources) -> str:
    name = line.framework or line.framework_id or ""
    return f"{name} in role {line.roles[0]}" if line.roles else name


def _holder_in_brackets(line: WithheldResources) -> str:
    """`f0 (role r1)`, for a sentence that names several."""
    name = line.framework or line.framework_id or ""
    return f"{name} (role {line.roles[0]})" if line.roles else name


def _offered_to(line: WithheldResources) -> str:
    return "offered to it" if line.own else f"offered to {_holder(line)}"


def where(line: WithheldResources, refusals: int | None = None) -> str:
    """Where some resources are, from the point of view of the role: `offered to f0 in role r1`.

    `refusals` is how many are in force in the role, None if that is unknown.
    """
    match line.cause:
        case "used":
            return "used by its own tasks" if line.own else f"used by {_holder(line)}"
        case "offered":
            return f"{_offered_to(line)}, not answered yet"
        case "reserved":
            return f"reserved for {line.roles[0]}"
        case "guarantee":
            plural = "s" if len(line.roles) > 1 else ""
            return f"kept for the guarantee{plural} of {names(line.roles)}"
        case "limit":
            limited_by = "guarantee" if line.of_guarantee else "limit"
            which = " (its limit here)" if line.of_guarantee else ""
            return f"beyond the {limited_by} of {line.roles[0]}{which}"
        case "capability" if line.capability is not None:
            return f"{_kind_that_needs(line.capability)}: needs {line.capability}"
        case "open" if refusals:
            in_force = f"{counted(refusals, 'refusal')} in force"
            return f"free, except where a framework has refused it ({in_force})"
        case "out-of-service":
            return f"on agents that are {line.status or 'out of service'}"
        case _:
            return _WHERE[line.cause]


_KINDS = {
    "GPU_RESOURCES": "on agents with GPUs",
    "REGION_AWARE": "on agents in other regions",
    "SHARED_RESOURCES": "in shared volumes",
    "REVOCABLE_RESOURCES": "revocable",
    "RESERVATION_REFINEMENT": "in refined reservations",
}
"""The resources that a framework is offered only with a capability."""


def _kind_that_needs(capability: MissingCapability) -> str:
    """Return which resources need a capability."""
    if capability.of_agent:
        return "on agents that are too old"
    return _KINDS.get(capability.name, "of a kind that it does not accept")


_WHERE: Mapping[Cause, str] = {
    "open": "free, with no known obstacle",
    "minimum": "on agents that have less than the smallest offer",
    "constraints": "on agents that its own offer constraints exclude",
    "filter": "declined by it, until its filters expire",
    "priority": "kept for a request of higher priority",
}
_HINDRANCES: Mapping[Hindrance, str] = {
    "disconnected": "is disconnected from the master, and is offered nothing until it is back",
    "inactive": "is not active, and is offered nothing until the master activates it",
    "suppressed": "has suppressed offers in this role, and is offered nothing until it revives them",
}


def answer(explanation: OfferExplanation, whom: str = "") -> str:
    """The whole answer in one sentence; it is about `whom` instead of the framework."""
    name = whom or explanation.account.framework or explanation.account.framework_id
    subject = f"{name} in role {explanation.account.role}"
    if explanation.hindrance == "recovery":
        return f"{subject} is offered nothing, and neither is anybody else: {explanation.recovery}"
    if explanation.hindrance is not None:
        timeout = explanation.failover_timeout
        away = "" if timeout is None else f"; its failover timeout is {format_span(timeout)}"
        return f"{subject} {_HINDRANCES[explanation.hindrance]}{away}"
    totals = explanation.totals
    if not totals:
        return f"{subject} is offered nothing: no agent has resources"
    missing = explanation.missing
    held = f"holds {_offers(explanation.offers)}" if explanation.offers else ""
    if missing is None:
        free = in_words(explanation.open)
        if _can_have_more(explanation):
            free += f" within the {_limit_word(explanation)} of {top_level(explanation.account.role)}"
        begins = f"{subject} {held}, and " if held else f"{subject} "
        match explanation.refusals:
            case None:
                return f"{begins}could be offered {free}; it may have declined that, which this master does not show"
            case 0 if explanation.has_whitelist:
                return (
                    f"{begins}could be offered {free} if the whitelist names the agents; this master does not show it"
                )
            case 0:
                return f"{begins}is due to be offered {free} in the next allocation"
            case count:
                who = (
                    "it has"
                    if explanation.sharers == 1
                    else f"it or another of the {explanation.sharers} frameworks in this role has"
                )
                return f"{begins}could be offered {free}, but {who} refused offers: {_refusals(count)} in force"
    if held:
        what = f"no more {missing}"
    else:
        what = f"no {missing}" if any(explanation.amount(name, "open") for name in totals) else "nothing"
    total = shown_amount(missing, totals[missing]) + (f" {missing}" if what == "nothing" else "")
    clauses = _clauses(explanation, missing, total)
    why = f"{_limit_clause(explanation, missing)}{clauses}{_never(explanation)}"
    return f"{subject} {held or 'holds no offer'}, and could get {what}: {why}"


def _limit_clause(explanation: OfferExplanation, missing: str) -> str:
    """A clause about the limit of the role, if that is reached; empty if it is not, or if another clause says so."""
    if not explanation.is_at_limit or explanation.amount(missing, "limit"):
        return ""
    top, limit = top_level(explanation.account.role), shown_amount(missing, explanation.account.reached[missing])
    if explanation.account.guarantee_is_limit:
        return f"{top} has reached its guarantee of {limit} {missing} (its limit here), and "
    return f"{top} has reached its limit of {limit} {missing}, and "


def _limit_word(explanation: OfferExplanation) -> str:
    return "guarantee" if explanation.account.guarantee_is_limit else "limit"


def _never(explanation: OfferExplanation) -> str:
    """A clause about the smallest offer, if it is larger than every agent; otherwise empty."""
    if explanation.too_large is None:
        return ""
    name, agent = explanation.too_large
    most = shown_amount(name, Quantities.total(line.amounts for line in agent.lines).get_amount(name))
    offer = f"the smallest offer is {_smallest(explanation)}"
    return f"; {offer}, which no agent has in total: {agent.hostname} has the most {name}, {most}"


def _smallest(explanation: OfferExplanation) -> str:
    return " or ".join(map(str, explanation.account.minimum)) or "anything"


def _offers(count: int) -> str:
    return f"{counted(count, 'offer')} that it has not answered"


def _refusals(count: int) -> str:
    return f"{count} refusal{' is' if count == 1 else 's are'}"


def _clauses(explanation: OfferExplanation, name: str, total: str) -> str:
    """`of 24, 20 are used by f0 (role r1) and 4 are kept for the guarantee of rA`: the largest first."""
    amounts = [(line.amounts.get_amount(name), place) for line, place in _places(explanation, name)]
    if len(amounts) == 1:
        return f"all {total} {_be(name, explanation.totals[name])} {amounts[0][1]}"
    shown = [f"{shown_amount(name, amount)} {_be(name, amount)} {place}" for amount, place in amounts[:_MOST_CLAUSES]]
    rest = sum(amount for amount, _ in amounts[_MOST_CLAUSES:])
    if rest:
        shown.append(f"{shown_amount(name, rest)} {_be(name, rest)} elsewhere")
    return f"of {total}, {', '.join(shown[:-1])}, and {shown[-1]}"


def _be(name: str, milli: int) -> str:
    return "is" if name == "mem" or milli == 1000 else "are"


def _places(explanation: OfferExplanation, name: str) -> list[tuple[WithheldResources, str]]:
    """Return the causes that keep `name` from it, those of one cause together, with a phrase for each."""
    groups: dict[tuple[Cause, bool, tuple[str, ...], str | None], list[WithheldResources]] = {}
    for line in explanation.account.lines:
        if line.amounts.get_amount(name):
            roles = line.roles if line.cause in ("reserved", "guarantee") else ()
            key = (line.cause, line.own, roles, line.detail)
            groups.setdefault(key, []).append(line)
    found = []
    for lines in groups.values():
        lines.sort(key=lambda line: -line.amounts.get_amount(name))
        summed = WithheldResources(
            lines[0].cause, Quantities({name: sum(line.amounts.get_amount(name) for line in lines)})
        )
        found.append((summed, _place(lines)))
    return sorted(found, key=lambda pair: -pair[0].amounts.get_amount(name))


def _place(lines: Sequence[WithheldResources]) -> str:
    """Where the resources of some lines of one cause are; of many holders only some are named."""
    first = lines[0]
    if first.capability is not None:
        return f"{_kind_that_needs(first.capability)} (offered only with the capability {first.capability})"
    if not is_held(first):
        return _offered_to(first) if first.cause == "offered" else where(first)
    holders = names([_holder_in_brackets(line) for line in lines])
    return f"{'used by' if first.cause == 'used' else 'offered to'} {holders}"


# --- What would help --------------------------------------------------------------------------------


def helps(explanation: OfferExplanation) -> list[str]:
    """Return what somebody can do about it, what concerns most first."""
    missing = explanation.missing
    if explanation.hindrance is not None:
        first = _HELP_WITH_HINDRANCE[explanation.hindrance].format(role=explanation.account.role)
        if explanation.failover_timeout is not None:
            first = f"{first}; when its failover timeout is over, the master removes it with its tasks"
        # Without these agents there is nothing to offer to it even then.
        is_away = (
            missing is not None
            and explanation.hindrance != "recovery"
            and explanation.amount(missing, "out-of-service")
        )
        return [first, _HELP["out-of-service"]] if is_away else [first]
    if missing is None:
        refused = [] if explanation.refusals == 0 else [_help_with_refusals(explanation)]
        return [*refused, *([f"for more, {_raise_limit(explanation)}"] if _can_have_more(explanation) else [])]
    lines = [line for line in explanation.account.lines if line.amounts.get_amount(missing)]
    most = max(line.amounts.get_amount(missing) for line in lines)
    obstacles = [line for line in lines if line.cause != "used" or line.amounts.get_amount(missing) == most]
    obstacles.sort(key=lambda line: (line.cause == "used", -line.amounts.get_amount(missing)))
    found = dict.fromkeys(_help(explanation, line, missing) for line in obstacles if not _is_useless(explanation, line))
    at_limit = _help_at_limit(explanation, missing) if explanation.is_at_limit else ""
    return list(filter(None, (at_limit, *found)))[:_MOST_NAMES]


def _can_have_more(explanation: OfferExplanation) -> bool:
    """Whether it could be offered something, and more of that with a larger limit."""
    return (
        explanation.hindrance is None
        and explanation.missing is None
        and bool(explanation.beyond_limit)
        and ("limit", "") not in explanation.useless
    )


def _is_useless(explanation: OfferExplanation, line: WithheldResources) -> bool:
    """Return whether the remedy for a cause was tried in vain."""
    match line.cause:
        case "guarantee" | "limit":
            return (line.cause, "") in explanation.useless
        case "capability":
            missing = line.capability
            return missing is not None and not missing.of_agent and ("capability", missing.name) in explanation.useless
        case "offered":
            return not line.own and ("answer", "") in explanation.useless
        case "minimum":
            return explanation.too_large is None and ("others end", "") in explanation.useless
        case _:
            return False


def _help_at_limit(explanation: OfferExplanation, missing: str) -> str:
    """Say how a role at its limit gets more although others hold the rest; empty if nothing helps."""
    own = (
        ""
        if ("own end", "") in explanation.useless
        else f"wait for tasks of role {top_level(explanation.account.role)} to end"
    )
    if not explanation.amount(missing, "limit"):
        is_useless = ("limit and others end", "") in explanation.useless
        raised = "" if is_useless else f"{_raise_limit(explanation)}, and wait for other tasks to end or add agents"
    else:
        raised = ""  # some is free: the line of the limit says so
    return "; for more, ".join(filter(None, (own, raised)))


def _raise_limit(explanation: OfferExplanation) -> str:
    top = top_level(explanation.account.role)
    amounts = as_typed(explanation.larger_limits)
    if explanation.account.guarantee_is_limit:
        return f"raise the guarantee of {top} with {command('quota update', top, *amounts)}"
    return f"raise the limit of {top} with {command('quota update', top, limit=';'.join(amounts))}"


_HELP_WITH_HINDRANCE: Mapping[Hindrance, str] = {
    "disconnected": "have its scheduler connect and subscribe again with its framework id",
    "inactive": "have its scheduler subscribe again; a master deactivates a framework that disconnects or exceeds "
    "the capacity of its rate limit",
    "suppressed": "if it wants more, have the framework send REVIVE for role {role}",
    "recovery": "wait for the agents to come back",
}


def _help_with_refusals(explanation: OfferExplanation) -> str:
    return (
        f"have the framework send REVIVE, which ends its refusals in role {explanation.account.role}, "
        "or wait until they end; it chooses how long with refuse_seconds"
    )


def _help(explanation: OfferExplanation, line: WithheldResources, missing: str) -> str:
    if line.own and line.cause == "offered":
        return "it holds this itself: have it accept or decline its offers"
    if line.cause == "offered":
        return _help_with_offers(explanation, line)
    if line.capability is not None:
        return _help_with_capability(line.capability)
    if line.cause == "filter":
        return _help_with_refusals(explanation)
    if line.cause == "minimum" and explanation.too_large is not None:
        return "add a larger agent, or lower min_allocatable_resources of the framework or of the master"
    if line.cause == "reserved":
        return _help_with_reservation(explanation, line, missing)
    if line.cause == "used":
        return _help_with_use(explanation)
    if line.cause == "limit":
        return _raise_limit(explanation)
    if line.cause == "guarantee":
        return _help_with_guarantees(explanation, line, missing)
    return _HELP[line.cause].format(
        holder=line.framework or line.framework_id,
        held=names(line.roles) if line.roles else "",
        minimum=_smallest(explanation),
    )


_HELP: Mapping[Cause, str] = {
    "open": "wait for the next allocation",
    "minimum": "free more on one agent: an offer needs {minimum} there",
    "constraints": "have the framework relax its offer constraints with UPDATE_FRAMEWORK",
    "priority": "wait until the request of higher priority is met",
    "out-of-service": "bring the agents back; -o wide names them",
}


def _help_with_guarantees(explanation: OfferExplanation, line: WithheldResources, missing: str) -> str:
    """Say which guarantees keep the missing resource, and what to do about them."""
    quotas = {role: quota for role, quota in explanation.smaller_guarantees.items() if role in line.roles}
    keeping = [role for role in quotas if explanation.account.lacking.get(role, Quantities()).get_amount(missing)] or [
        *quotas
    ]
    commands = " and ".join(_lower_guarantee(role, quotas[role]) for role in keeping)
    lower = f"lower the guarantee of {names(keeping)} with {commands}"
    # A guarantee for the role itself may be refused, or not help.
    return lower if ("own guarantee", "") in explanation.useless else f"{lower}, or {_raise_own(explanation)}"


def _lower_guarantee(role: str, quota: Quota) -> str:
    """Return the command that leaves a role this quota, of which only the guarantee is another one."""
    if quota.is_default:
        return command("quota remove", role)
    return command("quota update", role, *(as_typed(quota.guarantees) or ["none"]))


def _raise_own(explanation: OfferExplanation) -> str:
    top = top_level(explanation.account.role)
    return f"raise that of {top}" if explanation.account.guarantee else f"give {top} one of its own"


def _help_with_use(explanation: OfferExplanation) -> str:
    """Say how to get at what tasks use; empty if nothing helps, or if the limit of the role is in the way first."""
    if explanation.is_at_limit:
        return ""
    others_help = ("others end", "") not in explanation.useless
    waiting_helps = others_help or (explanation.account.has_own_tasks and ("own end", "") not in explanation.useless)
    agents_help = ("agents", "") not in explanation.useless
    ways = [*["wait for tasks to end"] * waiting_helps, *["add agents"] * agents_help]
    top = top_level(explanation.account.role)
    is_served = explanation.account.role == top and ("any guarantee", "") not in explanation.useless
    if not ways or not others_help or not is_served or explanation.account.shortfall:
        return ", or ".join(ways)
    kind = "larger guarantee" if explanation.account.guarantee else "guarantee"
    return (
        f"{', or '.join(ways)}; with a {kind}, {top} is served first once resources are free: "
        f"{command('quota room', top)} shows how large it can be"
    )


def _help_with_offers(explanation: OfferExplanation, line: WithheldResources) -> str:
    """Say how to get at offers that another framework holds; a limit helps only if it does not bind this role too."""
    ways = ["have it accept or decline them", "start the master with --offer_timeout"]
    own = top_level(explanation.account.role)
    can_cap = explanation.has_limits and ("cap", "") not in explanation.useless
    if can_cap and line.roles and own not in map(top_level, line.roles):
        ways.insert(1, f"cap role {names(line.roles)} with a quota limit")
    return f"{line.framework or line.framework_id} holds offers without answering: {_or(ways)}"


def _or(ways: Sequence[str]) -> str:
    return ", ".join(ways[:-1]) + (", or " if len(ways) > 2 else " or ") + ways[-1]


def _help_with_reservation(explanation: OfferExplanation, line: WithheldResources, missing: str) -> str:
    """Say how to get at reserved resources: an operator can undo dynamic reservations alone."""
    if explanation.could_borrow:
        return "have the framework subscribe with REVOCABLE_RESOURCES: this master lends idle reservations"
    role = names(line.roles)
    release = command("unreserve", "AGENT", "RESOURCES", role=line.roles[0] if len(line.roles) == 1 else "ROLE")
    static = line.static.get_amount(missing)
    can_subscribe = ("subscribe", line.roles[0]) not in explanation.useless
    can_unreserve = ("unreserve", line.roles[0]) not in explanation.useless
    if not static:
        ways = [
            f"use {release} to release what {role} does not need" if can_unreserve else "",
            "have the framework subscribe with that role" if can_subscribe and can_unreserve else "",
            f"have the framework subscribe with role {role}" if can_subscribe and not can_unreserve else "",
        ]
        return ", or ".join(filter(None, ways))
    if not can_subscribe:
        return ""
    settled = "the agents' configuration makes this reservation (static), so no command can undo it"
    if static == line.amounts.get_amount(missing) or not can_unreserve:
        return f"have the framework subscribe with role {role}, or start the agents with other --resources: {settled}"
    dynamic = line.amounts.get_amount(missing) - static
    return (
        f"have the framework subscribe with role {role}, or unreserve what {role} does not need: "
        f"{release} releases the {shown_amount(missing, dynamic)} {missing} reserved dynamically; as for "
        f"the other {shown_amount(missing, static)}, {settled}"
    )


def _help_with_capability(capability: MissingCapability) -> str:
    if capability.of_agent:
        return f"upgrade the agents: they lack {capability.name}"
    return f"have the framework subscribe with the capability {capability.name}"
