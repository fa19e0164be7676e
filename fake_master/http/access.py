"""Who is asking: HTTP Basic against the master's credentials, realm by realm (spec/endpoints.md §1)."""

import base64
import binascii
import hmac
from enum import Enum

from fake_master.http.exchange import Request, standard_refusal
from fake_master.master.master import Master


class Realm(Enum):
    """The realms of a master and of its agents; each is switched on by a flag of its own."""

    READONLY = "mesos-master-readonly"
    READWRITE = "mesos-master-readwrite"
    SCHEDULER = "mesos-master-scheduler"
    AGENT_READONLY = "mesos-agent-readonly"


_FLAGS = {
    Realm.READONLY: "authenticate_http_readonly",
    Realm.READWRITE: "authenticate_http_readwrite",
    Realm.SCHEDULER: "authenticate_http_frameworks",
    # Master and agents of a local cluster share their flags.
    Realm.AGENT_READONLY: "authenticate_http_readonly",
}


def authenticate(master: Master, realm: Realm | None, request: Request) -> str | None:
    """The principal, or None where the realm is open.  Raises Refusal (401)."""
    if realm is None or not master.flags.is_true(_FLAGS[realm]):
        return None
    pair = _basic(request.headers.get("authorization", ""))
    if pair is not None:
        principal, secret = pair
        # Compare against something even for an unknown principal, so that time tells nothing.
        expected = master.flags.credentials.get(principal, "")
        same = hmac.compare_digest(expected.encode(), secret.encode())
        if same and principal in master.flags.credentials:
            return principal
    raise standard_refusal(401, {"WWW-Authenticate": f'Basic realm="{realm.value}"'})


def _basic(header: str) -> tuple[str, str] | None:
    scheme, _, token = header.partition(" ")
    if scheme != "Basic":
        return None
    try:
        principal, colon, secret = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return (principal, secret) if colon else None
