"""The flags of a master, checked and parsed.  A flag is text, as on a command line and in /flags."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fake_master.allocator import custom
from fake_master.state import flag_values
from fake_master.state.acls import Authorizer
from fake_master.state.shown_since import flags_of, since
from mesosctl.mesos.amounts.notation import parse_duration
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.rate_limits import to_text
from mesosctl.mesos.roles import Priorities
from mesosctl.mesos.rules import version_profile as profile
from mesosctl.mesos.rules.rate_limits import RateLimits


@dataclass(frozen=True, slots=True)
class MasterFlags:
    """The flags, checked and parsed."""

    shown: Mapping[str, str]
    """Name → text, defaults included, as /flags shows them."""
    whitelist: frozenset[str] | None = None
    """`--roles`: the only roles that exist beside "*", or None."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """`--weights` by role."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """Principal → secret.  Never shown."""
    authorizer: Authorizer = field(default_factory=Authorizer)
    rate_limits: RateLimits = field(default_factory=RateLimits)
    removal_limit: float = 1.0
    """`--recovery_agent_removal_limit`: of the agents that a former leader knew, the share that may stay away."""
    region: str | None = None
    """The region in `--domain`, the master's own."""
    rate_limit_http: bool = True
    """Whether rate limits act on HTTP frameworks; on a real master they act on drivers alone."""
    priorities: Priorities = field(default_factory=Priorities)
    """`--priorities` by role; meaningful with the strict priority allocator, as are the next two."""
    oversubscribe_reservations: bool = False
    """Whether idle reservations are lent to others, as resources that may be taken back."""
    lendable_names: frozenset[str] = profile.lendable_names({})
    """Which of them."""

    @property
    def custom_allocator(self) -> str | None:
        """The name of an allocator that others wrote, as `fake_master.allocator.custom` reads it; None otherwise."""
        name = self.shown["allocator"]
        return None if name in BUNDLED_ALLOCATORS else name

    @property
    def has_strict_priority(self) -> bool:
        """Whether roles are served by priority."""
        return self.shown["allocator"] == profile.STRICT_PRIORITY_ALLOCATOR

    @property
    def offer_seconds(self) -> float | None:
        """The time after which an unanswered offer is rescinded; None means never."""
        return parse_duration(self.shown["offer_timeout"]) if "offer_timeout" in self.shown else None

    @property
    def revocation_grace_seconds(self) -> float | None:
        """The time that an executor has to kill a revoked task; None if nothing is ever revoked."""
        revokes = self.shown.get("preemption") == "true" or self.custom_allocator is not None
        return parse_duration(self.shown["revocation_grace_period"]) if revokes else None

    @classmethod
    def parse(cls, given: Mapping[str, str], release: str | None = None) -> "MasterFlags":
        """Check the flags that were given to a master of this release.  Raises BadInput naming the flag."""
        for name in given:
            if not any(name in known for known in (DEFAULTS, UNSET, OWN, STRICT_PRIORITY)):
                raise BadInput(f"--{name} is not a flag of this master", field=name)
            if not flags_of(release, [name]):
                raise BadInput(
                    f"--{name} came with Mesos {since(name)}, and this master is {release}",
                    field=name,
                    hint=f"leave it out, or start Mesos {since(name)} or newer",
                )
        defaults = DEFAULTS | _defaults_of_allocator(given)
        flag_values.check_numbers(given)
        for name in given:
            if defaults.get(name) in ("true", "false"):
                flag_values.switch(name, given)
        rate_limits = flag_values.rate_limits(given["rate_limits"]) if "rate_limits" in given else RateLimits()
        shown = defaults | {name: text for name, text in given.items() if name not in OWN}
        if "rate_limits" in given:
            shown["rate_limits"] = to_text(rate_limits)
        authorizer = Authorizer()
        if "acls" in given:
            authorizer, shown["acls"] = flag_values.authorizer(given["acls"], release)
        flags = cls(
            shown=shown,
            whitelist=flag_values.whitelist(given["roles"]) if "roles" in given else None,
            weights=flag_values.weights(given.get("weights", "")),
            credentials=flag_values.credentials(given["credentials"]) if "credentials" in given else {},
            authorizer=authorizer,
            rate_limits=rate_limits,
            removal_limit=flag_values.removal_limit(shown["recovery_agent_removal_limit"]),
            region=flag_values.region(given["domain"]) if "domain" in given else None,
            rate_limit_http=given.get("rate_limit_http", "true") == "true",
            priorities=flag_values.priorities(given.get("priorities", "")),
            oversubscribe_reservations=flag_values.switch("oversubscribe_reservations", given),
            lendable_names=flag_values.lendable_names(given),
        )
        if flags.oversubscribe_reservations and (flags.has_strict_priority or flags.custom_allocator):
            raise BadInput(
                "--oversubscribe_reservations needs --allocator=hierarchical", field="oversubscribe_reservations"
            )
        for name in ("readonly", "readwrite", "frameworks"):
            if flags.is_true(f"authenticate_http_{name}") and "credentials" not in given:
                raise BadInput(f"--authenticate_http_{name} needs --credentials", field=f"authenticate_http_{name}")
        return flags

    def is_true(self, name: str) -> bool:
        """Return whether a boolean flag is on."""
        return self.shown[name] == "true"

    def count(self, name: str) -> int:
        """The value of a flag that counts something."""
        return int(self.shown[name])


