"""Members of elements that repeat in thousands of them, read once, and in one form whatever the source."""

from collections.abc import Callable, Iterable, Mapping
from sys import intern
from typing import Any, TypeVar

from mesosctl.mesos.messages.protobuf_json.decoding import DECODER, text_if_undecoded
from mesosctl.mesos.messages.protobuf_json.resource_lists import Known
from mesosctl.mesos.messages.responses import text

Value = TypeVar("Value")


class Members:
    """Reads members, which may be undecoded text; one that was read once is found again by its text."""

    def __init__(self, decode: Callable[[str], Any] = DECODER.decode) -> None:
        self._decode = decode
        self._of_texts: Known[tuple[Callable[[Any], Any], str], Any] = Known()
        self._names: Known[frozenset[str], frozenset[str]] = Known()

    def read(self, make: Callable[[Any], Value], member: Any) -> Value:
        """Return what `make` makes of the decoded member; raises as it does."""
        undecoded = text_if_undecoded(member)
        if undecoded is None:
            return make(member)
        found: Value = self._of_texts.get((make, undecoded), lambda: make(self._decode(undecoded)))
        return found

    def names(self, make: Callable[[Any], frozenset[str]], member: Any) -> frozenset[str]:
        """The same for a set of names; equal ones become one object."""
        found = self.read(make, member)
        return self._names.get(found, lambda: found)


def capabilities_of_messages(messages: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The names in Capability messages; one that this Mesos does not know has none."""
    return frozenset(text(message["type"]) for message in messages if "type" in message)


def attributes_of_messages(messages: Iterable[Mapping[str, Any]]) -> Mapping[str, str | float]:
    """Attribute messages by name; ranges and sets as Mesos writes them in text."""
    return dict(map(_attribute, messages))


def _attribute(message: Mapping[str, Any]) -> tuple[str, str | float]:
    name = text(message["name"])
    if "text" in message:
        return name, text(message["text"]["value"])
    if "scalar" in message:
        return name, float(message["scalar"]["value"])
    if "ranges" in message:
        spans = ", ".join(f"{span['begin']}-{span['end']}" for span in message["ranges"].get("range", ()))
        return name, f"[{spans}]"
    return name, "{" + ", ".join(message.get("set", {}).get("item", ())) + "}"


def attributes_of_object(member: Any) -> Mapping[str, str | float]:
    """Attributes by name, from an object that has them so already."""
    return {intern(name): intern(value) if isinstance(value, str) else value for name, value in member.items()}


def region_and_zone(domain: Any) -> tuple[str | None, str | None]:
    """The names in a DomainInfo message; None for what it does not have."""
    fault = domain.get("fault_domain", {})
    region, zone = (fault[key]["name"] if key in fault else None for key in ("region", "zone"))
    return region, zone


_NANOSECONDS = 1_000_000_000


def seconds_since_1970(time: Any) -> float | None:
    """A TimeInfo message in seconds; None if it is absent or 0."""
    nanoseconds = time.get("nanoseconds")
    return None if not nanoseconds else float(nanoseconds) / _NANOSECONDS
