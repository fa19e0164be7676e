"""The address of a master: a URL, a list of them, ZooKeeper, a file with one of these, or `fake:`."""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from mesosctl.files.reading import read_text_file, unreadable_hint, why_unreadable
from mesosctl.mesos.errors import BadInput, UsageError

DEFAULT_PORT = 5050
FAKE_BASE = "http://fake.invalid"
_HINT = (
    "write http://host:5050, several masters separated by commas, zk://host1,host2/mesos, "
    "or fake:, a fake master that needs no cluster"
)
_SCHEME_PORTS = {"http": 80, "https": 443}
_PORT = re.compile(r":\d+$", re.ASCII)
_ZOOKEEPER_SCHEMES = ("zk", "zk+https")
ZOOKEEPER_PORT = 2181
_ZOOKEEPER_HINT = "write zk://host1:2181,host2:2181/mesos, or zk://USER:SECRET@host1,host2/mesos"


class ZooKeeper(NamedTuple):
    """Where masters register: servers as "host:port", the parent of their nodes, and "user:secret" or nothing.

    The secret is never part of the repr. `tls` means that masters found there serve https, which ZooKeeper
    does not say.
    """

    servers: tuple[str, ...]
    path: str
    digest: str | None = None
    tls: bool = False

    def __str__(self) -> str:
        return f"zk://{','.join(self.servers)}{self.path}"

    def __repr__(self) -> str:
        return f"ZooKeeper({self})"


class Address(NamedTuple):
    """Masters in the order in which they are tried, as base URLs without a trailing slash.

    `fake` is the whole text of a `fake:` address, None for a real one.  With `zookeeper` the
    masters are those that are registered there, and `bases` is empty.
    """

    bases: tuple[str, ...]
    fake: str | None = None
    zookeeper: ZooKeeper | None = None

    def names(self, base: str) -> bool:
        """Whether the user named the origin of `base`, so that it may get credentials."""
        return any(origin(named) == origin(base) for named in self.bases)


