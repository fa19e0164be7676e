"""The differences between the releases of Mesos, and between them and the master of the design documents.

Each master has one profile: `documents`, or a release of Mesos.  It is chosen once, by what /version shows
(`profile_of`) or by what a person names (`profile_named`); all other code asks the profile, never a version.  What each
release does was seen on a real master of that release (docs/explanation/releases.md, "What differs").
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.errors import BadInput, MesosctlError


class Profile(NamedTuple):
    """The behaviour of one master, as far as masters differ."""

    name: str
    """`documents`, or the minor release, "1.11"."""
    version: str
    """The number that the master shows."""
    release: str | None
    """The release whose messages it speaks; None for the documents' master, which knows all of them."""
    default_role_may_have_quota: bool
    """Whether "*" may be given a quota."""
    guarantee_is_limit: bool
    """Whether a role with quota is offered nothing unreserved beyond its guarantee, and nothing revocable.

    Names that are not in the guarantee come with what is: as much as the guarantees of others do not lack.
    """
    quota_request_sets_limit: bool
    """Whether POST /quota makes the guarantee a limit, too."""
    reservations_consume_quota: bool
    """Whether reservations of a role count towards its quota."""
    quota_takes_whole_agents: bool
    """Whether guarantees are met with whole agents, and what they lack is kept back from the rest of the cluster."""
    agents_keep_headroom_whole: bool
    """Whether what is free and unreserved on an agent is offered whole, or not at all if too little would be left.

    Too little is less than guarantees lack, of any name.  If not, as much is offered as they do not lack.
    """
    subroles_consume_quota: bool
    """Whether what is reserved for roles below a role, and what those hold, counts towards its quota."""
    stages_share_an_order: bool
    """Whether both stages of an allocation run visit the agents in the same random order, not each in its own."""
    framework_leaves_nothing: bool
    """Whether an agent has free again all that the allocator counted of a framework that is removed.

    If not, what the master had lost sight of stays taken: a part of what SHRINK_VOLUME frees.
    """
    guarantees_have_own_sorter: bool
    """Whether roles with quota are ordered by a sorter of their own, which knows nothing else.

    A role has no more in it than what itself holds, without what is revocable, and its offers are counted from the
    moment when its quota is set.  If not, the order of all roles decides.
    """
    framework_shares_are_of_role: bool
    """Whether the share of a framework is of what all frameworks of its role hold, not of the cluster."""
    revive_ends_all_filters: bool
    """Whether REVIVE of some roles ends the filters of the framework in its other roles, too."""
    resubscribing_ends_filters: bool
    """Whether a framework that comes back, and no longer suppresses a role, ends its filters there."""
    longest_refusal: float
    """The seconds that a refusal of offers lasts at most."""
    filters_outlive_agents: bool
    """Whether filters on an agent stay when it is removed, and hold again when it returns."""
    random_order_keeps_subtrees_together: bool
    """Whether the random sorter draws level by level, so that nothing comes between roles below one role."""
    inner_weights_stay: bool
    """Whether a new weight of a role that has only roles below it waits until none of these has frameworks any more."""
    capacity_includes_static_reservations: bool
    """Whether the capacity heuristic counts static reservations."""
    capacity_includes_inactive_agents: bool
    """Whether the capacity heuristic counts registered agents that are disconnected or deactivated."""
    capacity_compares_resources: bool
    """Whether the capacity heuristic compares whole resources: no agent has one with an allocation role or provider."""
    guarantee_may_repeat_names: bool
    """Whether POST /quota may name a resource twice, which guarantees the sum."""
    quota_amounts_are_bounded: bool
    """Whether an amount above a trillion is refused, because a real master would end."""
    guarantee_is_kept_as_sent: bool
    """Whether the entries of a guarantee are kept and shown as they were sent, and not the sums by name."""
    guarantee_metrics_stay: bool
    """Whether the metrics of guarantees show for ever what each name was guaranteed first, even without the quota."""
    quota_shows_principal: bool
    """Whether GET /quota shows the authenticated principal who set a quota."""
    guarantee_shows_role: bool
    """Whether GET /quota writes `"role": "*"` into each guarantee."""
    configs_shown: Literal["never", "with limits", "always"]
    """When GET /quota writes `configs`."""
    delete_path_may_contain_slash: bool
    """Whether DELETE /quota/a/b names the role a/b."""
    knows_update_quota: bool
    """Whether the master supports the v1 call UPDATE_QUOTA, and limits."""
    roles_are_a_tree: bool
    """Whether /roles shows what each role has with those below it, and the roles above, and those of reservations.

    If not, it shows the roles that frameworks, weights, quotas and `--roles` name, each with what itself is allocated
    and offered in one sum.
    """
    whitelist_shows_roles_above: bool
    """Whether /roles also shows the roles above those of `--roles`."""
    path_may_end_with_slash: bool
    """Whether /state/ is /state."""
    bare_statuses_have_text: bool
    """Whether 401, 403, 404 and 501 have a text, which is their status, where there is nothing else to say."""
    json_numbers_are_short: bool
    """Whether JSON has 15 digits of a number, and no zeros at the end of its text: 1e+300 becomes 1e+3."""
    has_json_paths: bool
    """Whether /roles.json, /state.json, /tasks.json and an agent's are served, beside the paths without that end."""
    jsonp_ends_with_semicolon: bool
    """Whether JSON that is wrapped for `?jsonp=` ends with `;`."""
    forgets_roles_without_scalars: bool
    """Whether the allocator no longer knows a role that has only ports or sets reserved, which may end the master."""
    operations_with_ids: Literal["dropped", "refused", "done"]
    """The fate of a framework's operation with an id, on what is no provider's; one that is dropped has no status."""
    converted_comes_back_at_once: bool
    """Whether what an operation of an ACCEPT has converted is not refused with the rest of the offer."""
    counts_broken_acknowledgements: bool
    """Whether an acknowledgement without a valid uuid, which is refused, is counted as invalid."""
    same_slack_ends_offers: bool
    """Whether an agent that reports the usage slack that it has ends the offers with it."""
    reserves_volumes: bool
    """Whether RESERVE refines the reservation of a persistent volume."""
    reserve_passes_over_nothing: bool
    """Whether RESERVE passes over an entry of zero beside others, and does not end the master."""
    operates_on_nothing: bool
    """Whether operations take zero, no ports and no names, pass over them, and do not end the master."""
    looks_for_nothing: bool
    """Whether UNRESERVE, CREATE and DESTROY find nothing only where there is something of the kind."""
    takes_no_entries: bool
    """Whether operations take a list without entries, and do nothing."""
    operations_have_one_provider: bool
    """Whether an operation on the resources of several resource providers is refused before the agent is looked at."""
    reserves_one_by_one: bool
    """Whether RESERVE converts each entry by itself, after those before it, and not all of them at once."""
    destroy_finds_each_alone: bool
    """Whether DESTROY looks for each volume by itself, and misses one that is named twice only when it is gone.

    If not, it also looks for those of a provider.
    """
    honours_suppressed_roles: bool
    """Whether SUBSCRIBE suppresses its `suppressed_roles`; if not, it does not even check them."""
    operators_hear_of_ended_tasks: bool
    """Whether operators hear that a task was killed with its framework if it had ended before."""
    removal_disconnects: bool
    """Whether a framework that was connected when it was removed is shown as one that is not."""
    checks_framework_ids: bool
    """Whether the id that a framework names has to be one that a folder can have."""
    refuses_another_principal: bool
    """Whether a framework that comes back with another principal is refused; if not, it keeps the one that it had."""
    tasks_unknown_to_agents_are_gone: bool
    """Whether reconciliation tells TASK_GONE of a task that a registered agent does not know; if not, TASK_UNKNOWN."""
    launches_ids_once: bool
    """Whether an ACCEPT launches no task whose id an earlier task of it had, even one that was refused.

    Such a task is passed over in silence, and with it the others of its group are killed.
    """
    unknown_calls_end_master: bool
    """Whether a framework's call of the type UNKNOWN ends the master, which counts the calls of each framework.

    It is refused then; if not, it is answered as one that is not implemented.
    """
    reactivating_the_absent_ends_master: bool
    """Whether REACTIVATE_AGENT for a deactivated agent that is not registered any more ends the master."""
    sends_whole_checkpoint: bool
    """Whether a master sends an agent every checkpointed resource with each operation, not the operation alone."""
    checks_minimum_capabilities: bool
    """Whether it does not start on a registry that needs a capability which it lacks."""
    agents_may_name_providers: bool
    """Whether a master lives on when an agent's description of its resources names a resource provider."""
    master_capabilities: tuple[str, ...]
    """The capabilities that the master shows in /state."""
    agent_capabilities: tuple[str, ...]
    """The capabilities with which an agent of the same version registers."""

    def caps(self, quota: Quota) -> Limits:
        """The most that a role with this quota is offered: its limits, or its guarantee where that is a limit."""
        return quota.bounds(guarantee_is_limit=self.guarantee_is_limit)

    @property
    def is_documents(self) -> bool:
        """Whether it is the master of the design documents, which was never released."""
        return self.release is None

    @property
    def git_tag(self) -> str:
        """The tag that /version shows: that of the documents' master is how programs know it."""
        return self.name if self.is_documents else self.version

    def __str__(self) -> str:
        """`Mesos 1.11.0`."""
        return described(self.version, self)


