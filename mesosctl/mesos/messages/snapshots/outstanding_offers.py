"""GET_FRAMEWORKS, read into the outstanding offers (Mesos documentation, "HTTP Endpoints")."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mesosctl.mesos.messages.elements.frameworks import FrameworkReader
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.mesos.messages.protobuf_json.json_parts import JsonPart, parts
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.responses import NATURAL, undocumented, wrong
from mesosctl.mesos.messages.snapshots.framework_offers import FrameworkOffers
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

_ANSWER, _FRAMEWORKS = ("get_frameworks",), ("get_frameworks", "frameworks")


class Outstanding(NamedTuple):
    """The offers that are not answered, and the frameworks."""

    offers: list[OutstandingOffer]
    frameworks: dict[str, str]
    """The names of all frameworks by id, also of those without offers."""


def outstanding(chunks: Iterable[bytes]) -> Outstanding:
    """Every outstanding offer, in the master's order, read from an answer while its chunks arrive.

    The format in which their resources were sent is not read.
    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    reader = _Reader()
    for part in parts(chunks, depth=2, shortcuts=reader.shortcuts, opened={"frameworks": "offers"}):
        reader.take(part)
    if reader.type != "GET_FRAMEWORKS" and (reader.type is not None or not reader.has_answer):
        raise wrong(None, "an object", "get_frameworks")
    return Outstanding(reader.offers, reader.names)


class _Reader:
    """Reads one answer."""

    def __init__(self) -> None:
        self.offers: list[OutstandingOffer] = []
        self.names: dict[str, str] = {}
        self.type: Any = None
        """The call that was answered; None if the answer does not say."""
        self.has_answer = False
        self._of_next = FrameworkOffers(ResourceLists())
        self._frameworks = FrameworkReader()

    def shortcuts(self) -> Mapping[str, Shortcut]:
        """The readers of elements that stay text, by the name of their list."""
        return {"offers": self._of_next.shortcut()}

    def take(self, part: JsonPart) -> None:
        """One part of the answer."""
        if part.place is None:
            self._check(part)
        elif part.path == (*_FRAMEWORKS, "offers"):
            self._of_next.add(part.value.values if isinstance(part.value, Run) else [part.value])
        elif part.path == _FRAMEWORKS:
            try:
                self._framework(part.value)
            except NATURAL as error:
                raise undocumented(error, part.where) from None

    def _check(self, part: JsonPart) -> None:
        self._of_next.drop()
        if part.path == ("type",):
            self.type = part.value
        self.has_answer = self.has_answer or part.path == _ANSWER
        expected: Any = {(): {}, _ANSWER: {}, _FRAMEWORKS: []}.get(part.path, part.value)
        if part.value != expected:
            raise wrong(part.value, "a list" if part.path == _FRAMEWORKS else "an object", part.where)

    def _framework(self, entry: Mapping[str, Any]) -> None:
        framework = self._frameworks.of_message(entry).framework
        self.names[framework.id] = framework.name
        self.offers += self._of_next.of(entry, framework.name)
