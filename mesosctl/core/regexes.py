"""Regular expressions of offer constraints: run by RE2, within the limits of the master's flags.

A framework writes them, so nothing else may run them: RE2, which Mesos uses too, takes time that is
linear in the text whatever the pattern, while a pattern of a few bytes keeps Python's `re` busy for ever.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from mesosctl.core.errors import RuleViolation
from mesosctl.core.sizes import parse_bytes

Accepts = Callable[[str], bool]
"""Whether a pattern matches the whole of a text."""
_MOST_MEMORY = 2**62
"""What RE2 can be told."""
# What stands for itself in a pattern that RE2 has accepted: quoted text, an escape, a class.
_LITERAL = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*+\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RegexLimits:
    """What one expression may cost: bytes, and instructions."""

    memory: int = 4096
    program_size: int = 100

    @classmethod
    def of(cls, flags: Mapping[str, str]) -> Self:
        """Those of `--offer_constraints_re2_max_mem` and `--offer_constraints_re2_max_program_size`."""
        memory = parse_bytes(flags["offer_constraints_re2_max_mem"], "offer_constraints_re2_max_mem")
        return cls(min(memory, _MOST_MEMORY), int(flags["offer_constraints_re2_max_program_size"]))


def whole(pattern: str, limits: RegexLimits) -> Accepts:
    """The matcher of a pattern.  Raises RuleViolation with the master's words for one it refuses."""
    # Late: only a constraint about text needs it.
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, limits.memory
    # Bytes, because a name need not be UTF-8; RE2 itself still reads them as UTF-8.
    try:
        compiled: Any = re2.compile(_bytes(pattern), options)
    except re2.error as error:
        reason = error.args[0]
        raise _broken(pattern, reason.decode(errors="replace") if isinstance(reason, bytes) else reason) from error
    if compiled.programsize > limits.program_size:
        raise RuleViolation(
            f"Regex '{pattern}' is too complex: program size of {compiled.programsize} is larger than maximum of "
            f"{limits.program_size} allowed"
        )
    # RE2 has learnt (?<name>…) since the release that Mesos 1.11 is built with.
    if "(?<" in _LITERAL.sub("_", pattern):
        raise _broken(pattern, "invalid perl operator: (?<")
    return lambda text: compiled.fullmatch(_bytes(text)) is not None


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _broken(pattern: str, reason: str) -> RuleViolation:
    return RuleViolation(f"Failed to construct regex from pattern '{pattern}': {reason}")