A_YEAR = 365 * 86400.0
"""In seconds: what a refusal of offers lasts at most."""

DOCUMENTS = Profile(
    name="documents",
    version="1.4.0",
    release=None,
    default_role_may_have_quota=False,
    guarantee_is_limit=False,
    quota_request_sets_limit=False,
    reservations_consume_quota=False,
    quota_takes_whole_agents=True,
    agents_keep_headroom_whole=False,
    subroles_consume_quota=True,
    stages_share_an_order=False,
    framework_leaves_nothing=True,
    guarantees_have_own_sorter=False,
    framework_shares_are_of_role=False,
    revive_ends_all_filters=False,
    resubscribing_ends_filters=True,
    longest_refusal=A_YEAR,
    filters_outlive_agents=False,
    random_order_keeps_subtrees_together=False,
    inner_weights_stay=False,
    capacity_includes_static_reservations=False,
    capacity_includes_inactive_agents=False,
    capacity_compares_resources=False,
    guarantee_may_repeat_names=False,
    quota_amounts_are_bounded=True,
    guarantee_is_kept_as_sent=False,
    guarantee_metrics_stay=False,
    quota_shows_principal=False,
    guarantee_shows_role=True,
    configs_shown="with limits",
    delete_path_may_contain_slash=False,
    knows_update_quota=False,
    roles_are_a_tree=True,
    whitelist_shows_roles_above=False,
    path_may_end_with_slash=True,
    bare_statuses_have_text=True,
    json_numbers_are_short=False,
    has_json_paths=False,
    jsonp_ends_with_semicolon=False,
    forgets_roles_without_scalars=False,
    operations_with_ids="done",
    converted_comes_back_at_once=True,
    counts_broken_acknowledgements=True,
    same_slack_ends_offers=False,
    reserves_volumes=True,
    reserve_passes_over_nothing=True,
    operates_on_nothing=False,
    looks_for_nothing=False,
    takes_no_entries=False,
    operations_have_one_provider=True,
    reserves_one_by_one=False,
    destroy_finds_each_alone=True,
    honours_suppressed_roles=True,
    operators_hear_of_ended_tasks=True,
    removal_disconnects=True,
    checks_framework_ids=True,
    refuses_another_principal=True,
    tasks_unknown_to_agents_are_gone=True,
    launches_ids_once=False,
    unknown_calls_end_master=True,
    reactivating_the_absent_ends_master=False,
    sends_whole_checkpoint=True,
    checks_minimum_capabilities=False,
    master_capabilities=(),
    agent_capabilities=("MULTI_ROLE", "HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"),
    agents_may_name_providers=True,
)

