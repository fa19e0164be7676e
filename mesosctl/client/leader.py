"""Finding the leader: by name, in the list that was given, in ZooKeeper, and along redirects.

A master that does not lead answers 307 with `Location: //host:port/master/path`, the scheme left
open (Mesos documentation, "HTTP Endpoints").
"""

from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from mesosctl.client.address import Address, ascii_host, is_host, origin
from mesosctl.client.deadline import Deadline
from mesosctl.client.response import Response
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import (
    DeadlinePassed,
    MesosctlError,
    NoLeader,
    NoMaster,
    NoZooKeeper,
    UnexpectedAnswer,
    Unreachable,
    printable,
)

MOST_REDIRECTS = 5
_MOST_SHOWN = 300
"""The most characters of an invalid address that are shown."""


class Leader:
    """The masters that the user named, directly or through ZooKeeper, and the one that led last."""

    def __init__(self, address: Address, settings: ClientSettings, deadline: Deadline) -> None:
        self.address = address
        self.base: str | None = None
        self._settings = settings
        self._deadline = deadline
        self._registered: set[tuple[str, str, int | None]] = set()

    @property
    def scheme(self) -> str:
        """The scheme for these masters."""
        if self.address.zookeeper is not None:
            return "https" if self.address.zookeeper.tls or self._settings.tls else "http"
        return urlsplit(self.base or self.address.bases[0]).scheme

    def candidates(self) -> Iterator[tuple[str, int]]:
        """Base URLs in the order in which to ask them, each with the number of those after it.

        The last leader is asked first, and gets half of the time, because it may be gone without an error. ZooKeeper is
        asked when it is its turn, so that its answer is fresh.
        """
        asked: list[str] = []
        known = self.base
        if known is not None:
            asked.append(known)
            more = self.address.zookeeper is not None or any(base != known for base in self.address.bases)
            yield known, int(more)
        rest = [base for base in self._named() if base not in asked]
        for index, base in enumerate(rest, 1):
            yield base, len(rest) - index

    def may_see_credentials(self, base: str) -> bool:
        """Whether the user named `base`; a master that is not known yet may have registered just now."""
        if self.is_known(base):
            return True
        if self.address.zookeeper is None:
            return False
        self._named()
        return self.is_known(base)

    def is_known(self, base: str) -> bool:
        """Whether `base` is among the masters that were named or found so far."""
        return self.address.names(base) or origin(base) in self._registered

    def _named(self) -> list[str]:
        """The masters of the address; of those in ZooKeeper, the leader, by each of its names."""
        where = self.address.zookeeper
        if where is None:
            return list(self.address.bases)
        from mesosctl.client.zookeeper import TIMEOUT, read_masters

        # Half of the time at most: the leading master must be asked too.
        self._deadline.begin()
        found = read_masters(where, min(TIMEOUT, self._deadline.remaining() / 2))
        if self._settings.trace is not None:
            from mesosctl.client.response import Trace

            outcome = f"{found[0].hosts[0]} leads; registered masters: {len(found)}"
            self._settings.trace(Trace("LOOK UP", str(where), {}, None, self._deadline.waited, outcome=outcome))
        bases = [[f"{self.scheme}://{host}" for host in master.hosts] for master in found]
        self._registered = {origin(base) for names in bases for base in names}
        return bases[0]


def redirected_base(answer: Response, base: str, path: str) -> str | None:
    """The base URL of the leader that a 307 names, or None for any other answer.

    Raises UnexpectedAnswer for a redirect that does not lead to the same endpoint of another
    master, or that leads from https to http.
    """
    if answer.status != 307:
        return None
    location = printable(answer.location or "")[:_MOST_SHOWN]
    try:
        target = urlsplit(urljoin(base + path, answer.location or ""))
        is_place = is_host(target.hostname or "") and "@" not in target.netloc and target.port != 0
        whole = bool(location) and is_place
        ascii_host(target)
    except ValueError:
        target, whole = urlsplit(""), False
    if not whole or not target.path.endswith(path.partition("?")[0]):
        raise UnexpectedAnswer(
            f"{base} redirects to '{location}', which is not another master",
            status=answer.status,
        ).advised("master.address")
    if target.scheme != urlsplit(base).scheme:
        raise UnexpectedAnswer(
            f"{base} redirects to '{location}', but a redirect cannot change from https to http or back",
            status=answer.status,
            hint="name the leading master with --master",
        )
    return f"{target.scheme}://{target.netloc}"


def redirect_loop(base: str) -> NoLeader:
    """The error for masters that redirect in circles."""
    return NoLeader(
        f"the masters redirect to each other, last to {base}: they have not agreed on a leader",
        hint="try again when a leader is elected",
    )


def no_answer(failures: list[MesosctlError]) -> MesosctlError:
    """One error for a whole list of masters that failed one after the other."""
    if len(failures) == 1:
        return failures[0]
    sentence = f"none of the {len(failures)} masters could be used: " + "; ".join(error.message for error in failures)
    last = failures[-1]
    if isinstance(last, DeadlinePassed):
        return DeadlinePassed(
            sentence, may_have_happened=any(error.may_have_happened for error in failures), hint=last.hint
        )
    if isinstance(last, NoZooKeeper):
        last.reword(sentence)
        return last
    elected = next((error for error in failures if isinstance(error, NoLeader)), None)
    if elected is not None or not all(isinstance(error, NoMaster) for error in failures):
        return NoLeader(sentence, hint="try again when a leader is elected")
    error = Unreachable(sentence, may_have_happened=False, hint=last.own_hint)
    error.advice = last.advice
    if any((failure.own_hint, failure.advice) != (last.own_hint, last.advice) for failure in failures):
        error.hint = None
        error.advised("master.address")
    return error
