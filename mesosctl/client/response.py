"""HTTP responses: the status as an error, the body as JSON (Mesos documentation, "HTTP Endpoints")."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.files.redaction import REDACTED
from mesosctl.mesos.errors import (
    Conflict,
    Forbidden,
    MasterFailed,
    MesosctlError,
    NoLeader,
    Rejected,
    Unauthenticated,
    UnexpectedAnswer,
    Unreachable,
    printable,
)
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode

if TYPE_CHECKING:
    from mesosctl.client.deadline import Deadline
    from mesosctl.client.response_body import HeldBody

GIVE_CREDENTIALS = "give --principal and --secret-file, or --token-file"
"""A hint to somebody without credentials."""
_LONGEST_DETAIL = 600
_CERTAINLY_NOTHING = ("No leader elected", "Master has not finished recovery")
"""How a master's own 503 begins (Mesos documentation, "HTTP Endpoints"): it has not read the request."""
_ASKED_IN_CLEAR = rb"(plain HTTP|HTTP request) to an (HTTPS|SSL)|sent to HTTPS port"
_SAYS_NOTHING = ("401 Unauthorized.", "403 Forbidden.")
"""The whole body of a master's answers with these statuses."""
Take = Callable[[Iterable[bytes]], Any]
"""Makes a value from the chunks of a body.  Raises ConversionError if it is not JSON."""


class RequestIdentity(NamedTuple):
    """The principal, its proof and the requested action, for sentences about a refusal.

    `principal` is None if it is unknown; `proof` is the kind of credentials, or None; `action` is Mesos's name of the
    permission, or the request.
    """

    base: str
    action: str
    principal: str | None = None
    proof: str | None = None

    def unauthenticated(self) -> tuple[str, str]:
        """The sentence for 401, and what to do."""
        if self.proof is None:
            sentence = f"{self.base} requires authentication, but got no credentials (401)"
            hint = GIVE_CREDENTIALS
        elif self.proof == "token":
            sentence, hint = (
                f"wrong token for {self.base} (401)",
                "it may have expired; give another one with --token-file",
            )
        else:
            sentence, hint = f"wrong principal or secret for {self.base} (401)", "check --principal and --secret-file"
        return sentence, f"{hint}; mesosctl context show shows what is in effect"

    def forbidden(self) -> str:
        """The sentence for 403."""
        who = f"principal {self.principal}" if self.principal else "this principal"
        if self.proof is None:
            who = "a client without a principal"
        return f"{who} may not {self.action} at {self.base} (403)"


