"""The flags of the master, under the names that Mesos gives them.

A flag is a text, as on a command line and in /flags.  The defaults are those that a 1.11.0 master
shows; one that is not set and has no default is not shown.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fake_master.master.acls import Authorizer
from mesosctl.core import master_flags, ratelimit, roles
from mesosctl.core.durations import parse_duration
from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.minimum import parse_minimum
from mesosctl.core.priorities import Priorities
from mesosctl.core.ratelimit import RateLimits
from mesosctl.core.reading import why_unreadable
from mesosctl.wire.decoding import ConversionError, decode
from mesosctl.wire.messages import Field, Message, read
from mesosctl.wire.ratelimit import from_json, to_text

DEFAULTS = {
    **master_flags.DEFAULTS,
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
# Of lending idle reservations (spec/oversubscription.md), which no Mesos has; off unless given.
LENDING = ("oversubscribe_reservations", "lendable_names")
# Flags that a master has and does not show until they are given.
UNSET = (
    "acls",
    "cluster",
    "credentials",
    "domain",
    "fair_sharing_excluded_resource_names",
    "rate_limits",
    "roles",
    "weights",
    *LENDING,
)
# Switches of this fake master that no Mesos has; never shown.
OWN = ("rate_limit_http",)
# Flags of the strict priority allocator, and their defaults; shown with that allocator alone.
STRICT_PRIORITY = {"preemption": "false", "priorities": "", "revocation_grace_period": "5secs"}
# "HierarchicalDRF" is the real master's second name for its own.
ALLOCATORS = ("hierarchical", "HierarchicalDRF", "strict-priority")

# Flags that this master reads as durations.
_DURATIONS = (
    "agent_ping_timeout",
    "agent_reregister_timeout",
    "allocation_interval",
    "allocator_recovery_timeout",
    "revocation_grace_period",
)
_LEAST_AGENT_REREGISTER_TIMEOUT = 600.0

# Flags that this master reads as counts.
_COUNTS = (
    "max_agent_ping_timeouts",
    "max_completed_frameworks",
    "max_completed_tasks_per_framework",
    "max_operator_event_stream_subscribers",
)
_COUNT = re.compile(r"[0-9]{1,18}")

_CREDENTIALS = Message(
    "Credentials",
    {
        "credentials": Field(
            Message("Credential", {"principal": Field("string", "required"), "secret": Field("string")}), "repeated"
        )
    },
)


@dataclass(frozen=True, slots=True)
class MasterFlags:
    """The flags as given, checked, and what they mean."""

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
    region: str | None = None
    """The region in `--domain`, the master's own."""
    rate_limit_http: bool = True
    """Whether rate limits act on HTTP frameworks; on a real master they act on drivers alone."""
    priorities: Priorities = field(default_factory=Priorities)
    """`--priorities` by role; meaningful with the strict priority allocator, as are the next two."""
    oversubscribe_reservations: bool = False
    """Whether idle reservations are lent to others, as resources that may be taken back."""
    lendable_names: frozenset[str] = master_flags.lendable_names({})
    """Which of them."""

    @property
    def has_strict_priority(self) -> bool:
        """Whether roles are served by priority."""
        return self.shown["allocator"] == "strict-priority"

    @property
    def revocation_grace_seconds(self) -> float | None:
        """How long an executor may take to kill a task that is revoked; None without preemption."""
        return parse_duration(self.shown["revocation_grace_period"]) if self.shown.get("preemption") == "true" else None

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> "MasterFlags":
        """Check the flags that were given.  Raises BadInput naming the flag."""
        for name in given:
            if not any(name in known for known in (DEFAULTS, UNSET, OWN, STRICT_PRIORITY)):
                raise BadInput(f"--{name} is not a flag of this master", field=name)
        defaults = DEFAULTS | _defaults_of_allocator(given)
        _check_numbers(given)
        rate_limits = _parse_rate_limits(given["rate_limits"]) if "rate_limits" in given else RateLimits()
        shown = defaults | {name: text for name, text in given.items() if name not in OWN}
        flags = cls(
            shown=shown | ({"rate_limits": to_text(rate_limits)} if "rate_limits" in given else {}),
            whitelist=_parse_whitelist(given["roles"]) if "roles" in given else None,
            weights=_parse_weights(given.get("weights", "")),
            credentials=_parse_credentials(given["credentials"]) if "credentials" in given else {},
            authorizer=Authorizer.from_json(_json_or_file("acls", given["acls"])) if "acls" in given else Authorizer(),
            rate_limits=rate_limits,
            region=_parse_region(given["domain"]) if "domain" in given else None,
            rate_limit_http=given.get("rate_limit_http", "true") == "true",
            priorities=_parse_priorities(given.get("priorities", "")),
            oversubscribe_reservations=_parse_switch("oversubscribe_reservations", given),
            lendable_names=_parse_lendable_names(given),
        )
        if flags.oversubscribe_reservations and flags.has_strict_priority:
            raise BadInput(
                "--oversubscribe_reservations needs --allocator=hierarchical", field="oversubscribe_reservations"
            )
        for name in ("readonly", "readwrite", "frameworks"):
            if flags.is_true(f"authenticate_http_{name}") and "credentials" not in given:
                raise BadInput(f"--authenticate_http_{name} needs --credentials", field="credentials")
        return flags

    def is_true(self, name: str) -> bool:
        """Whether a boolean flag is on."""
        return self.shown[name] == "true"

    def count(self, name: str) -> int:
        """The value of a flag that counts something."""
        return int(self.shown[name])