def _defaults_of_allocator(given: Mapping[str, str]) -> dict[str, str]:
    """The defaults of flags that only the chosen allocator has.  Raises BadInput for one that it has not."""
    allocator = given.get("allocator", DEFAULTS["allocator"])
    own = dict(STRICT_PRIORITY)
    if allocator == profile.STRICT_PRIORITY_ALLOCATOR:
        flag_values.switch("preemption", given)
    elif allocator in BUNDLED_ALLOCATORS:
        own = {}
    elif custom.is_custom(allocator):
        own = {"revocation_grace_period": own["revocation_grace_period"]}
    else:
        names = [name for name in BUNDLED_ALLOCATORS if name != _OLD_NAME]
        known = ", ".join((*names, *sorted(custom.installed())))
        raise BadInput(f"--allocator={allocator}: use {known} or package.module:Class", field="allocator")
    for name in STRICT_PRIORITY:
        if name in given and name not in own:
            raise BadInput(f"--{name} needs --allocator={profile.STRICT_PRIORITY_ALLOCATOR}", field=name)
    return own


DEFAULTS = {
    **profile.DEFAULTS,
    "agent_ping_timeout": "15secs",
    "agent_reregister_timeout": "10mins",
    "allocation_interval": "1secs",
    "allocator": "hierarchical",
    "authenticate_agents": "false",
    "authenticate_frameworks": "false",
    "authenticate_http_frameworks": "false",
    "authenticate_http_readonly": "false",
    "authenticate_http_readwrite": "false",
    "authentication_v0_timeout": "15secs",
    "authenticators": "crammd5",
    "authorizers": "local",
    "framework_sorter": "drf",
    "help": "false",
    "hostname_lookup": "false",
    "http_authenticators": "basic",
    "initialize_driver_logging": "true",
    "log_auto_initialize": "true",
    "logbufsecs": "0",
    "logging_level": "INFO",
    "max_agent_ping_timeouts": "5",
    "max_completed_frameworks": "50",
    "max_completed_tasks_per_framework": "1000",
    "max_operator_event_stream_subscribers": "1000",
    "max_unreachable_tasks_per_framework": "1000",
    "memory_profiling": "false",
    "port": "5050",
    "publish_per_framework_metrics": "true",
    "quiet": "false",
    "recovery_agent_removal_limit": "100%",
    "registry": "in_memory",
    "registry_fetch_timeout": "1mins",
    "registry_gc_interval": "15mins",
    "registry_max_agent_age": "2weeks",
    "registry_max_agent_count": "102400",
    "registry_store_timeout": "20secs",
    "registry_strict": "false",
    "require_agent_domain": "false",
    "role_sorter": "drf",
    "root_submissions": "true",
    "version": "false",
    "webui_dir": "/usr/share/mesos/webui",
    "work_dir": "/var/lib/mesos",
    "zk_session_timeout": "10secs",
}
# Flags of DEFAULTS that only /flags shows, since what they decide is not part of a fake master.
SHOWN_ONLY = frozenset(
    {
        *("authenticate_agents", "authentication_v0_timeout", "authenticators", "authorizers", "http_authenticators"),
        *("help", "version", "hostname_lookup", "initialize_driver_logging", "log_auto_initialize", "logbufsecs"),
        *("logging_level", "memory_profiling", "quiet", "webui_dir", "zk_session_timeout"),
        # The registry is in this process: it is neither fetched nor awaited.
        *("registry_fetch_timeout", "registry_store_timeout", "registry_strict"),
        # Agents without a fault domain register with any master here.
        "require_agent_domain",
        # Forecasts count every task that a change loses, so none is dropped.
        "max_unreachable_tasks_per_framework",
    }
)
# Flags of lending idle reservations, which no Mesos has; off unless given.
LENDING = ("oversubscribe_reservations", "lendable_names")
# Flags that a master has and does not show until they are given.
UNSET = (
    "acls",
    "cluster",
    "credentials",
    "domain",
    "fair_sharing_excluded_resource_names",
    "hostname",
    "offer_timeout",
    "rate_limits",
    "roles",
    "weights",
    *LENDING,
)
# Switches of this fake master that no Mesos has, and that are not shown.
OWN = ("rate_limit_http",)
# Flags of the strict priority allocator, and their defaults; shown with that allocator alone.
STRICT_PRIORITY = {"preemption": "false", "priorities": "", "revocation_grace_period": "5secs"}
# The values of --allocator that `fake_master.extensions.bundled_allocators` makes; any other is a custom allocator.
_OLD_NAME = "HierarchicalDRF"
BUNDLED_ALLOCATORS = ("hierarchical", _OLD_NAME, profile.STRICT_PRIORITY_ALLOCATOR)


def known_flags(flags: Mapping[str, str]) -> dict[str, str]:
    """Those of another master's flags that this one has; a flag, or an allocator, that it has not decides nothing."""
    known = {**DEFAULTS, **dict.fromkeys(UNSET, "")}
    del known["hostname"]  # of another machine
    if flags.get("allocator") == profile.STRICT_PRIORITY_ALLOCATOR:
        known |= STRICT_PRIORITY
    found = {name: text for name, text in flags.items() if name in known}
    if found.get("allocator") not in BUNDLED_ALLOCATORS:
        found.pop("allocator", None)
    return found
