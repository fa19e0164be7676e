"""A cache of JSON text, which stays valid as long as the text is made of the same objects.

Of thousands of agents few change between two requests, and a dashboard sends one every few seconds. So each agent and
each framework is written once, and again when one of its parts is replaced. This is correct because parts are replaced,
never changed in place.  A view that shows an object which can change in place names its contents as parts instead.
Equality is not enough: resources are equal in any order, but their JSON differs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import is_
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from fake_master.http.json_text import CompressedText, JsonPieces, Piece, dumps
from fake_master.state.master_state import MasterState

Parts = tuple[Any, ...]
"""The objects that a text depends on."""


class Named(Protocol):
    """A thing with an id that no other of its kind has."""

    id: str


_BYTES_KEPT_PLAIN = 16 * 2**20
"""Bytes of one kind of texts that are kept as they are, enough for 10,000 agents; long ones beyond are compressed."""
_BYTES_WORTH_COMPRESSING = 64 * 2**10
"""Bytes of such a long text, of a framework with hundreds of tasks.  To compress a short one takes as long as to write
it."""

Of = TypeVar("Of", bound=Named)
Made = TypeVar("Made")


class ResponseCache:
    """The texts of one kind of things, such as the agents of `/slaves`."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Parts, Piece]] = {}
        self._everything: list[Any] = []
        self._whole: Any = None

    def whole(self, everything: Callable[[], Iterable[Any]], make: Callable[[], Made]) -> Made:
        """Return what `make` returns; it depends on the parts that `everything` returns and on no others."""
        if self._whole is None or not _same(self._everything, everything()):
            self._everything = list(everything())
            self._whole = make()
        whole: Made = self._whole
        return whole

    def array(
        self, of: Iterable[Of], parts: Callable[[Of], Parts], view: Callable[[Of], Mapping[str, Any]]
    ) -> JsonPieces:
        """A JSON array of the `view` of each; the texts of others are dropped."""
        return self.array_of_texts(of, parts, lambda value: dumps(view(value)))

    def concatenated(
        self, of: Iterable[Of], parts: Callable[[Of], Parts], view: Callable[[Of], Iterable[Mapping[str, Any]]]
    ) -> JsonPieces:
        """A JSON array of everything that `view` lists of each, in one."""
        return self.array_of_texts(of, parts, lambda value: b",".join(map(dumps, view(value))))

    def array_of_texts(
        self, of: Iterable[Of], parts: Callable[[Of], Parts], write: Callable[[Of], bytes]
    ) -> JsonPieces:
        """A JSON array of the text of each; the texts of others are dropped."""
        before, self._kept = self._kept, {}
        size = 0
        for value in of:
            made_of = parts(value)
            known = before.get(value.id)
            if known is None or not _same(known[0], made_of):
                text = write(value)
                is_kept_plain = size < _BYTES_KEPT_PLAIN or len(text) < _BYTES_WORTH_COMPRESSING
                known = (made_of, text if is_kept_plain else CompressedText(text))
            self._kept[value.id] = known
            size += len(known[1])
        pieces = [piece for _, text in self._kept.values() if text for piece in (b",", text)]
        return JsonPieces((b"[", *pieces[1:], b"]"))


_END = (object(),)


def _same(known: Iterable[Any], now: Iterable[Any]) -> bool:
    """Return whether both are the same objects, one by one."""
    return all(map(is_, chain(known, _END), chain(now, _END)))


_KEPT: WeakKeyDictionary[MasterState, defaultdict[str, ResponseCache]] = WeakKeyDictionary()


def texts(state: MasterState, kind: str) -> ResponseCache:
    """Return the texts of a kind that are kept for a master, as long as its state lives."""
    return _KEPT.setdefault(state, defaultdict(ResponseCache))[kind]


def texts_seen(state: MasterState, kind: str, principal: str | None, *actions: str) -> ResponseCache:
    """Return the texts that a principal may see: the same for all principals, unless an ACL restricts an action."""
    is_same_for_all = all(map(state.flags.authorizer.allows_all, actions))
    return texts(state, kind if is_same_for_all else f"{kind} that {principal!r} sees")
