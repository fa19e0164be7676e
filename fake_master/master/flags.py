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
from mesosctl.core import ratelimit, roles
from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.ratelimit import RateLimits
from mesosctl.wire.messages import ConversionError, decode
from mesosctl.wire.ratelimit import from_json, to_text

DEFAULTS = {
    "agent_ping_timeout": "15secs",
    "agent_reregister_timeout": "10mins",
    "allocation_interval": "1secs",
    "allocator": "hierarchical",
    "allocator_agent_recovery_factor": "0.8",
    "allocator_recovery_timeout": "10mins",
    "authenticate_agents": "false",
    "authenticate_frameworks": "false",
    "authenticate_http_frameworks": "false",
    "authenticate_http_readonly": "false",
    "authenticate_http_readwrite": "false",
    "authentication_v0_timeout": "15secs",
    "authenticators": "crammd5",
    "authorizers": "local",
    "filter_gpu_resources": "true",
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
    "min_allocatable_resources": "cpus:0.01|mem:32",
    "offer_constraints_re2_max_mem": "4KB",
    "offer_constraints_re2_max_program_size": "100",
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
# Flags that a master has and does not show until they are given.
UNSET = ("acls", "cluster", "credentials", "rate_limits", "roles", "weights")
# Switches of this fake master that no Mesos has; never shown.
OWN = ("rate_limit_http",)

# Flags that this master reads as durations.
_DURATIONS = ("allocation_interval", "allocator_recovery_timeout")

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|secs|mins|hrs|days|weeks)")
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "secs": 1.0,
    "mins": 60.0,
    "hrs": 3600.0,
    "days": 86400.0,
    "weeks": 604800.0,
}


def parse_duration(text: str) -> float:
    """Seconds of a Mesos duration such as "250ms" or "10mins".  Raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a duration: write a number and ns, us, ms, secs, mins, hrs, days or weeks")
    return float(match[1]) * _SECONDS[match[2]]


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
    rate_limit_http: bool = True
    """Whether rate limits act on HTTP frameworks; on a real master they act on drivers alone."""

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> "MasterFlags":
        """Check the flags that were given.  Raises BadInput naming the flag."""
        for name in given:
            if name not in DEFAULTS and name not in UNSET and name not in OWN:
                raise BadInput(f"--{name} is not a flag of this master", field=name)
        for name in _DURATIONS:
            if name in given:
                try:
                    parse_duration(given[name])
                except ValueError as error:
                    raise BadInput(f"--{name}: {error}", field=name) from error
        rate_limits = _parse_rate_limits(given["rate_limits"]) if "rate_limits" in given else RateLimits()
        shown = DEFAULTS | {name: text for name, text in given.items() if name not in OWN}
        flags = cls(
            shown=shown | ({"rate_limits": to_text(rate_limits)} if "rate_limits" in given else {}),
            whitelist=_parse_whitelist(given["roles"]) if "roles" in given else None,
            weights=_parse_weights(given.get("weights", "")),
            credentials=_parse_credentials(given["credentials"]) if "credentials" in given else {},
            authorizer=Authorizer.from_json(_json_or_file("acls", given["acls"])) if "acls" in given else Authorizer(),
            rate_limits=rate_limits,
            rate_limit_http=given.get("rate_limit_http", "true") == "true",
        )
        for name in ("readonly", "readwrite", "frameworks"):
            if flags.is_true(f"authenticate_http_{name}") and "credentials" not in given:
                raise BadInput(f"--authenticate_http_{name} needs --credentials", field="credentials")
        return flags

    def is_true(self, name: str) -> bool:
        """Whether a boolean flag is on."""
        return self.shown[name] == "true"


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


def _parse_credentials(source: str) -> dict[str, str]:
    """JSON `{"credentials": [{"principal": …, "secret": …}]}` or lines of "principal secret"."""
    text = _read(source, "credentials")
    if text.lstrip().startswith("{"):
        entries = _decode(text, "credentials").get("credentials", [])
        try:
            return {str(entry["principal"]): str(entry["secret"]) for entry in entries}
        except (TypeError, KeyError):
            raise BadInput("--credentials: an entry has no principal or no secret", field="credentials") from None
    pairs = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise BadInput("--credentials: a line is not 'principal secret'", field="credentials")
    return {principal: secret.strip() for principal, secret in pairs}


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
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"--{flag}: {path} cannot be read: {error}", field=flag) from error


def _decode(text: str, flag: str) -> Any:
    try:
        value = decode(text)
    except ConversionError as error:
        raise BadInput(f"--{flag}: {error}", field=flag) from error
    if not isinstance(value, dict):
        raise BadInput(f"--{flag}: expecting a JSON object", field=flag)
    return value
