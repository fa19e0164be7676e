"""GET_FRAMEWORKS, read into the outstanding offers (Mesos documentation, "HTTP Endpoints")."""

from collections.abc import Iterable, Mapping
from typing import Any

from mesosctl.api.elements.frameworks import FrameworkReader
from mesosctl.api.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.api.protobuf_json.json_parts import Part, parts
from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.responses import NATURAL, undocumented, wrong
from mesosctl.api.snapshots.framework_offers import FrameworkOffers
from mesosctl.model.offers.offers import Offer

_ANSWER, _FRAMEWORKS = ("get_frameworks",), ("get_frameworks", "frameworks")


def outstanding(chunks: Iterable[bytes]) -> list[Offer]:
    """Every outstanding offer, in the master's order, read from an answer while its chunks arrive.

    The format in which their resources were sent is not read.
    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    reader = _Reader()
    for part in parts(chunks, depth=2, shortcuts=reader.shortcuts, opened={"frameworks": "offers"}):
        reader.take(part)
    if reader.type != "GET_FRAMEWORKS" and (reader.type is not None or not reader.has_answer):
        raise wrong(None, "an object", "get_frameworks")
    return reader.offers


class _Reader:
    """Reads one answer."""

    def __init__(self) -> None:
        self.offers: list[Offer] = []
        self.type: Any = None
        """The call that was answered; None if the answer does not say."""
        self.has_answer = False
        self._of_next = FrameworkOffers(ResourceLists())
        self._frameworks = FrameworkReader()

    def shortcuts(self) -> Mapping[str, Shortcut]:
        """The readers of elements that stay text, by the name of their list."""
        return {"offers": self._of_next.shortcut()}

    def take(self, part: Part) -> None:
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

    def _check(self, part: Part) -> None:
        self._of_next.drop()
        if part.path == ("type",):
            self.type = part.value
        self.has_answer = self.has_answer or part.path == _ANSWER
        expected: Any = {(): {}, _ANSWER: {}, _FRAMEWORKS: []}.get(part.path, part.value)
        if part.value != expected:
            raise wrong(part.value, "a list" if part.path == _FRAMEWORKS else "an object", part.where)

    def _framework(self, entry: Mapping[str, Any]) -> None:
        self.offers += self._of_next.of(entry, self._frameworks.of_message(entry).framework.name)
