"""Proxies between this client and a master: the one that is set, or those of the environment.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY mean what they mean for httpx (its documentation, "Environment
Variables"), also in small letters.  A master on the loopback interface is reached without a proxy, whatever is set.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from mesosctl.client.address import is_host
from mesosctl.mesos.errors import UsageError

if TYPE_CHECKING:
    import ipaddress

_SCHEMES = ("http", "https", "socks5", "socks5h")
_HINT = "write http://host:3128, https://host:3129 or socks5://host:1080"
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Proxy(NamedTuple):
    """The URL of a proxy, and the name of the option, variable or context that has it; the repr hides a password."""

    url: str
    place: str = "--proxy"

    def __repr__(self) -> str:
        """Without a user and password."""
        return f"Proxy({self})"

    def __str__(self) -> str:
        """The URL without a user and password."""
        before, _, host = self.url.rpartition("@")
        return self.url if not before else f"{before.partition('://')[0]}://{host}"


Proxies = Mapping[str, Proxy | None]
"""By patterns of URLs, as `mounts` of httpx has them; None for no proxy."""
NO_PROXIES: Proxies = {}


def proxies(setting: Proxy | None, variables: Mapping[str, str]) -> Proxies:
    """The proxy that is set, for every master, or else those of the environment.  Raises UsageError."""
    if setting is not None:
        return {"all://": _checked(setting, "--proxy")}
    found: dict[str, Proxy | None] = {}
    for name in PROXY_VARIABLES:
        variable, text = _variable(name, variables)
        if text:
            scheme = name.removesuffix("_PROXY").lower()
            found[f"{scheme}://"] = _checked(Proxy(text, variable), variable)
    if not found:
        return {}
    excepted = [host.strip() for host in _variable("NO_PROXY", variables)[1].split(",")]
    return {} if "*" in excepted else {**found, **{_pattern(host): None for host in excepted if host}}


def _variable(name: str, variables: Mapping[str, str]) -> tuple[str, str]:
    """The name and the text of a variable; small letters come first, as for other programs."""
    for spelled in (name.lower(), name):
        text = variables.get(spelled, "").strip()
        if text:
            return spelled, text
    return name, ""


def _pattern(host: str) -> str:
    """The pattern for an entry of NO_PROXY: a name means the hosts below it too."""
    if "://" in host:
        return host
    if _address(host) is not None:
        return f"all://[{host}]" if ":" in host else f"all://{host}"
    return f"all://{host}" if host.lower() == "localhost" else f"all://*{host}"


def _checked(proxy: Proxy, field: str) -> Proxy:
    """Raises UsageError, which does not repeat the URL: it may have a password."""
    try:
        proxy = proxy if "://" in proxy.url else proxy._replace(url=f"http://{proxy.url}")
        url = urlsplit(proxy.url)
        is_proxy = url.scheme in _SCHEMES and is_host(url.hostname or "") and url.port != 0
    except ValueError:
        is_proxy = False
    if not is_proxy:
        raise UsageError(f"{proxy.place} is not the URL of a proxy", field=field, hint=_HINT)
    return proxy


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or address."""
    address = _address(host.strip("[]"))
    name = host.lower().removesuffix(".")
    return address.is_loopback if address is not None else name == "localhost" or name.endswith(".localhost")


def _address(text: str) -> "ipaddress.IPv4Address | ipaddress.IPv6Address | None":
    import ipaddress

    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
