"""Where a master is asked for: a URL, a list of them, or `fake:`."""

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from mesosctl.core.errors import UsageError

DEFAULT_PORT = 5050
FAKE_BASE = "http://fake.invalid"
_HINT = "write http://host:5050, several masters with commas between them, or fake: for a dry run without a cluster"


@dataclass(frozen=True, slots=True)
class Address:
    """Masters in the order in which they are tried, as base URLs without a trailing slash.

    `fake` is the whole text of a `fake:` address, None for a real one.
    """

    bases: tuple[str, ...]
    fake: str | None = None

    def names(self, host: str) -> bool:
        """Whether `host` ("host:port") was asked for by name, and may be shown credentials."""
        return any(urlsplit(base).netloc.lower() == host.lower() for base in self.bases)


def parse_address(text: str) -> Address:
    """`http://host:port`, `https://…`, `host:port`, a comma list of these, or `fake:…`.  Raises UsageError."""
    text = text.strip()
    if not text:
        raise UsageError("the address of the master is empty", field="--master", hint=_HINT)
    if text.startswith("fake:"):
        return Address((FAKE_BASE,), fake=text)
    if text.startswith("zk://"):
        raise UsageError(
            "zk:// addresses are not supported yet",
            field="--master",
            hint="name the masters: http://host1:5050,http://host2:5050",
        )
    bases: list[str] = []
    scheme = "http"
    for part in text.split(","):
        base = _parse_base(part.strip(), scheme)
        # A bare name after https:// means https too: nothing falls back to clear text silently.
        scheme = base.partition(":")[0]
        bases.append(base)
    return Address(tuple(bases))


def _parse_base(text: str, scheme: str) -> str:
    bare = "://" not in text
    try:
        url = urlsplit(f"{scheme}://{text}" if bare else text)
        port = url.port
    except ValueError as error:
        raise UsageError(f"'{text}' is not an address: {error}", field="--master", hint=_HINT) from None
    _check_parts(text, url)
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    if port is None and bare:
        port = DEFAULT_PORT
    return f"{url.scheme}://{host}" + (f":{port}" if port is not None else "") + url.path.rstrip("/")


def _is_host(host: str) -> bool:
    """Whether the resolver can be asked for it: labels of 1 to 63 characters, 253 in all."""
    if ":" in host:
        return True  # an IPv6 address, which urlsplit has looked at
    try:
        ascii_host = host if host.isascii() and "xn--" not in host else host.encode("idna").decode()
        if "xn--" in ascii_host:
            ascii_host.encode().decode("idna")
    except UnicodeError:
        return False
    labels = ascii_host.removesuffix(".").split(".")
    fits = len(ascii_host) <= 253 and all(1 <= len(label) <= 63 for label in labels)
    return fits and host.isprintable() and " " not in host


def _check_parts(text: str, url: SplitResult) -> None:
    if "@" in url.netloc:
        # The text itself may hold a secret, so it is not repeated.
        raise UsageError(
            "a user name or secret does not belong into the address",
            field="--master",
            hint="use --principal and --secret-file",
        )
    if url.scheme not in ("http", "https"):
        raise UsageError(f"'{text}': '{url.scheme}' is not a way to a master", field="--master", hint=_HINT)
    if not _is_host(url.hostname or "") or url.query or url.fragment:
        raise UsageError(f"'{text}' is not the address of a master", field="--master", hint=_HINT)
