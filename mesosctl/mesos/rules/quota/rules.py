"""The rules of quota: the conditions with their sentences, and the one list of rules.

Source: Mesos documentation, "Quota", "Operator HTTP Endpoint"; "Operator HTTP API", "UPDATE_QUOTA".

A condition returns nothing or raises.  A `Rule` gives a condition its name, the versions of Mesos it holds for, and
whether `force` skips it.  `refuse` folds over a tuple of rules, in an order of its own for each user: the fake master
when it receives a request, and mesosctl before it sends one.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.amount_text import in_words, shown_amount
from mesosctl.mesos.amounts.quantities import SIZED_NAMES, Limits, Quantities, Quota, to_double, to_milli, to_sent_milli
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.rules.quota.capacity import check_capacity
from mesosctl.mesos.rules.version_profile import MESOS_1_9, MESOS_1_10, MESOS_1_11, Profile, needs

if TYPE_CHECKING:
    from mesosctl.mesos.amounts.resource import (
        Resource,  # imported late: a command that only reads quota does not need it
    )


Fact = TypeVar("Fact")

# Mesos documentation, "Operator HTTP API", "UPDATE_QUOTA": mem and disk are counted in MB, so this is an exabyte.
LARGEST_SIZE = 1_099_511_627_776
LARGEST_AMOUNT = 1_000_000_000_000
LARGEST_HELD = (2**63 - 1) // 1000
_SMALLEST_NORMAL = 2.2250738585072014e-308

# --- One v0 request (POST /quota, SET_QUOTA), in the order in which Mesos checks it -----------------


def check_not_default_role(role: str, profile: Profile) -> None:
    """Older masters give "*" no quota.  Raises RuleViolation."""
    if role == roles.DEFAULT_ROLE and not profile.default_role_may_have_quota:
        raise RuleViolation(
            f"the default role '*' cannot have a quota: {needs('that', MESOS_1_10.version, profile)}",
            field="role",
            rule="quota.default-role",
            hint="set quota for the roles that frameworks subscribe with",
        )


class _EntryRule(NamedTuple):
    """A rule of one entry of a guarantee: the sentence follows the name of the resource."""

    name: str
    part: str
    """The part of the entry that breaks it."""
    is_broken: Callable[["Resource"], bool]
    sentence: str


_ENTRY_RULES = (
    _EntryRule(
        "quota.unreserved-only",
        "role",
        lambda entry: entry.is_reserved,
        "carries a reservation, but quota is for unreserved resources only",
    ),
    _EntryRule(
        "quota.no-disk-info",
        "disk",
        lambda entry: entry.disk is not None,
        "carries DiskInfo, but quota counts plain amounts only",
    ),
    _EntryRule(
        "quota.not-revocable",
        "revocable",
        lambda entry: entry.revocable,
        "carries RevocableInfo, but quota is never revocable",
    ),
    _EntryRule(
        "quota.scalar-only", "type", lambda entry: not entry.is_scalar, "is non-scalar, but quota is for amounts only"
    ),
)


def check_guarantee(
    guarantee: Sequence["Resource"], field: str = "guarantee", *, may_repeat_names: bool = False
) -> None:
    """The entries of a guarantee: some, and each a plain scalar named once.  Raises RuleViolation naming `field`."""
    if not guarantee:
        raise RuleViolation(f"the {field} is empty", field=field, rule="quota.empty", hint="name at least one resource")
    seen: set[str] = set()
    for index, resource in enumerate(guarantee):
        where = f"{field}[{index}]"
        for rule in _ENTRY_RULES:
            if rule.is_broken(resource):
                raise RuleViolation(f"{resource.name} {rule.sentence}", field=f"{where}.{rule.part}", rule=rule.name)
        if resource.name in seen and not may_repeat_names:
            raise RuleViolation(
                f"duplicate resource name '{resource.name}'",
                field=f"{where}.name",
                rule="quota.duplicate-name",
                hint=f"give {resource.name} once",
            )
        seen.add(resource.name)


def check_agents_can_have(guarantee: Sequence["Resource"]) -> None:
    """No entry is allocated to a role, or of a provider: a master that compares whole resources finds it nowhere.

    Raises Conflict.
    """
    for resource in guarantee:
        if resource.allocation_role is not None or resource.provider_id is not None:
            raise Conflict(
                f"not enough capacity: no agent has {resource.name} that is allocated, or of a resource provider",
                rule="quota.capacity",
            )


def check_amounts_above_zero(guarantee: Sequence["Resource"]) -> None:
    """A zero guarantees nothing, and by POST /quota a 1.11 master makes it a limit of zero that starves the role.

    Masters accept a zero; this rule is the tool's own.  Raises RuleViolation.
    """
    for index, resource in enumerate(guarantee):
        if isinstance(resource.value, int) and resource.value <= 0:
            raise RuleViolation(
                f"{resource.name} is zero, which guarantees nothing",
                field=f"guarantee[{index}].scalar.value",
                rule="quota.above-zero",
                hint=f"leave {resource.name} out",
                values={"resource": resource.name},
            )


def quota_of_guarantee(guarantees: Quantities, profile: Profile) -> Quota:
    """The quota that a v0 request stores: guarantees, and equal limits if the master makes them."""
    return Quota(guarantees, Limits(guarantees if profile.quota_request_sets_limit else None))


def check_limits_fit_request(quota: Quota, profile: Profile) -> None:
    """A v0 request makes no limits, or limits equal to the guarantee.  Raises RuleViolation for others."""
    if quota_of_guarantee(quota.guarantees, profile) == quota:
        return
    if profile.knows_update_quota:
        raise RuleViolation(
            "POST /quota makes the limit equal to the guarantee, and cannot set another one",
            field="limits",
            rule="quota.limits-need-update",
            hint="UPDATE_QUOTA sets every limit",
            values={"other_call": "UPDATE_QUOTA"},
        )
    raise RuleViolation(
        needs("a limit", MESOS_1_9.version, profile),
        field="limits",
        rule="quota.limits-need-update",
        hint="leave the limits out, or set them to none",
    )


def check_no_quota_yet(role: str, stored: Collection[str]) -> None:
    """A v0 request cannot change a quota, not even with force.  Raises RuleViolation."""
    if role in stored:
        raise RuleViolation(
            f"role '{role}' already has quota",
            field="role",
            rule="quota.already-set",
        )


def check_quota_is_set(role: str, stored: Collection[str]) -> None:
    """Only an existing quota can be removed.  Raises RuleViolation."""
    if role not in stored:
        raise RuleViolation(f"role '{role}' has no quota set", field="role", rule="quota.not-set")


def check_tree(quotas: Mapping[str, Quota]) -> None:
    """Every role guarantees at least the sum of what its children guarantee.  Raises RuleViolation.

    A role between two others that has no entry guarantees nothing.
    """
    nodes = set(quotas)
    for role in quotas:
        nodes.update(roles.ancestors(role))
    children: dict[str, list[str]] = {}
    for role in nodes:
        if "/" in role:
            children.setdefault(role.rpartition("/")[0], []).append(role)
    for parent in sorted(children):
        own = quotas[parent].guarantees if parent in quotas else Quantities()
        needed = Quantities.total(quotas[child].guarantees for child in children[parent] if child in quotas)
        if not own.contains(needed):
            raise RuleViolation(
                f"Parent role '{parent}' with guarantees ({in_words(own)}) does not contain "
                f"the sum of its children's guarantees ({in_words(needed)})",
                field="role",
                rule="quota.hierarchy",
            )


def check_not_nested(role: str) -> None:
    """Only top-level roles can have quota.  Raises RuleViolation."""
    if "/" in role:
        top = roles.top_level(role)
        raise RuleViolation(
            f"quota on nested role '{role}' is not supported yet",
            field="role",
            rule="quota.nested",
            hint=f"a quota of '{top}' is for frameworks in '{top}' itself: have them subscribe with that role, "
            f"or reserve resources for '{role}'",
        )


def check_path(role: str) -> None:
    """Role syntax, and characters that end a path or must be quoted in one.  Raises RuleViolation."""
    roles.check_role(role)
    if "?" in role or "#" in role or not role.isascii() or not role.isprintable():
        raise RuleViolation(
            f"role '{role}' cannot be named in a path, and there is no other safe way to remove a quota",
            field="role",
            rule="quota.path",
            hint="name roles in ASCII, without '?' and '#'",
        )


# --- One entry of UPDATE_QUOTA (Mesos documentation, "Operator HTTP API", "UPDATE_QUOTA") -----------


def check_config_amounts(
    guarantees: Mapping[str, float], limits: Mapping[str, float], *, are_bounded: bool = True
) -> None:
    """Sizes, then signs, then guarantee against limit; amounts are doubles as sent.  Raises RuleViolation.

    Where amounts are not bounded (1.9), a guarantee whose thousandths 64 bits cannot hold ends a real master.
    """
    for which, amounts in (("guarantees", guarantees), ("limits", limits)):
        for name in sorted(amounts):
            largest, words = (LARGEST_SIZE, "1 exabyte") if name in SIZED_NAMES else (LARGEST_AMOUNT, "1 trillion")
            if not are_bounded:
                largest, words = LARGEST_HELD, "64 bits of thousandths hold"
            if amounts[name] > largest:
                raise RuleViolation(
                    f"{name}: {amounts[name]:g} is more than {words} ({largest})",
                    field=which,
                    rule="quota.too-large",
                )
    for which, amounts in (("guarantee", guarantees), ("limit", limits)):
        for name in sorted(amounts):
            problem = _unusable(amounts[name])
            if problem is not None:
                raise RuleViolation(
                    f"{which} of {name}: {problem} values are not supported", field=f"{which}s", rule="quota.number"
                )
    for name, bound in sorted(limits.items()):
        if to_milli(guarantees.get(name, 0.0)) > to_milli(bound):
            guarantee, limit = (shown_amount(name, to_milli(value)) for value in (guarantees[name], bound))
            raise RuleViolation(
                f"the guarantee of {name} ({guarantee}) is above its limit ({limit})",
                field="limits",
                rule="quota.guarantee-within-limit",
                hint="raise the limit too, or guarantee less",
            )


def _unusable(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinite"
    if value != 0 and abs(value) < _SMALLEST_NORMAL:
        return "Subnormal"
    return "Negative" if value < 0 else None


def quota_of_config(guarantees: Mapping[str, float], limits: Mapping[str, float]) -> Quota:
    """The quota that one checked entry stores."""
    return Quota(
        Quantities({name: to_sent_milli(value) for name, value in guarantees.items()}),
        Limits({name: to_sent_milli(value) for name, value in limits.items()}),
    )


def check_consumption(role: str, limits: Limits, consumed: Quantities) -> None:
    """A limit may not be below what the role already consumes, unless forced.  Raises RuleViolation."""
    if not limits.contains(consumed):
        violation = RuleViolation(
            f"role '{role}' already consumes {in_words(consumed)}, more than its limits of {in_words(limits)}",
            field="limits",
            rule="quota.consumption",
            hint="raise the limits, or free what the role holds",
            override="force",
        )
        violation.role = role
        raise violation


# --- The list ---------------------------------------------------------------------------------------


class UnknownFact(Exception):
    """A rule depends on something that cannot be read; only the master checks it then."""


class Facts(Protocol):
    """Facts about a cluster, read when a rule asks for them.  Each raises UnknownFact if it cannot be read."""

    @property
    def profile(self) -> Profile: ...  # noqa: D102

    @property
    def quotas(self) -> Mapping[str, Quota]: ...  # noqa: D102

    @property
    def whitelist(self) -> Collection[str] | None: ...  # noqa: D102

    @property
    def capacity(self) -> Quantities: ...  # noqa: D102

    def consumed(self, role: str) -> Quantities: ...  # noqa: D102


def known(fact: Fact | None) -> Fact:
    """The fact.  Raises UnknownFact if it is None."""
    if fact is None:
        raise UnknownFact
    return fact


def known_or_none(read: Callable[[], Fact]) -> Fact | None:
    """The fact that is read, or None if it is unknown."""
    try:
        return read()
    except UnknownFact:
        return None


class GivenFacts:
    """Facts that somebody has read before; None for those that are unknown."""

    def __init__(
        self,
        profile: Profile,
        *,
        quotas: Mapping[str, Quota] | None = None,
        capacity: Quantities | None = None,
        consumed: Mapping[str, Quantities] | None = None,
    ) -> None:
        self.profile = profile
        self._quotas = quotas
        self._capacity = capacity
        self._consumed = consumed or {}

    @property
    def quotas(self) -> Mapping[str, Quota]:
        """Every quota that is set, by role."""
        return known(self._quotas)

    @property
    def whitelist(self) -> Collection[str] | None:
        """Always unknown: only `quota check` reads it."""
        raise UnknownFact

    @property
    def capacity(self) -> Quantities:
        """The amounts that the cluster can promise."""
        return known(self._capacity)

    def consumed(self, role: str) -> Quantities:
        """Return what counts towards the limits of a role."""
        return known(self._consumed.get(role))


@dataclass(frozen=True)
class Wish:
    """The quota that a role shall have, with amounts as doubles, as they are sent."""

    role: str
    guarantees: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    by_request: bool = False
    """Whether POST /quota or SET_QUOTA asks for it, rather than UPDATE_QUOTA."""
    entries: Sequence["Resource"] | None = None
    """The guarantee as it was named, if it was; `guarantees` are its scalars."""
    together: Mapping[str, Quota | None] | None = None
    """The quotas after the same request by role, None for no quota; without it, the request is for this role alone."""

    @classmethod
    def of(
        cls, role: str, quota: Quota, *, by_request: bool = False, entries: Sequence["Resource"] | None = None
    ) -> "Wish":
        """A wish for these amounts."""
        guarantees, limits = (
            {name: to_double(milli) for name, milli in part.items()} for part in (quota.guarantees, quota.limits)
        )
        return cls(role, guarantees, limits, by_request, entries)

    @cached_property
    def quota(self) -> Quota:
        """The amounts.  Only for amounts that keep `AMOUNTS`."""
        return quota_of_config(self.guarantees, self.limits)

    def after(self, facts: Facts) -> dict[str, Quota]:
        """All quotas after the request."""
        changes = {self.role: self.quota} if self.together is None else self.together
        return {role: quota for role, quota in {**facts.quotas, **changes}.items() if quota is not None}


class Rule(NamedTuple):
    """One rule of quota."""

    name: str
    """The name in answers; a condition with several parts gives the name of the broken part instead."""
    kept: str
    """The sentence for a wish that keeps it; the condition has the one for a wish that breaks it."""
    condition: Callable[[Wish, Facts], object]
    """Raises RuleViolation or Conflict if it is broken, and UnknownFact."""
    holds_for: Callable[[Profile], bool] = lambda _: True
    """The versions of Mesos that have it."""
    force_skips: bool = False

    def check(self, wish: Wish, facts: Facts) -> None:
        """Raises RuleViolation or Conflict if the rule holds and is broken, and UnknownFact."""
        if self.holds_for(facts.profile):
            self.condition(wish, facts)


def refuse(rules: Iterable[Rule], wish: Wish, facts: Facts, *, force: bool = False) -> None:
    """Raise the RuleViolation or Conflict of the first broken rule; one whose facts are unknown counts as kept."""
    for rule in rules:
        if not (force and rule.force_skips):
            try:
                rule.check(wish, facts)
            except UnknownFact:
                continue


def refuse_without_cluster(role: str, quota: Quota) -> None:
    """The rules that need no cluster, which hold for every version.  Raises RuleViolation."""
    refuse(QUOTA, Wish.of(role, quota), GivenFacts(MESOS_1_11))


def _removable(wish: Wish, _: Facts) -> None:
    if roles.role_error(wish.role) is None:  # that has its own rule
        check_path(wish.role)


def _plain_amounts(wish: Wish, facts: Facts) -> None:
    if wish.entries is not None:
        check_guarantee(wish.entries, may_repeat_names=facts.profile.guarantee_may_repeat_names)


def _limits_fit(wish: Wish, facts: Facts) -> None:
    if wish.by_request:
        check_limits_fit_request(wish.quota, facts.profile)


def _fits(wish: Wish, facts: Facts) -> None:
    if facts.profile.capacity_compares_resources:
        check_agents_can_have(wish.entries or ())
    try:
        after = wish.after(facts)
    except UnknownFact:
        # What is guaranteed to others only adds to this, so too much alone is refused whatever that is.
        changes = {wish.role: wish.quota} if wish.together is None else wish.together
        check_capacity({role: quota for role, quota in changes.items() if quota is not None}, facts.capacity)
        raise
    check_capacity(after, facts.capacity)


def _within_limits(wish: Wish, facts: Facts) -> None:
    if wish.limits:
        check_consumption(wish.role, wish.quota.limits, facts.consumed(wish.role))


VALID_ROLE = Rule("role.syntax", "the role name is valid", lambda wish, _: roles.check_role(wish.role))
DEFAULT_ROLE = Rule(
    "quota.default-role",
    "this role can have quota",
    lambda wish, facts: check_not_default_role(wish.role, facts.profile),
    holds_for=lambda profile: not profile.default_role_may_have_quota,
)
TOP_LEVEL = Rule("quota.nested", "the role is at the top level", lambda wish, _: check_not_nested(wish.role))
ALLOWED_ROLE = Rule(
    "role.whitelist",
    "the master allows the role",
    lambda wish, facts: roles.check_whitelist(wish.role, facts.whitelist),
)
PLAIN_AMOUNTS = Rule("quota.scalar-only", "all amounts are plain, and each resource is named once", _plain_amounts)
AMOUNTS = Rule(
    "quota.too-large",
    "no amount is larger than a master can hold",
    lambda wish, facts: check_config_amounts(
        wish.guarantees, wish.limits, are_bounded=facts.profile.quota_amounts_are_bounded
    ),
    holds_for=lambda profile: profile.quota_amounts_are_bounded or profile.knows_update_quota,
)
LIMITS = Rule("quota.limits-need-update", "the master can set these limits", _limits_fit)
NO_QUOTA_YET = Rule(
    "quota.already-set",
    "the role has no quota yet",
    lambda wish, facts: check_no_quota_yet(wish.role, facts.quotas),
)
QUOTA_IS_SET = Rule(
    "quota.not-set", "the role has quota", lambda wish, facts: check_quota_is_set(wish.role, facts.quotas)
)
TREE = Rule(
    "quota.hierarchy",
    "parent roles guarantee at least as much as their children",
    lambda wish, facts: check_tree(wish.after(facts)),
)
CAPACITY = Rule(
    "quota.capacity",
    "the cluster has room for it",
    _fits,
    force_skips=True,
)
CONSUMPTION = Rule(
    "quota.consumption",
    "the role consumes no more than its limits",
    _within_limits,
    holds_for=lambda profile: profile.knows_update_quota,
    force_skips=True,
)

# mesosctl's own, which no master has; it also applies CONSUMPTION to a request that makes limits.
REMOVABLE = Rule("quota.path", "the quota could be removed again", _removable)
ABOVE_ZERO = Rule(
    "quota.above-zero", "every amount is above zero", lambda wish, _: check_amounts_above_zero(wish.entries or ())
)

# The rules of each call, in the order of Mesos.  SET_QUOTA and POST /quota authorize in between, UPDATE_QUOTA and
# DELETE /quota at the end.
SET_QUOTA = (VALID_ROLE, DEFAULT_ROLE, PLAIN_AMOUNTS, ALLOWED_ROLE, NO_QUOTA_YET, TREE, TOP_LEVEL)
# Beyond the largest amounts a real master accepts a request and dies on it.
SET_QUOTA_IF_AUTHORIZED = (CAPACITY, AMOUNTS)
REMOVE_QUOTA = (ALLOWED_ROLE, QUOTA_IS_SET, TREE)
UPDATE_QUOTA_EACH = (ALLOWED_ROLE, TOP_LEVEL, VALID_ROLE, DEFAULT_ROLE, AMOUNTS)
UPDATE_QUOTA_WHOLE = (TREE, CAPACITY)

# What can be said about a quota without a cluster, and what mesosctl says of the quota of a role that it has read.
QUOTA = (TOP_LEVEL, VALID_ROLE, AMOUNTS)
ROLE_WITH_QUOTA = (VALID_ROLE, DEFAULT_ROLE, TOP_LEVEL)
QUOTA_ON_MASTER = (*ROLE_WITH_QUOTA, AMOUNTS, LIMITS)