def _check_factor(text: str) -> None:
    try:
        finite = math.isfinite(float(text))
    except ValueError:
        finite = False
    if not finite:
        name = "allocator_agent_recovery_factor"
        raise BadInput(f"--{name}: '{text}' is not a number", field=name)


def _check_numbers(given: Mapping[str, str]) -> None:
    """Durations, amounts and counts.  Raises BadInput naming the flag."""
    readers = dict.fromkeys(_DURATIONS, parse_duration) | {"min_allocatable_resources": parse_minimum}
    for name, read_text in readers.items():
        if name in given:
            try:
                read_text(given[name])
            except ValueError as error:
                raise BadInput(f"--{name}: {error}", field=name) from error
    if parse_duration(given.get("agent_reregister_timeout", "10mins")) < _LEAST_AGENT_REREGISTER_TIMEOUT:
        raise BadInput("--agent_reregister_timeout must be at least 10mins", field="agent_reregister_timeout")
    _check_factor(given.get("allocator_agent_recovery_factor", "0.8"))
    for name in _COUNTS:
        if not _COUNT.fullmatch(given.get(name, "0")):
            raise BadInput(f"--{name}: '{given[name]}' is not a number from 0 on", field=name)


def _defaults_of_allocator(given: Mapping[str, str]) -> dict[str, str]:
    """The defaults of flags that only the chosen allocator has.  Raises BadInput for one that it has not."""
    allocator = given.get("allocator", DEFAULTS["allocator"])
    if allocator not in ALLOCATORS:
        raise BadInput(f"--allocator={allocator}: there are hierarchical and strict-priority", field="allocator")
    if allocator == "strict-priority":
        if given.get("preemption", "false") not in ("true", "false"):
            raise BadInput(f"--preemption={given['preemption']}: it is true or false", field="preemption")
        return STRICT_PRIORITY
    for name in STRICT_PRIORITY:
        if name in given:
            raise BadInput(f"--{name} needs --allocator=strict-priority", field=name)
    return {}


def _parse_priorities(text: str) -> Priorities:
    try:
        return Priorities.parse(text)
    except RuleViolation as error:
        raise BadInput(f"--priorities: {error.message}", field="priorities", hint=error.hint) from error


def _parse_switch(name: str, given: Mapping[str, str]) -> bool:
    text = given.get(name, "false")
    if text not in ("true", "false"):
        raise BadInput(f"--{name}: '{text}' is neither true nor false", field=name)
    return text == "true"


def _parse_lendable_names(given: Mapping[str, str]) -> frozenset[str]:
    try:
        return master_flags.lendable_names(given)
    except ValueError as error:
        raise BadInput(f"--lendable_names: {error}", field="lendable_names") from error


def _parse_whitelist(text: str) -> frozenset[str]:
    names = [name for name in text.split(",") if name]
    for name in names:
        problem = roles.role_error(name)
        if problem is not None:
            raise BadInput(f"--roles: {problem}", field="roles")
    return frozenset(names)


def _parse_weights(text: str) -> dict[str, float]:
    found = {}
    for pair in filter(None, text.split(",")):
        role, equals, weight = pair.partition("=")
        try:
            value = float(weight)
        except ValueError:
            value = 0.0
        if not equals or not 0 < value < math.inf or roles.role_error(role) is not None:
            raise BadInput(f"--weights: '{pair}' is not ROLE=WEIGHT with a positive weight", field="weights")
        found[role] = value
    return found


def _parse_region(source: str) -> str:
    """JSON, as `{"fault_domain": {"region": {"name": …}, "zone": {"name": …}}}`."""
    try:
        return str(_json_or_file("domain", source)["fault_domain"]["region"]["name"])
    except (KeyError, TypeError):
        raise BadInput("--domain names no region of a fault domain", field="domain") from None


def _parse_credentials(source: str) -> dict[str, str]:
    """JSON `{"credentials": [{"principal": …, "secret": …}]}`, or the older lines of "principal secret"."""
    text = _read(source, "credentials")
    if not text.strip():
        raise BadInput("--credentials: the file holds no credentials", field="credentials")
    if text.lstrip().startswith(("{", "[")):
        try:
            entries = read(_CREDENTIALS, _decode(text, "credentials")).get("credentials", ())
        except ConversionError as error:
            raise BadInput(f"--credentials: {error}", field="credentials") from error
        return {entry["principal"]: entry.get("secret", "") for entry in entries}
    pairs = [tuple(line.split()) for line in text.splitlines() if line.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise BadInput("--credentials: a line is not 'principal secret'", field="credentials")
    return {pair[0]: pair[1] for pair in pairs}


def _parse_rate_limits(source: str) -> RateLimits:
    try:
        limits = from_json(_json_or_file("rate_limits", source))
        ratelimit.check(limits)
    except ConversionError as error:
        raise BadInput(f"--rate_limits: {error}", field="rate_limits") from error
    except RuleViolation as error:
        raise BadInput(f"--rate_limits: {error.message}", field="rate_limits", hint=error.hint) from error
    return limits


def _json_or_file(name: str, value: str) -> Any:
    return _decode(value if value.lstrip().startswith("{") else _read(value, name), name)


def _read(source: str, flag: str) -> str:
    path = Path(source.removeprefix("file://"))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # no such file, no UTF-8, no path at all
        raise BadInput(f"--{flag}: {path} cannot be read: {why_unreadable(error)}", field=flag) from error


def _decode(text: str, flag: str) -> Any:
    try:
        value = decode(text)
    except ConversionError as error:
        raise BadInput(f"--{flag}: {error}", field=flag) from error
    if not isinstance(value, dict):
        raise BadInput(f"--{flag}: expecting a JSON object", field=flag)
    return value
