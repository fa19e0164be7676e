"""The differences for a cluster under another release of Mesos."""

from typing import Literal, NamedTuple

from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Quantities

Subject = Literal["quota", "capacity", "suppression", "flag", "metric"]


class UpgradeDifference(NamedTuple):
    """A setting of the cluster that means something else there, or a name that is gone."""

    subject: Subject
    name: str
    """Of the role, flag or metric; of a capacity, the resource."""
    today: str
    there: str


class SentRequest(NamedTuple):
    """A request that somebody sends today."""

    method: str
    target: str
    """The path, with a query where there is one."""
    body: bytes = b""
    times: int = 1


class TriedRequest(NamedTuple):
    """A request that both masters were sent, and answer differently."""

    request: str
    """Method, path and, of a call, its type."""
    times: int
    today: int
    there: int
    """The statuses of the answers."""
    message: str
    """The refusal there; empty if it is accepted."""
    members_gone: tuple[str, ...] = ()
    """Members of the answer that are not there, of a reading that both masters answer."""


class Upgrade(NamedTuple):
    """A master of another release is to lead."""

    version: str
    mesos_profile: str
    """The name of its profile."""
    master: str
    """The words for it, such as `Mesos 1.11.0`."""
    starts: bool = True
    """Whether it starts on the registry of the present one; otherwise nothing changes."""
    why_not: str = ""
    differences: tuple[UpgradeDifference, ...] = ()
    """Only of what this cluster has."""
    requests: tuple[TriedRequest, ...] = ()
    tried: int = 0
    """The number of requests that both masters were sent."""
    set_again: tuple[tuple[str, Quantities], ...] = ()
    """The guarantees to remove before it starts and to set again when it leads, by role: it reads none of today's."""

    @property
    def refused(self) -> tuple[TriedRequest, ...]:
        """Requests that are accepted today and refused there."""
        return tuple(tried for tried in self.requests if tried.today < 400 <= tried.there)

    @property
    def harms(self) -> tuple[str, ...]:
        """The sentences that speak against it."""
        found: list[str] = []
        if not self.starts:
            found.append(f"{self.master} would not start: {self.why_not}")
        elif self.set_again:
            whose = listed([role for role, _ in self.set_again])
            found.append(f"{self.master} would start without the quota of {whose}")
        if self.refused:
            one = len(self.refused) == 1
            what = f"{counted(len(self.refused), 'request')} that {'is' if one else 'are'} accepted today"
            found.append(f"{what} would be refused")
        return tuple(found)