MESOS_1_4 = Profile(
    name="1.4",
    version="1.4.3",
    release="1.4.3",
    default_role_may_have_quota=False,
    guarantee_is_limit=True,
    quota_request_sets_limit=False,
    reservations_consume_quota=True,
    quota_takes_whole_agents=False,
    agents_keep_headroom_whole=True,
    subroles_consume_quota=False,
    stages_share_an_order=True,
    framework_leaves_nothing=False,
    guarantees_have_own_sorter=True,
    framework_shares_are_of_role=True,
    revive_ends_all_filters=True,
    resubscribing_ends_filters=False,
    longest_refusal=math.inf,
    filters_outlive_agents=True,
    random_order_keeps_subtrees_together=True,
    inner_weights_stay=False,
    capacity_includes_static_reservations=False,
    capacity_includes_inactive_agents=False,
    capacity_compares_resources=True,
    guarantee_may_repeat_names=True,
    quota_amounts_are_bounded=False,
    guarantee_is_kept_as_sent=True,
    guarantee_metrics_stay=True,
    quota_shows_principal=True,
    guarantee_shows_role=False,
    configs_shown="never",
    delete_path_may_contain_slash=True,
    knows_update_quota=False,
    roles_are_a_tree=False,
    whitelist_shows_roles_above=False,
    path_may_end_with_slash=False,
    bare_statuses_have_text=False,
    json_numbers_are_short=True,
    has_json_paths=True,
    jsonp_ends_with_semicolon=True,
    forgets_roles_without_scalars=True,
    operations_with_ids="done",
    converted_comes_back_at_once=False,
    counts_broken_acknowledgements=False,
    same_slack_ends_offers=True,
    reserves_volumes=False,
    reserve_passes_over_nothing=True,
    operates_on_nothing=True,
    looks_for_nothing=True,
    takes_no_entries=True,
    operations_have_one_provider=False,
    reserves_one_by_one=True,
    destroy_finds_each_alone=False,
    honours_suppressed_roles=False,
    operators_hear_of_ended_tasks=False,
    removal_disconnects=False,
    checks_framework_ids=False,
    refuses_another_principal=False,
    tasks_unknown_to_agents_are_gone=False,
    launches_ids_once=True,
    unknown_calls_end_master=False,
    reactivating_the_absent_ends_master=False,
    sends_whole_checkpoint=True,
    checks_minimum_capabilities=False,
    master_capabilities=(),
    agent_capabilities=("MULTI_ROLE", "HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"),
    agents_may_name_providers=True,
)

