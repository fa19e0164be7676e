"""CRAM-MD5, by which a driver authenticates before it registers (RFC 2195; Mesos documentation, "Authentication").

The driver asks the master (AuthenticateMessage), the master names its mechanism, the driver starts, the master sends a
challenge, and the driver answers with its principal and the HMAC-MD5 of the challenge under its secret.
"""

import base64
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from fake_master.driver.messages import Pid
from fake_master.state.credentials import is_same, secret_of

MECHANISM = "CRAM-MD5"
ACTOR = "crammd5-authenticator"
_MOST_SESSIONS = 10_000
Send = Callable[[str, Pid, str, Mapping[str, Any]], None]
"""Posts a message: the actor that sends it, to whom, its short name, and its document."""


@dataclass(slots=True)
class _Session:
    """One authentication: `client` talks, for the actor `applicant`."""

    client: Pid
    applicant: str
    challenge: bytes = b""


class Authentication:
    """The authentications under way, and the principals that they have proven."""

    def __init__(self, credentials: Mapping[str, str], hostname: str, send: Send) -> None:
        self._credentials = credentials
        self._hostname = hostname
        self._send = send
        self._sessions: dict[str, _Session] = {}
        self._numbers = count(1)
        self.principals: dict[str, str] = {}
        """The principal of every driver that has been authenticated, by pid."""

    def begin(self, client: Pid, message: Mapping[str, Any]) -> None:
        """AuthenticateMessage: begin an authentication, in place of an earlier one of the same driver."""
        applicant = message["pid"]
        self.forget(applicant)
        if not self._credentials:
            error = {"error": "No authenticator loaded"}
            self._send("master", client, "AuthenticationErrorMessage", error)
            return
        if len(self._sessions) >= _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        actor = f"{ACTOR}({next(self._numbers)})"
        self._sessions[actor] = _Session(client, applicant)
        self._send(actor, client, "AuthenticationMechanismsMessage", {"mechanisms": [MECHANISM]})

    def start(self, actor: str, message: Mapping[str, Any]) -> None:
        """AuthenticationStartMessage: challenge the driver to prove that it knows its secret."""
        session = self._sessions.get(actor)
        if session is None:
            return
        if message["mechanism"] != MECHANISM or session.challenge:
            self._end(actor, "AuthenticationErrorMessage", {"error": "Unexpected authentication 'start' received"})
            return
        session.challenge = f"<{secrets.randbits(64)}.{secrets.randbits(32)}@{self._hostname}>".encode()
        self._step(actor, session.client, session.challenge)

    def step(self, actor: str, message: Mapping[str, Any]) -> None:
        """AuthenticationStepMessage: check the answer to the challenge."""
        session = self._sessions.get(actor)
        if session is None:
            return
        if not session.challenge:
            self._end(actor, "AuthenticationErrorMessage", {"error": "Unexpected authentication 'step' received"})
            return
        principal = self._proven(session.challenge, base64.b64decode(message["data"]))
        if principal is None:
            self._end(actor, "AuthenticationFailedMessage", {})
            return
        self.principals[session.applicant] = principal
        self._end(actor, "AuthenticationCompletedMessage", {})

    def forget(self, pid: str) -> None:
        """Drop a driver that is gone or starts again."""
        self.principals.pop(pid, None)
        for actor in [actor for actor, session in self._sessions.items() if session.applicant == pid]:
            del self._sessions[actor]

    def _proven(self, challenge: bytes, answer: bytes) -> str | None:
        """Return the principal that an answer proves, or None."""
        name, _, digest = answer.rpartition(b" ")
        principal = name.decode(errors="surrogateescape")
        expected = hmac.new(secret_of(self._credentials, principal), challenge, "md5").hexdigest()
        return principal if is_same(expected.encode(), digest) else None

    def _step(self, actor: str, to: Pid, data: bytes) -> None:
        self._send(actor, to, "AuthenticationStepMessage", {"data": base64.b64encode(data).decode()})

    def _end(self, actor: str, name: str, document: Mapping[str, Any]) -> None:
        self._send(actor, self._sessions.pop(actor).client, name, document)
