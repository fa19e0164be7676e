"""Who asks, and how that is shown to a master."""

import base64
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Credentials:
    """A principal and its secret; the secret is never part of the text of this value."""

    principal: str
    secret: str = field(repr=False)
    proof: ClassVar[str] = "secret"
    """What is shown, in a word."""

    def header(self) -> str:
        """The value of `Authorization` for Basic authentication."""
        return "Basic " + base64.b64encode(f"{self.principal}:{self.secret}".encode(errors="surrogateescape")).decode()


@dataclass(frozen=True, slots=True)
class Token:
    """A token, how it is shown (one of `TOKEN_SCHEMES`), and whom it speaks for, where that is known.

    The token is never part of the text of this value.
    """

    token: str = field(repr=False)
    scheme: str = "bearer"
    principal: str | None = None
    proof: ClassVar[str] = "token"

    def header(self) -> str:
        """The value of `Authorization`."""
        return TOKEN_SCHEMES[self.scheme] + self.token


TOKEN_SCHEMES = {"bearer": "Bearer ", "dcos": "token="}
"""How a token stands in `Authorization`: as RFC 6750 has it, and as the Admin Router of every DC/OS takes it."""
