"""Every way mesosctl can end, and the exit status of each.

    MesosctlError
    ├── UsageError          2   arguments of the command line
    ├── Invalid             3
    │   ├── RuleViolation       a Mesos rule, found locally
    │   ├── BadInput            a file, a payload or a configuration that cannot be read
    │   └── Rejected            400 from the master
    ├── Denied              4
    │   ├── Unauthenticated     401
    │   └── Forbidden           403
    ├── NotFound            5   agent, role without quota, framework
    ├── Conflict            6   capacity heuristic, insufficient resources, 409
    ├── NoMaster            7
    │   ├── Unreachable         refused, reset, no such host, cut off
    │   ├── TlsFailure
    │   ├── NoZooKeeper         no server of it answers
    │   └── NoLeader            503, none registered, or a redirect that leads nowhere
    ├── MasterFailed        8   5xx
    │   └── UnexpectedAnswer    an answer that no master should give
    ├── Bug                 8   of mesosctl itself
    ├── NotConfirmed        9
    │   └── DeadlinePassed
    └── Interrupted         130  SIGINT, as Ctrl-C sends it
        ├── HungUp          129  SIGHUP, as a dropped connection sends it
        └── Terminated      143  SIGTERM

The statuses are a contract with scripts ("Exit statuses" in the reference). `mesos/exit_status.py` has
the meaning of each as text.
"""

import errno
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from mesosctl.mesos.exit_status import ExitStatus


class Advice(NamedTuple):
    """The rule of an error, and the values, by name, with which a program says what to do in its own words."""

    rule: str
    values: Mapping[str, Any]


class MesosctlError(Exception):
    """One clear message for people, and the fields that a script needs to distinguish errors.

    `field` names the place in the payload or file ("guarantee[1].scalar.value"), `rule` the rule ("quota.scalar-only"),
    `hint` says what to do, `status` is the HTTP status of the master's answer, and `override` the parameter that skips
    the check ("force"), which only some commands have. Each may be absent. `may_have_happened` says whether the change
    may have been made anyway.

    A hint of the kernel is about the value alone: how it is written, or a name that is similar. If there is more to do
    for a program, the error has a rule and `values`, of which `mesosctl.hints` makes the hint.
    """

    exit_status: ClassVar[ExitStatus] = ExitStatus.MASTER_FAILED
    may_have_happened: bool = False
    would_answer: int | None = None
    """The HTTP status that a master would answer, if mesosctl finds a broken rule first and the class does not say
    it.
    """
    role: str | None = None
    """The role of the entry, in a request with several entries."""
    advice: Advice | None = None
    in_file: tuple[str, str] | None = None
    """The file that the message begins with, and the rest of it, for a reader that knows the line."""
    is_placed = False
    """Whether the message names the line in its file."""
    typed: str | None = None
    """The word on the command line from which `field` was made."""

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        rule: str | None = None,
        hint: str | None = None,
        values: Mapping[str, Any] | None = None,
        status: int | None = None,
        override: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.rule = rule
        self.hint = hint
        self.status = status
        self.override = override
        self.advice = None if rule is None or values is None else Advice(rule, values)

    @property
    def hint(self) -> str | None:
        """The hint, with those of the joined errors; a new one replaces them all, and the advice."""
        hint = self.own_hint
        for other in self.joined:
            hint = linked(hint, other.hint)
        return hint

    @hint.setter
    def hint(self, hint: str | None) -> None:
        self.own_hint = hint
        self.advice = None
        self.joined: tuple[MesosctlError, ...] = ()

    def fields(self) -> dict[str, str | int | None]:
        """The values that a script needs to distinguish errors, by name."""
        return {
            "kind": type(self).__name__,
            "exit_status": int(self.exit_status),
            "message": self.message,
            "field": self.field,
            "rule": self.rule,
            "hint": self.hint,
            "status": self.status,
        }

    def join(self, other: "MesosctlError") -> None:
        """Tell the message and the hint of another error after its own."""
        if other.message not in self.message:
            self.reword(f"{self.message}; {other.message}")
            self.joined += (other,)
        self.override = self.override or other.override

    def advised(self, rule: str, **values: Any) -> Self:
        """The same error, whose hint a program makes by a rule that is not Mesos's, of these values."""
        self.advice = Advice(rule, values)
        return self

    def reword(self, message: str) -> None:
        """Replace the message, when more is known."""
        self.message, self.in_file = message, None
        self.args = (message,)

    def retold(self, kind: "type[Retold]", message: str, field: str | None) -> "Retold":
        """The error of another class for the same mistake, with its hint: what is wrong in a file is another's rule."""
        error = kind(message, field=field)
        error.own_hint, error.advice, error.joined = self.own_hint, self.advice, self.joined
        return error


Retold = TypeVar("Retold", bound=MesosctlError)


class UsageError(MesosctlError):
    """The arguments are not valid together, or the answer to a question was no."""

    exit_status = ExitStatus.USAGE


class Invalid(MesosctlError):
    """A payload, a file or a configuration is not valid."""

    exit_status = ExitStatus.INVALID


class RuleViolation(Invalid):
    """A rule of Mesos is broken; found before anything was sent."""


def linked(hint: str | None, other: str | None) -> str | None:
    """Two hints in one line; None if there is none.  If both say the same of two things, it is said once."""
    if not hint or not other or hint == other:
        return hint or other
    what, colon, meant = other.partition(": ")
    if colon and hint.rpartition("; ")[2].startswith(what + colon):
        return f"{hint} and {meant}"
    return f"{hint}{' ' if hint.endswith('?') else '; '}{other}"