class Response(NamedTuple):
    """One HTTP answer.

    `url` is that of the request, for messages: of a fake master, its address. `location` is the header of a redirect.
    `held` is a large body, in place of `body`.
    """

    status: int
    url: str
    content_type: str = ""
    body: bytes = b""
    location: str | None = None
    held: "HeldBody | None" = None

    @property
    def is_html(self) -> bool:
        """Whether it is a page for people, which no master's endpoint gives."""
        return "html" in self.content_type or self.body[:200].lstrip().lower().startswith((b"<!doctype", b"<html"))

    @property
    def may_follow_a_change(self) -> bool:
        """Whether a change with this answer may have been made anyway.

        A refusal before the request is passed on is believed (401, 403). Any other refusal that is not in a master's
        own words may come from a proxy that lost the answer.
        """
        if self.status == 503:
            # A proxy answers 503 in plain text too, and a proxy that lost the answer has an empty body.
            return not self.body.decode("utf-8", "replace").startswith(_CERTAINLY_NOTHING)
        return self.status >= 500 or (self.status in (400, 409) and self.is_html)

    @property
    def wants_tls(self) -> bool:
        """Whether an https server says that the request was plain http, in the words of nginx, Apache or Go."""
        return (
            self.status == 400
            and self.url.startswith("http:")
            and re.search(_ASKED_IN_CLEAR, self.body[: 4 * _LONGEST_DETAIL]) is not None
        )

    def detail(self) -> str:
        """The body as one line that is safe to print."""
        if self.is_html:
            return "an HTML page, as a proxy would send"
        if self.body.decode("utf-8", "replace").strip() in _SAYS_NOTHING:
            return ""
        text = " ".join(self.body[: 4 * _LONGEST_DETAIL].decode("utf-8", "replace").split(" "))
        return printable(text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + " …")

    @property
    def is_json(self) -> bool:
        """Whether its Content-Type is JSON."""
        return self.content_type.partition(";")[0].strip() in ("application/json", "text/json")

    def json(self) -> Any:
        """The body as JSON.  Raises UnexpectedAnswer."""
        return self._taken(lambda chunks: decode(b"".join(chunks)), [self.body])

    def take(self, take: Take, deadline: "Deadline") -> Any:
        """Return the value that `take` makes of the body, which it reads in pieces before the deadline.

        Another thread may call it. Raises UnexpectedAnswer and DeadlinePassed.
        """
        return self._taken(take, [self.body] if self.held is None else self.held.pieces(deadline))

    def _taken(self, take: Take, chunks: Iterable[bytes]) -> Any:
        if self.is_html:
            raise self._unexpected("answered with an HTML page instead of JSON, as a proxy does")
        if not self.is_json:
            told = printable(self.content_type)[:_LONGEST_DETAIL]
            raise self._unexpected(f"answered with '{told}' instead of JSON")
        try:
            return take(chunks)
        except ConversionError as error:
            raise self._unexpected(f"answered with JSON that is cut off or broken: {printable(str(error))}") from None

    def _unexpected(self, sentence: str) -> UnexpectedAnswer:
        return UnexpectedAnswer(f"{self.url} {sentence}", status=self.status).advised("master.not-mesos")


_BY_STATUS: dict[int, tuple[Callable[..., MesosctlError], str, str | None]] = {
    400: (Rejected, "the master refuses the request", None),
    409: (Conflict, "the cluster cannot hold it", "ask for less"),
    503: (NoLeader, "no leading master is ready", "try again when a leader is elected"),
}


def asked_in_clear(base: str) -> Unreachable:
    """The error for http to a server that speaks https."""
    return Unreachable(
        f"{base} speaks https, but the request used http",
        may_have_happened=False,
        hint=f"write {base.replace('http:', 'https:', 1)}",
    )


def raise_for_status(answer: Response, requester: RequestIdentity) -> None:
    """Raise the error that a status means; nothing for 2xx."""
    if 200 <= answer.status < 300:
        return
    detail = answer.detail()
    said = f": {detail}" if detail else ""
    if answer.status == 401:
        sentence, todo = requester.unauthenticated()
        raise Unauthenticated(f"{sentence}{said}", hint=todo, status=401)
    if answer.wants_tls:
        raise asked_in_clear(requester.base)
    if answer.status == 403:
        raise Forbidden(f"{requester.forbidden()}{said}", status=403)
    if answer.status in _BY_STATUS:
        make, sentence, hint = _BY_STATUS[answer.status]
        error = make(f"{sentence}{said}", hint=hint, status=answer.status)
        error.may_have_happened = answer.may_follow_a_change
        raise error
    if answer.status >= 500:
        raise MasterFailed(f"{answer.url} failed with {answer.status}{said}", status=answer.status)
    raise UnexpectedAnswer(
        f"{answer.url} answered {answer.status}, which no Mesos master does here{said}", status=answer.status
    ).advised("master.not-mesos")


_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


class Trace(NamedTuple):
    """One request and its answer, or `failure`, the sentence for why there is none.

    `headers` are those that were sent, with secrets removed.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    seconds: float
    answer: Response | None = None
    failure: str | None = None
    outcome: str = ""
    """The result in a sentence, if the exchange was not HTTP."""


def presentable(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that may be shown: only the scheme of secret ones is left."""
    return {name: _struck_out(value) if name.lower() in _SECRET_HEADERS else value for name, value in headers.items()}


def _struck_out(value: str) -> str:
    scheme, sign, _ = value.partition(" " if " " in value else "=")
    return f"{scheme}{sign}{REDACTED}" if sign else REDACTED