def origin(base: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of a base URL, normalised."""
    url = urlsplit(base)
    return url.scheme, (url.hostname or "").removesuffix("."), url.port or _SCHEME_PORTS.get(url.scheme)


def default_port(scheme: str) -> int:
    """The port of a URL without one."""
    return _SCHEME_PORTS[scheme]


def parse_address(text: str) -> Address:
    """`http://host:port`, `https://…`, `host:port`, a comma list of these, `zk://…`, `file:///…` or `fake:…`.

    Raises UsageError, and BadInput for a file that cannot be read. No error contains a secret.
    """
    text = text.strip()
    if not text.startswith("file://"):
        return _parse(text)
    path = text.removeprefix("file://")
    found = _read_address(path)
    try:
        return _parse(found)
    except UsageError as error:
        raise BadInput(f"in {path}: {error.message}", field=error.field, hint=error.hint) from None


def _parse(text: str) -> Address:
    if not text:
        raise UsageError("the address of the master is empty", field="--master", hint=_HINT)
    _check_not_mixed(text)
    if text.startswith("fake:"):
        return Address((FAKE_BASE,), fake=text)
    scheme, _, rest = text.partition("://")
    if scheme in _ZOOKEEPER_SCHEMES:
        return Address((), zookeeper=parse_zookeeper(rest, tls=scheme == "zk+https"))
    return Address(_parse_list(text))


def _check_not_mixed(text: str) -> None:
    """Raise BadInput for a list with a fake master; a comma may also be part of the name of its file."""
    first, *others = (part.strip() for part in text.split(","))
    if first.startswith("fake:"):
        is_mixed = any("://" in part or part.startswith("fake:") or _PORT.search(part) for part in others)
    else:
        is_mixed = any(part.startswith("fake:") and not _PORT.search(part) for part in others)
    if is_mixed:
        raise BadInput(
            "a list of masters cannot contain a fake: address",
            field="--master",
            hint="give the fake: address alone, or only the addresses of real masters",
        )


def shows_secret(text: str) -> bool:
    """Whether the text of an address holds a secret, which must not be an argument of a process."""
    return text.strip().partition("://")[0] in _ZOOKEEPER_SCHEMES and "@" in text


def _read_address(path: str) -> str:
    """The address in a file, in the format of Mesos (`/etc/mesos/zk`).  Raises BadInput."""
    try:
        found = read_text_file(path).strip()
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the address of the master cannot be read from {path}: {why_unreadable(error)}",
            field="--master",
            hint=unreadable_hint(path, error),
        ) from None
    wrong = "is empty" if not found else "has several lines" if len(found.splitlines()) > 1 else ""
    if found.startswith("file://"):
        wrong = wrong or "names another file"
    if wrong:
        raise BadInput(
            f"{path} {wrong}, but should hold the address of the master on one line", field="--master", hint=_HINT
        )
    return found


def ascii_host(url: SplitResult) -> str:
    """The host of a URL as resolvers know it. Raises ValueError for an invalid name."""
    host = url.hostname or ""
    if host.isascii():
        return host
    import idna

    return idna.encode(host).decode()


def bracketed(host: str) -> str:
    """A host as in a URL: an IPv6 address is in brackets."""
    return f"[{host}]" if ":" in host else host


def _parse_list(text: str) -> tuple[str, ...]:
    bases: list[str] = []
    scheme = "http"
    for part in text.split(","):
        base = _parse_base(part.strip(), scheme)
        # A bare name after https:// means https too, so that nothing silently falls back to plain text.
        scheme = base.partition(":")[0]
        bases.append(base)
    return tuple(dict.fromkeys(bases))


def _parse_base(text: str, scheme: str) -> str:
    if "@" in text:
        # The text may hold a secret, so it is not repeated.
        raise UsageError(
            "an address cannot contain a user name or secret",
            field="--master",
            hint="use --principal and --secret-file",
        )
    bare = "://" not in text
    before, slash, _ = text.partition(":/")
    if bare and slash and before in (*_SCHEME_PORTS, *_ZOOKEEPER_SCHEMES, "file"):
        raise UsageError(
            f"'{text}' is not the address of a master", field="--master", hint=f"did you mean {before}://? {_HINT}"
        )
    try:
        url = urlsplit(f"{scheme}://{text}" if bare else text)
    except ValueError as error:
        raise UsageError(f"'{text}' is not an address: {error}", field="--master", hint=_HINT) from None
    try:
        port = url.port
    except ValueError:
        sentence = f"'{text}' is not an address: its port is not a number up to 65535"
        raise UsageError(sentence, field="--master", hint=_HINT) from None
    _check_parts(text, url)
    host = bracketed(url.hostname or "")
    if port is None and bare:
        port = DEFAULT_PORT
    return f"{url.scheme}://{host}" + (f":{port}" if port is not None else "") + url.path.rstrip("/")


def is_host(host: str) -> bool:
    """Whether it is a valid host name: labels of 1 to 63 characters, 253 in all."""
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
    if url.scheme not in _SCHEME_PORTS:
        from mesosctl.mesos.roles import closest

        likely = closest(url.scheme, (*_SCHEME_PORTS, *_ZOOKEEPER_SCHEMES, "file"))
        raise UsageError(
            f"'{text}': '{url.scheme}' is not a scheme of a master's address",
            field="--master",
            hint=f"did you mean {likely}://? {_HINT}" if likely else _HINT,
        )
    if not is_host(url.hostname or "") or url.query or url.fragment:
        raise UsageError(f"'{text}' is not the address of a master", field="--master", hint=_HINT)


def parse_zookeeper(text: str, *, tls: bool) -> ZooKeeper:
    """`[user:secret@]host[:port],…/path`, split as Mesos splits it: nothing is percent-decoded.

    The text may hold a secret, so no error repeats it.
    """
    before, slash, path = text.partition("/")
    digest, at, servers = before.rpartition("@")
    path = (slash + path).rstrip("/")
    if "@" in path:
        raise UsageError(
            "in a zk:// address, the secret cannot contain a slash and the path cannot contain an @",
            field="--master",
            hint=_ZOOKEEPER_HINT,
        )
    if at and not all(digest.partition(":")):
        raise UsageError("a zk:// address must have USER:SECRET before its @", field="--master", hint=_ZOOKEEPER_HINT)
    if not path or "//" in path or not path.isprintable():
        raise UsageError(
            "a zk:// address must end with the path where masters register, such as /mesos",
            field="--master",
            hint=_ZOOKEEPER_HINT,
        )
    named = tuple(_parse_server(server.strip()) for server in servers.split(","))
    return ZooKeeper(named, path, digest if at else None, tls)


def _parse_server(text: str) -> str:
    try:
        url = urlsplit(f"zk://{text}")
        port = ZOOKEEPER_PORT if url.port is None else url.port
    except ValueError:
        url, port = urlsplit(""), 0
    if url.netloc != text or not port or not is_host(url.hostname or ""):
        raise UsageError(f"'{text}' is not a ZooKeeper server", field="--master", hint=_ZOOKEEPER_HINT)
    return f"{bracketed(url.hostname or '')}:{port}"