class Violations:
    """Broken rules that are found one by one, and told at once."""

    def __init__(self) -> None:
        self._first: RuleViolation | None = None

    def __bool__(self) -> bool:
        """Whether one was noted."""
        return self._first is not None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note a RuleViolation in this block instead of raising it."""
        try:
            yield
        except RuleViolation as error:
            if self._first is None:
                self._first = error
            else:
                self._first.join(error)

    def refuse(self) -> None:
        """Raise the first that was noted, with the messages and hints of the others."""
        if self._first is not None:
            raise self._first


class BadInput(Invalid):
    """A file, standard input or a setting is not valid."""


class Rejected(Invalid):
    """The master answered 400."""


class Denied(MesosctlError):
    """The master does not allow this principal to do that."""

    exit_status = ExitStatus.DENIED


class Unauthenticated(Denied):
    """The master answered 401."""


class Forbidden(Denied):
    """The master answered 403."""


class NotFound(MesosctlError):
    """The thing that the command names does not exist."""

    exit_status = ExitStatus.NOT_FOUND


class Conflict(MesosctlError):
    """The request is valid, but the cluster has no room for it."""

    exit_status = ExitStatus.CONFLICT


class NoMaster(MesosctlError):
    """No leading master could be reached."""

    exit_status = ExitStatus.NO_MASTER


class Unreachable(NoMaster):
    """The connection could not be made, or broke.

    `may_have_happened` says whether the request may have reached the master: False only if it certainly did not.
    """

    def __init__(self, message: str, *, may_have_happened: bool, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.may_have_happened = may_have_happened


class TlsFailure(NoMaster):
    """The TLS handshake or the verification of a certificate failed."""


class NoZooKeeper(NoMaster):
    """No ZooKeeper server named a leader before the deadline.  Nothing was sent to a master."""


class NoLeader(NoMaster):
    """There is no leading master now, or it is not ready."""


class MasterFailed(MesosctlError):
    """The master answered 5xx. It may or may not have made the change."""

    may_have_happened = True
    exit_status = ExitStatus.MASTER_FAILED


class Bug(MesosctlError):
    """A state that should never occur: a bug of mesosctl, not a fault of the operator or the master."""


class UnexpectedAnswer(MasterFailed):
    """The answer does not come from a Mesos master."""


class NotConfirmed(MesosctlError):
    """A change was accepted or sent, but could not be confirmed."""

    may_have_happened = True
    exit_status = ExitStatus.NOT_CONFIRMED


class DeadlinePassed(NotConfirmed):
    """The deadline for all attempts passed.

    `may_have_happened` is the same as in `Unreachable`.
    """

    def __init__(self, message: str, *, may_have_happened: bool, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.may_have_happened = may_have_happened


class Interrupted(MesosctlError):
    """The user pressed Ctrl-C."""

    exit_status = ExitStatus.INTERRUPTED


class HungUp(Interrupted):
    """The terminal hung up, for example because a connection was dropped."""

    exit_status = ExitStatus.HUNG_UP


class Terminated(Interrupted):
    """Another program ended the command."""

    exit_status = ExitStatus.TERMINATED


class Interruption(KeyboardInterrupt):
    """A signal, `kind`, ends the command; raised wherever the program is.

    Code that is interrupted during a change adds the known facts as a note (`add_note`), in one sentence.
    """

    def __init__(self, kind: type[Interrupted]) -> None:
        super().__init__()
        self.kind = kind


def interrupted(stopped: BaseException | None, otherwise: str) -> Interrupted:
    """The error for an interruption: what is known about the interrupted change, or else the sentence `otherwise`."""
    kind = stopped.kind if isinstance(stopped, Interruption) else Interrupted
    told = "; ".join(getattr(stopped, "__notes__", ())) or otherwise
    how = {HungUp: "the terminal hung up", Terminated: "terminated"}.get(kind, "interrupted")
    return kind(f"{how}: {told}")


def extra(name: str) -> str:
    """How to install the packages of an extra; the package index may not have mesosctl, as the README says."""
    return f"in a checkout of mesosctl: pip install '.[{name}]'"


def too_little_memory(error: BaseException) -> BadInput | None:
    """The error if a library, a thread or a system call failed for lack of memory; None for any other reason."""
    if isinstance(error, OSError):
        lacks = error.errno == errno.ENOMEM
    elif isinstance(error, ImportError | RuntimeError):
        signs = ("Cannot allocate memory", "failed to map segment", "start new thread")
        lacks = any(sign in str(error) for sign in signs)
    else:
        lacks = isinstance(error, MemoryError)
    if not lacks:
        return None
    return BadInput("there is not enough memory", hint="allow the process more memory, or ask for less at once")


# Every control beyond ASCII's first 32, which JSON escapes itself, and every mark that changes the direction of text.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def steers(text: str) -> bool:
    """Whether `text` has characters that control a terminal or end a line, or marks that change its direction."""
    return any(char < " " for char in text) or _STEERING.search(text) is not None


def printable(text: str) -> str:
    """`text` with everything that is not printable escaped, control characters and direction marks included."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def printable_json(text: str) -> str:
    """The same JSON, or TOML, without any character that would control a terminal: both can contain them escaped."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
