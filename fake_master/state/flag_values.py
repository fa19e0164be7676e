"""Readers of the texts of flags; each raises BadInput that names its flag."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fake_master.state.acls import Authorizer
from mesosctl.files.reading import read_text_file, unreadable_hint, why_unreadable
from mesosctl.files.text_file import TextFile
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.notation import parse_duration
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.acls import to_text
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.rate_limits import from_json
from mesosctl.mesos.messages.strict.line_numbers import places_in_json
from mesosctl.mesos.messages.strict.reading import MOST_VALUES
from mesosctl.mesos.roles import Priorities
from mesosctl.mesos.rules import version_profile as profile
from mesosctl.mesos.rules.offers.frameworks import parse_minimum
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.mesos.rules.rate_limits import check as check_rate_limits

# Flags that this master reads as durations.
_DURATIONS = (
    "agent_ping_timeout",
    "agent_reregister_timeout",
    "allocation_interval",
    "allocator_recovery_timeout",
    "offer_timeout",
    "registry_gc_interval",
    "registry_max_agent_age",
    "revocation_grace_period",
)
_LEAST_AGENT_REREGISTER_TIMEOUT = 600.0
_INTERVALS = ("allocation_interval", "registry_gc_interval")
"""Flags after which something is done again and again: with 0 seconds, no time would ever pass."""
_LEAST_INTERVAL = 0.001

# Flags that this master reads as counts.
_COUNTS = (
    "max_agent_ping_timeouts",
    "max_completed_frameworks",
    "max_completed_tasks_per_framework",
    "max_operator_event_stream_subscribers",
    "registry_max_agent_count",
)
_COUNT = re.compile(r"[0-9]{1,18}")

_CREDENTIALS_HINT = 'a file of credentials is JSON: {"credentials": [{"principal": "p", "secret": "s"}]}'
_CREDENTIALS = mesos_message("mesos.v1.Credentials")


def _check_factor(text: str) -> None:
    try:
        finite = math.isfinite(float(text))
    except ValueError:
        finite = False
    if not finite:
        name = "allocator_agent_recovery_factor"
        raise BadInput(f"--{name}: '{text}' is not a number", field=name)


def removal_limit(text: str) -> float:
    """`--recovery_agent_removal_limit`, a percentage from 0 to 100, as a share."""
    number = text.removesuffix("%")
    try:
        limit = float(number) / 100
    except ValueError:
        limit = math.inf
    # Python accepts more forms of numbers than Mesos; both accept NaN.
    if number == text or number != number.strip().replace("_", "") or limit < 0 or limit > 1:
        name = "recovery_agent_removal_limit"
        raise BadInput(f"--{name}: '{text}' is not a percentage from 0% to 100%", field=name)
    return limit


def check_numbers(given: Mapping[str, str]) -> None:
    """Durations, amounts and counts.  Raises BadInput naming the flag."""
    readers = dict.fromkeys(_DURATIONS, parse_duration) | {"min_allocatable_resources": parse_minimum}
    for name, read_text in readers.items():
        if name in given:
            try:
                read_text(given[name])
            except ValueError as error:
                raise BadInput(f"--{name}: {error}", field=name) from error
    for name in _INTERVALS:
        if name in given and parse_duration(given[name]) < _LEAST_INTERVAL:
            raise BadInput(f"--{name} must be at least 1ms", field=name, hint=f"--{name}=1ms")
    if parse_duration(given.get("agent_reregister_timeout", "10mins")) < _LEAST_AGENT_REREGISTER_TIMEOUT:
        raise BadInput("--agent_reregister_timeout must be at least 10mins", field="agent_reregister_timeout")
    _check_factor(given.get("allocator_agent_recovery_factor", "0.8"))
    for name in _COUNTS:
        if not _COUNT.fullmatch(given.get(name, "0")):
            raise BadInput(f"--{name}: '{given[name]}' is not 0 or a positive number", field=name)


def priorities(text: str) -> Priorities:
    """`--priorities`: pairs of ROLE=NUMBER."""
    try:
        return Priorities.parse(text)
    except RuleViolation as error:
        raise BadInput(f"--priorities: {error.message}", field="priorities", hint=error.hint) from error


def switch(name: str, given: Mapping[str, str]) -> bool:
    """A flag that is true or false, and false unless given."""
    text = given.get(name, "false")
    if text not in ("true", "false"):
        raise BadInput(f"--{name}: '{text}' is neither true nor false", field=name)
    return text == "true"


def lendable_names(given: Mapping[str, str]) -> frozenset[str]:
    """`--lendable_names`: names of resources."""
    try:
        return profile.lendable_names(given)
    except ValueError as error:
        raise BadInput(f"--lendable_names: {error}", field="lendable_names") from error


def whitelist(text: str) -> frozenset[str]:
    """`--roles`: names of roles."""
    names = [name for name in text.split(",") if name]
    for name in names:
        problem = roles.role_error(name)
        if problem is not None:
            raise BadInput(f"--roles: {problem}", field="roles")
    return frozenset(names)


def weights(text: str) -> dict[str, float]:
    """`--weights`: pairs of ROLE=WEIGHT."""
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


def region(source: str) -> str:
    """`--domain`: JSON, as `{"fault_domain": {"region": {"name": …}, "zone": {"name": …}}}`."""
    given = _given("domain", source)
    with _refusals("domain", given):
        document = _decode(given.text)
    try:
        return str(document["fault_domain"]["region"]["name"])
    except (KeyError, TypeError):
        raise BadInput("--domain does not name the region of a fault domain", field="domain") from None


def credentials(source: str) -> dict[str, str]:
    """JSON `{"credentials": [{"principal": …, "secret": …}]}`.

    The older lines of "principal secret" are refused, as Mesos 1.11 refuses them.
    """
    given = TextFile(_path(source), _read(source, "credentials"), places_in_json)
    with _refusals("credentials", given, _CREDENTIALS_HINT):
        if not given.text:
            raise BadInput("the file holds no credentials")
        entries = read(_CREDENTIALS, _decode(given.text)).get("credentials", ())
    return {entry["principal"]: entry.get("secret", "") for entry in entries}


def authorizer(source: str, release: str | None = None) -> tuple[Authorizer, str]:
    """`--acls`: JSON, or a file that holds it; and the text in which /flags of the release shows it."""
    given = _given("acls", source)
    with _refusals("acls", given):
        document = _decode(given.text)
        return Authorizer.from_json(document, release), to_text(document, release)


def rate_limits(source: str) -> RateLimits:
    """`--rate_limits`: JSON, or a file that holds it."""
    given = _given("rate_limits", source)
    try:
        with _refusals("rate_limits", given):
            limits = from_json(_decode(given.text))
            check_rate_limits(limits)
    except BadInput:
        from mesosctl.files.rate_limits import refusal_of  # imported late: it needs pydantic

        every = refusal_of(given.text, given.name, is_refused=True)
        if every is None:  # a master is stricter than the documented file nowhere but here
            raise
        raise BadInput(f"--rate_limits: {every.message}", field="rate_limits", hint=every.hint) from None
    return limits


def _given(flag: str, value: str) -> TextFile:
    """The JSON of a flag, or that of the file which it names; the name of the former is empty."""
    if value.lstrip().startswith("{"):
        return TextFile("", value, places_in_json)
    return TextFile(_path(value), _read(value, flag), places_in_json)


@contextmanager
def _refusals(flag: str, given: TextFile, hint: str | None = None) -> Iterator[None]:
    """Refusals in this block name the flag, and the file and the line if it names a file."""
    try:
        yield
    except (ConversionError, BadInput, RuleViolation) as error:
        message, path = (str(error), error.path) if isinstance(error, ConversionError) else (error.message, error.field)
        where = f"{given.place_of(path)}: " if given.name else ""
        raise BadInput(
            f"--{flag}: {where}{message}",
            field=f"{flag}.{path}" if flag == "acls" and path else flag,
            hint=hint or getattr(error, "hint", None),
        ) from error


def _path(source: str) -> str:
    return str(Path(source.removeprefix("file://")))


def _read(source: str, flag: str) -> str:
    path = _path(source)
    try:
        return read_text_file(path)
    except (OSError, ValueError) as error:  # no such file, no UTF-8, no path at all
        raise BadInput(
            f"--{flag}: {path} cannot be read: {why_unreadable(error)}", field=flag, hint=unreadable_hint(path, error)
        ) from error


def _decode(text: str) -> Any:
    """The JSON object of a flag.  Raises ConversionError and BadInput."""
    value = decode(text, most_values=MOST_VALUES)
    if not isinstance(value, dict):
        raise BadInput("expecting a JSON object")
    return value
