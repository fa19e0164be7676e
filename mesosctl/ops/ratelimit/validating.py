"""`ratelimit validate`: everything that stops a master's start, and everything unwise."""

from collections.abc import Iterable, Iterator

from mesosctl.client.master import Master
from mesosctl.core import ratelimit
from mesosctl.core.ratelimit import Remark
from mesosctl.core.ratelimit_standing import FileCheck
from mesosctl.ops.ratelimit.config_file import Configuration, parse
from mesosctl.ops.ratelimit.state import principals_if_allowed
from mesosctl.wire.ratelimit import RATE_LIMIT, RATE_LIMITS


def validate(text: str, name: str, master: Master | None = None) -> FileCheck:
    """Check a configuration; with a master also against the principals of its frameworks.

    Raises BadInput for what is not JSON or has fields of the wrong type.
    """
    configuration = parse(text, name)
    used = None if master is None else principals_if_allowed(master)
    remarks = (
        *ratelimit.errors(configuration.limits),
        *_unknown_fields(configuration),
        *ratelimit.warnings(configuration.limits, used),
    )
    return FileCheck(name, configuration.limits, remarks)


def _unknown_fields(configuration: Configuration) -> Iterator[Remark]:
    """Names that a master passes over without a word; a misspelt limit is no limit."""
    for key in configuration.document:
        if key not in RATE_LIMITS.fields:
            yield _unknown(key, key, RATE_LIMITS.fields)
    entries = configuration.document.get("limits")
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        for key in entry if isinstance(entry, dict) else ():
            if key not in RATE_LIMIT.fields:
                yield _unknown(key, f"limits[{index}].{key}", RATE_LIMIT.fields)


def _unknown(key: str, field: str, known: Iterable[str]) -> Remark:
    return Remark(
        "warning", "ratelimit.unknown-field", field, f"'{key}' is ignored by a master", "known: " + ", ".join(known)
    )