MESOS_1_5 = MESOS_1_4._replace(
    name="1.5",
    version="1.5.3",
    release="1.5.3",
    longest_refusal=A_YEAR,
    guarantee_may_repeat_names=False,
    forgets_roles_without_scalars=False,
    operations_with_ids="dropped",
    same_slack_ends_offers=False,
    looks_for_nothing=False,
    takes_no_entries=False,
    operations_have_one_provider=True,
    destroy_finds_each_alone=True,
    honours_suppressed_roles=True,
    tasks_unknown_to_agents_are_gone=True,
    master_capabilities=("AGENT_UPDATE",),
    agents_may_name_providers=False,
)

MESOS_1_6 = MESOS_1_5._replace(
    name="1.6",
    version="1.6.2",
    release="1.6.2",
    framework_leaves_nothing=True,
    path_may_end_with_slash=True,
    operations_with_ids="refused",
    counts_broken_acknowledgements=True,
    reserve_passes_over_nothing=False,
    operates_on_nothing=False,
    sends_whole_checkpoint=False,
    agent_capabilities=(*MESOS_1_5.agent_capabilities, "RESOURCE_PROVIDER", "RESIZE_VOLUME"),
    agents_may_name_providers=True,
)

MESOS_1_7 = MESOS_1_6._replace(
    name="1.7",
    version="1.7.3",
    release="1.7.3",
    framework_leaves_nothing=False,
    framework_shares_are_of_role=False,
    revive_ends_all_filters=False,
    filters_outlive_agents=False,
    inner_weights_stay=True,
    guarantee_metrics_stay=False,
    json_numbers_are_short=False,
    converted_comes_back_at_once=True,
    jsonp_ends_with_semicolon=False,
    operators_hear_of_ended_tasks=True,
    unknown_calls_end_master=True,
    checks_minimum_capabilities=True,
)

MESOS_1_8 = MESOS_1_7._replace(
    name="1.8",
    version="1.8.1",
    release="1.8.1",
    subroles_consume_quota=True,
    random_order_keeps_subtrees_together=False,
    capacity_includes_static_reservations=True,
    capacity_includes_inactive_agents=True,
    capacity_compares_resources=False,
    bare_statuses_have_text=True,
    has_json_paths=False,
    operations_with_ids="done",
    checks_framework_ids=True,
    agent_capabilities=(*MESOS_1_7.agent_capabilities, "AGENT_OPERATION_FEEDBACK"),
)

