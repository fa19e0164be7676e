"""Regular expressions of offer constraints: those of RE2, within the limits of the master's flags.

With google-re2 (`pip install mesosctl[re2]`) it is the library that Mesos uses, and a pattern means
and costs what it does there.  Without it Python's own stand in: what RE2 does not know is refused
all the same, and in place of the limits on memory and program size stands one on repetition.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Self

from mesosctl.core.errors import RuleViolation
from mesosctl.core.sizes import parse_bytes

Accepts = Callable[[str], bool]
"""Whether a pattern matches the whole of a text."""
# What Python knows, and RE2 does not: lookaround, references back, conditions, comments, atomic groups …
_NOT_RE2 = re.compile(
    r"\\(?:[1-9]|[ZuUN])"  # \1, \Z, …
    r"|\(\?(?:[=!>#(]|<|P[=>])"  # (?=, (?<=, (?<n>, (?P=n)
    r"|\(\?[a-z]*[axLu]"  # flags of Python alone
    r"|(?<!\\)[*+?}]\+"  # possessive repetition
)
_ESCAPED_OR_CLASS = re.compile(r"\\\\|\[\^?\]?(?:\\.|[^\]\\])*\]")
_POSIX_CLASS = re.compile(r"\[:\^?\w+:\]")
_REPEATED = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_MOST_REPEATED = 1000


@dataclass(frozen=True, slots=True)
class RegexLimits:
    """What one expression may cost: bytes, and instructions."""

    memory: int = 4096
    program_size: int = 100

    @classmethod
    def of(cls, flags: Mapping[str, str]) -> Self:
        """Those of `--offer_constraints_re2_max_mem` and `--offer_constraints_re2_max_program_size`."""
        memory = parse_bytes(flags["offer_constraints_re2_max_mem"], "offer_constraints_re2_max_mem")
        return cls(memory, int(flags["offer_constraints_re2_max_program_size"]))


def whole(pattern: str, limits: RegexLimits) -> Accepts:
    """The matcher of a pattern.  Raises RuleViolation with the master's words for one it refuses."""
    library = _re2()
    foreign = _NOT_RE2.search(_ESCAPED_OR_CLASS.sub("_", pattern))
    if foreign is not None and (library is None or foreign[0] == "(?<"):  # newer RE2 has learnt (?<n>…)
        raise _broken(pattern, f"not in RE2: {foreign[0]}")
    return _with_python(pattern, limits) if library is None else _with_re2(library, pattern, limits)


def _with_re2(library: ModuleType, pattern: str, limits: RegexLimits) -> Accepts:
    options = library.Options()
    options.log_errors, options.max_mem = False, limits.memory
    try:
        compiled: Any = library.compile(pattern, options)
    except library.error as error:
        reason = error.args[0]
        raise _broken(pattern, reason.decode(errors="replace") if isinstance(reason, bytes) else reason) from error
    if compiled.programsize > limits.program_size:
        raise _too_complex(pattern, f"program size of {compiled.programsize}", limits)
    return lambda text: compiled.fullmatch(text) is not None


def _with_python(pattern: str, limits: RegexLimits) -> Accepts:
    if _POSIX_CLASS.search(pattern):
        raise _broken(pattern, "[:classes:] need google-re2, which is not installed")
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise _broken(pattern, str(error)) from error
    # Every instruction of a program stands for something written, as often as it is repeated.
    most = max([int(part) for pair in _REPEATED.findall(pattern) for part in pair if part], default=0)
    if most > _MOST_REPEATED:
        raise _broken(pattern, f"invalid repetition size: {most}")
    if max(len(_REPEATED.sub("", pattern)), most) > limits.program_size:
        raise _too_complex(pattern, "program size", limits)
    return lambda text: compiled.fullmatch(text) is not None


def _broken(pattern: str, reason: str) -> RuleViolation:
    return RuleViolation(f"Failed to construct regex from pattern '{pattern}': {reason}")


def _too_complex(pattern: str, what: str, limits: RegexLimits) -> RuleViolation:
    return RuleViolation(
        f"Regex '{pattern}' is too complex: {what} is larger than maximum of {limits.program_size} allowed"
    )


@cache
def _re2() -> ModuleType | None:
    try:
        library = import_module("re2")
    except ImportError:
        return None
    # There is another package of this name, and it measures no programs.
    return library if hasattr(library, "Options") else None
