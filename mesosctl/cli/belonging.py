"""What a context says that counts only together with something else it says.

Credentials are made for one master.  A context that names its master keeps them for that one, and a
context that names none says of whatever master is named how to prove who asks there.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mesosctl.client.address import parse_address
from mesosctl.core.errors import MesosctlError

OF_A_MASTER = frozenset(
    {
        "principal",
        "secret",
        "secret_file",
        "secret_from",
        "token",
        "token_file",
        "token_scheme",
        "cacert",
        "cert",
        "key",
    }
)
"""Who asks, how it is proved, and whom to trust: shown to the context's own master, and to no other."""

_BELONGS_TO = {"key": "cert", "secret": "principal", "secret_file": "principal", "secret_from": "principal"}
"""What a context says of the left belongs to what it says of the right, and to nobody else's."""


class Overruled(NamedTuple):
    """The master of a context, where a flag or a variable names another one."""

    master: str
    left_out: tuple[str, ...]
    """The keys that the context keeps for that master, and that count for nothing here."""


def overruled(kept: Mapping[str, Any], stronger: Mapping[str, Any]) -> Overruled | None:
    """Whether `stronger`, by the names of settings, names another master than the context that says `kept`, by keys."""
    own, named = kept.get("master"), stronger.get("master")
    if own is None or named is None or _is_its_own(str(named), str(own)):
        return None
    left_out = (key for key in kept if key.replace("-", "_") in OF_A_MASTER - set(stronger))
    return Overruled(str(own), tuple(left_out))


def is_of_another(name: str, kept: Mapping[str, Any], stronger: Mapping[str, Any]) -> bool:
    """Whether something stronger replaces what this belongs to, or says in another way how to prove who asks."""
    owner = _BELONGS_TO.get(name)
    if owner is not None and owner in stronger and stronger[owner] != kept.get(owner):
        return True
    return proves(name) and any(proves(other) for other in stronger)


def proves(name: str) -> bool:
    """Whether a setting is a way to prove who asks: a secret, a token, or the file or place that has it."""
    stem, _, rest = name.partition("_")
    return stem in ("secret", "token") and rest in ("", "file", "from")


def _is_its_own(named: str, own: str) -> bool:
    """Whether an address leads only to masters that another one names, however both are written."""
    if named.strip() == own.strip():
        return True
    try:
        one, other = parse_address(named), parse_address(own)
    except MesosctlError:  # whoever is to be spoken to by it will say what is wrong
        return False
    return (one.fake, one.zookeeper) == (other.fake, other.zookeeper) and all(map(other.names, one.bases))
