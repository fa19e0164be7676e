"""The secrets of principals, as `--credentials` gives them (Mesos documentation, "Authentication")."""

import hmac
import secrets
from collections.abc import Mapping

_NOBODYS = secrets.token_hex(32)


def secret_of(credentials: Mapping[str, str], principal: str) -> bytes:
    """The secret of a principal.

    Of an unknown principal it is one that nobody knows. A comparison therefore needs no second question, which could
    be forgotten, and takes the same time.
    """
    return credentials.get(principal, _NOBODYS).encode(errors="surrogateescape")


def is_same(expected: bytes, given: bytes) -> bool:
    """Whether two secrets, or what was made of them, are the same; the time tells nothing of `expected`."""
    return hmac.compare_digest(expected, given)