MESOS_1_9 = MESOS_1_8._replace(
    name="1.9",
    version="1.9.0",
    release="1.9.0",
    guarantee_is_limit=False,
    quota_request_sets_limit=True,
    agents_keep_headroom_whole=False,
    stages_share_an_order=False,
    guarantees_have_own_sorter=False,
    resubscribing_ends_filters=True,
    guarantee_is_kept_as_sent=False,
    quota_shows_principal=False,
    configs_shown="always",
    knows_update_quota=True,
    roles_are_a_tree=True,
    whitelist_shows_roles_above=True,
    refuses_another_principal=True,
    reactivating_the_absent_ends_master=True,
    master_capabilities=(*MESOS_1_8.master_capabilities, "AGENT_DRAINING", "QUOTA_V2"),
    agent_capabilities=(*MESOS_1_8.agent_capabilities, "AGENT_DRAINING"),
)

MESOS_1_10 = MESOS_1_9._replace(
    name="1.10",
    version="1.10.0",
    release="1.10.0",
    default_role_may_have_quota=True,
    framework_leaves_nothing=True,
    quota_amounts_are_bounded=True,
    reserves_volumes=True,
    reserve_passes_over_nothing=True,
    reserves_one_by_one=False,
    removal_disconnects=True,
    launches_ids_once=False,
    reactivating_the_absent_ends_master=False,
    agent_capabilities=(*MESOS_1_9.agent_capabilities, "TASK_RESOURCE_LIMITS"),
)

MESOS_1_11 = MESOS_1_10._replace(name="1.11", version="1.11.0", release="1.11.0")

PROFILES = {
    profile.name: profile
    for profile in (
        *(DOCUMENTS, MESOS_1_4, MESOS_1_5, MESOS_1_6, MESOS_1_7),
        *(MESOS_1_8, MESOS_1_9, MESOS_1_10, MESOS_1_11),
    )
}
"""By name."""
RELEASES = tuple(profile.release for profile in PROFILES.values() if profile.release is not None)
"""One of each minor release, the oldest first: those that are told apart."""
VERSIONS = (DOCUMENTS.name, *(release.rpartition(".")[0] for release in RELEASES))
"""The names that a person may give, besides full numbers such as 1.11.0."""

_OLDEST, _NEWEST = (tuple(map(int, release.split(".")[:2])) for release in (RELEASES[0], RELEASES[-1]))
_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?![0-9])")  # longer numbers are not versions


def profile_of(version: str, git_tag: str = "") -> Profile:
    """The profile of a master that shows this version ("1.11.0") and tag; an invalid version counts as new."""
    release = _release(version)
    if git_tag == DOCUMENTS.name:
        return DOCUMENTS
    if release is None or release > _NEWEST:
        return MESOS_1_11
    return PROFILES.get(".".join(map(str, release)), MESOS_1_4)


def profile_named(name: str) -> Profile | None:
    """The profile that a person names: `documents`, a minor release or a full number; None if there is none."""
    if name in PROFILES:
        return PROFILES[name]
    is_known = re.fullmatch(r"1\.[0-9]{1,2}(\.[0-9]{1,3})?", name) and _OLDEST <= (_release(name) or (0, 0)) <= _NEWEST
    return profile_of(name) if is_known else None


def described(version: str, profile: Profile) -> str:
    """`Mesos 1.7.3`, or `Mesos 1.4.0 (the documents' master)`: the words for a master, for people."""
    return f"Mesos {version} (the documents' master)" if profile.is_documents else f"Mesos {version}"


def needs(what: str, first: str, profile: Profile) -> str:
    """`a limit needs Mesos 1.9 or newer; this master is 1.4.3`: the sentence about what came with the release `first`.

    `what` is one thing, with its article.
    """
    own = " (the documents' master)" if profile.is_documents else ""
    return f"{what} needs Mesos {profile_of(first).name} or newer; this master is {profile.version}{own}"


def profile_stored(name: str | None, version: str) -> Profile:
    """The profile of a file's master: the documents', if it says so, else that of its version.

    The name of another was that of the nearest release, when a file was written before each had a profile.
    """
    named = PROFILES.get(name or "")
    return named if named is not None and (named.is_documents or not is_version(version)) else profile_of(version)


def check_profile_named(name: str, field: str, error: type[MesosctlError] = BadInput) -> Profile:
    """`profile_named`.  Raises the error with the field."""
    profile = profile_named(name)
    if profile is None:
        message = f"'{name}' is neither {VERSIONS[0]} nor a release of Mesos from {VERSIONS[1]} to {VERSIONS[-1]}"
        raise error(message, field=field, hint=f"name {', '.join(VERSIONS[:-1])} or {VERSIONS[-1]}")
    return profile


