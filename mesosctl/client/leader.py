"""Finding who leads: along the list that was given, and along the redirects of masters that do not lead.

A master that does not lead answers 307 with `Location: //host:port/master/path`, the scheme left
open (spec/endpoints.md §1).
"""

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from mesosctl.client.address import Address
from mesosctl.client.answer import Answer
from mesosctl.core.errors import MesosctlError, NoLeader, NoMaster, UnexpectedAnswer, Unreachable
from mesosctl.core.printable import printable

MOST_REDIRECTS = 5


@dataclass(slots=True)
class Leader:
    """The masters that were named, and the one that led when it was last asked."""

    address: Address
    base: str | None = None

    def candidates(self) -> list[str]:
        """Base URLs in the order in which to ask them."""
        if self.base is None:
            return list(self.address.bases)
        return [self.base, *(base for base in self.address.bases if base != self.base)]

    def may_see_credentials(self, base: str) -> bool:
        """Whether `base` is a master that was asked for by name."""
        return self.address.names(urlsplit(base).netloc)


def redirected_base(answer: Answer, base: str, path: str) -> str | None:
    """The base URL of the leader that a 307 names, or None for any other answer.

    Raises UnexpectedAnswer for a redirect that does not lead to the same endpoint of another
    master, or that leads from https to http.
    """
    if answer.status != 307:
        return None
    location = printable(answer.location or "")
    try:
        target = urlsplit(urljoin(base + path, answer.location or ""))
    except ValueError:
        target = urlsplit("")
    if not location or not target.netloc or not target.path.endswith(path.partition("?")[0]):
        raise UnexpectedAnswer(
            f"{base} redirects to '{location}', which is not another master",
            status=answer.status,
            hint="check --master",
        )
    if target.scheme != urlsplit(base).scheme:
        raise UnexpectedAnswer(
            f"{base} redirects to '{location}', and a redirect may not change from https to http or back",
            status=answer.status,
            hint="name the leading master with --master",
        )
    return f"{target.scheme}://{target.netloc}"


def redirect_loop(base: str) -> NoLeader:
    """The error where masters send a request in circles."""
    return NoLeader(
        f"the masters redirect in circles, last from {base}: no leader is settled",
        hint="try again when a leader is elected",
    )


def nobody_answered(failures: list[MesosctlError]) -> MesosctlError:
    """One error for a whole list of masters that failed one after the other."""
    if len(failures) == 1:
        return failures[0]
    sentence = f"none of {len(failures)} masters could be used: " + "; ".join(error.message for error in failures)
    elected = next((error for error in failures if isinstance(error, NoLeader)), None)
    if elected is not None or not all(isinstance(error, NoMaster) for error in failures):
        return NoLeader(sentence, hint="try again when a leader is elected")
    return Unreachable(sentence, sent=False, hint="check --master")