def answered_by_another(version: str) -> str | None:
    """A note, if a file says a version that no release here has."""
    release, profile = _release(version), profile_of(version)
    if release is None or release == _release(profile.version):
        return None
    return f"Mesos {version} is answered as {profile.version}, the nearest release whose rules are known here"


def newer_than_known(version: str) -> str | None:
    """A note, if a master is newer than all releases."""
    release = _release(version)
    if release is None or release <= _NEWEST:
        return None
    return f"Mesos {version} is newer than all that are known here; it counts as {MESOS_1_11.version}"


def unmarked(version: str, name: str | None) -> str | None:
    """A note, if a file of this version, with this profile's name, may be of the documents' master, once unmarked."""
    if name is not None or version != DOCUMENTS.version:
        return None
    return (
        f"it says Mesos {version} and not whose, and is read as {profile_of(version)}; with --mesos-version documents, "
        "it is the documents' master"
    )


def is_too_old(version: str) -> bool:
    """Whether a master is older than those of the design documents: its answers have other shapes."""
    release = _release(version)
    return release is not None and release < _OLDEST


def is_version(text: str) -> bool:
    """Whether `profile_of` can read a version; of one that it cannot, the rules are only assumed."""
    return _release(text) is not None


def _release(version: str) -> tuple[int, int] | None:
    """The first two numbers of a version; None if it has none."""
    match = _VERSION.match(version)
    return None if match is None else (int(match[1]), int(match[2]))


DEFAULTS: Mapping[str, str] = {
    "allocator_agent_recovery_factor": "0.8",
    "allocator_recovery_timeout": "10mins",
    "filter_gpu_resources": "true",
    "min_allocatable_resources": "cpus:0.01|mem:32",
    "offer_constraints_re2_max_mem": "4KB",
    "offer_constraints_re2_max_program_size": "100",
}
STRICT_PRIORITY_ALLOCATOR = "strict-priority"
"""The name of the allocator that shares by strict priority (an extension; no release of Mesos has it)."""
LENDS = "oversubscribe_reservations"
LENDABLE_NAMES = "cpus,mem"
"""The flag for lending idle reservations, and the default of --lendable_names; no Mesos has them."""


def flag_value(flags: Mapping[str, str], name: str) -> str:
    """A flag of `DEFAULTS`, as given or by default."""
    return flags.get(name, DEFAULTS[name])


def minimum(flags: Mapping[str, str]) -> tuple[Quantities, ...]:
    """The alternatives of --min_allocatable_resources.  Raises ValueError."""
    from mesosctl.mesos.rules.offers.frameworks import parse_minimum  # late: few commands need offers

    return parse_minimum(flag_value(flags, "min_allocatable_resources"))


def recovery_factor(flags: Mapping[str, str]) -> float:
    """The fraction of the agents that recovery waits for.  Raises ValueError."""
    return float(flag_value(flags, "allocator_agent_recovery_factor"))


def recovery_seconds(flags: Mapping[str, str]) -> float:
    """The longest time that it waits. Raises ValueError."""
    from mesosctl.mesos.amounts.notation import parse_duration  # late, as above

    return parse_duration(flag_value(flags, "allocator_recovery_timeout"))


def filters_gpus(flags: Mapping[str, str]) -> bool:
    """Whether agents with GPUs are kept for frameworks with GPU_RESOURCES."""
    return flag_value(flags, "filter_gpu_resources") == "true"


def lendable_names(flags: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the resources that are lent from idle reservations.  Raises ValueError."""
    return parse_names(flags.get("lendable_names", LENDABLE_NAMES))


def parse_names(text: str) -> frozenset[str]:
    """`NAME,NAME…`.  Raises ValueError for one that is empty."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError(f"'{text}' is not NAME,NAME…")
    return frozenset(names)


def region(flags: Mapping[str, str]) -> str | None:
    """The region in --domain; None if there is none, or if the flag names a file."""
    try:
        return str(json.loads(flags["domain"])["fault_domain"]["region"]["name"])
    except (KeyError, TypeError, ValueError):
        return None


TERMINAL_STATES = frozenset(
    {
        "TASK_FINISHED",
        "TASK_FAILED",
        "TASK_KILLED",
        "TASK_ERROR",
        "TASK_LOST",
        "TASK_DROPPED",
        "TASK_GONE",
        "TASK_GONE_BY_OPERATOR",
    }
)
