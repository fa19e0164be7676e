"""Lists of Resource messages, of which a large cluster has hundreds of thousands that are alike.

Equal ones become one value. A list in text is read as text where it is as a master writes it; any other spelling is
left to the JSON reader.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

from mesosctl.mesos.amounts.quantities import to_sent_milli
from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Ranges
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.decoding import STRICT, ConversionError, text_if_undecoded
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.resource_messages import labels
from mesosctl.mesos.messages.resources import RESOURCE, to_model
from mesosctl.mesos.roles import DEFAULT_ROLE

MOST_KNOWN = 4096
"""The most values that are kept: beyond this number hardly any repeat, and keeping them would cost more than it
saves.
"""

_UNREADABLE = 2**64 - 1024
"""JSON's numbers are doubles, of which this and larger ones do not fit into 64 bits."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class Known(Generic[Key, Value]):
    """A cache of the last few thousand values by key, so that equal keys share one value."""

    def __init__(self) -> None:
        self._values: dict[Key, Value] = {}

    def find(self, key: Key) -> Value | None:
        """The value of `key`, if it is in the cache."""
        return self._values.get(key)

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of `key`, created if it is not in the cache."""
        found = self._values.get(key)
        if found is None:
            found = make()
            self.add(key, found)
        return found

    def add(self, key: Key, value: Value) -> None:
        """Keep the value of `key`."""
        if len(self._values) >= MOST_KNOWN:
            self._values.clear()
        self._values[key] = value


def resource_at(message: Any, path: str) -> Resource:
    """The Resource message at `path`.  Raises ConversionError and RuleViolation."""
    entry = to_model(read(RESOURCE, message, path), path)
    if isinstance(entry.value, Ranges):
        for index, span in enumerate(message["ranges"].get("range", ())):
            for name in ("begin", "end"):
                if (
                    isinstance(span[name], int | float) and not 0 <= span[name] < _UNREADABLE
                ):  # it has become another number
                    where = f"{path}.ranges.range[{index}].{name}"
                    raise RuleViolation(
                        f"{span[name]:.0f} is not a number of 64 bits", field=where, rule="resource.ranges"
                    )
    return entry


class Entries:
    """Reads Resource messages; equal ones become one value."""

    def __init__(self) -> None:
        self._known: Known[str, Resource] = Known()

    def read(self, message: Any, path: str) -> Resource:
        """Return the Resource at `path`; see `resource_at`."""
        return self._known.get(repr(message), lambda: resource_at(message, path))


# In a list of Resource messages as json.dumps writes it: the text before the name of the first, between the last member
# of one and the name of the next, and after the last.
_BEGIN, _BETWEEN, _END = '[{"name": "', '}, {"name": "', "}]"
# The same as a master writes it.
_FIRST, _NEXT = '[{"name":"', '},{"name":"'
# How most entries begin, in either: with an amount.
_AMOUNT = re.compile(
    r'([^"\\\x00-\x1f]+)", ?"type": ?"SCALAR", ?"scalar": ?\{"value": ?((?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,3})?)\}'
)
_LABELS = re.compile(
    r'"labels": ?\{"labels": ?\[(?:\{"key": ?"[^"\\\x00-\x1f]*"(?:, ?"value": ?"[^"\\\x00-\x1f]*")?\}(?:, ?)?)+\]\}'
)
_ALLOCATION = re.compile(r'"allocation_info":\{"role":"([^"\\\x00-\x1f]+)"\}')
_TO_ANY_ROLE = '"allocation_info":{"role":""}'


def _for_any_role(text: str) -> tuple[str, str]:
    """The allocation role in a text of messages, "*" for none, and the text without it: that of 100 roles is one."""
    found = _ALLOCATION.search(text)
    return (DEFAULT_ROLE, text) if found is None else (found[1], text.replace(found[0], _TO_ANY_ROLE))


def _without_labels(text: str) -> tuple[Labels | None, str] | None:
    """The labels in a text of a message, and the text without them; None if it has none, or several.

    Raises ValueError.
    """
    found = _LABELS.search(text)
    if found is None or text.count('"labels"') != 2 * text.count(found[0]):  # in both formats of a reservation
        return None
    return labels(STRICT.decode(f"{{{found[0]}}}")), text.replace(found[0], '"labels"')


def _is_of_one_role(form: str, entries: int) -> bool:
    """Whether a text from `_for_any_role` names the role exactly once in each of its messages."""
    return form.count(_TO_ANY_ROLE) == form.count('"allocation_info"') == entries


class ResourceLists:
    """Reads lists of Resource messages, by allocation role; equal lists become one value."""

    def __init__(self) -> None:
        self._entries: Known[str, tuple[str, Resource]] = Known()
        self._by_role: Known[str, Mapping[str, Resources]] = Known()
        self._plain: Known[str, Resources] = Known()
        self._plain_entry_of_text = lru_cache(MOST_KNOWN)(self._plain_entry)
        self.plain_of_text = lru_cache(MOST_KNOWN)(self._plain_of_text)
        """Like `plain`, for a list as text from json.dumps; None for any other text, and for an invalid one.

        A list that was seen before is found without decoding.
        """
        self.by_role_of_text = lru_cache(MOST_KNOWN)(self._by_role_of_text)
        """Like `by_role`, for a list as text without blanks, as a master writes it; None if it needs a closer look."""
        self._one_role_texts: Known[str, Resources] = Known()
        self._pieces_for_any_role: Known[str, Resource] = Known()
        """By the text of a message that names the allocation role once, as `_for_any_role` returns it."""
        self._entry_texts: Known[str, Resource] = Known()
        self._amounts: Known[tuple[str, str, str], Resource] = Known()
        self._reservation_texts: Known[str, tuple[Reservation, ...]] = Known()
        self._labelled_texts: Known[str, Reservation] = Known()

    def plain(self, messages: Any, where: str) -> Resources:
        """Return a list without allocation roles.  Raises RuleViolation naming the place below `where`."""

        def together() -> Resources:
            return Resources(entry for part in self._read(messages, where).values() for entry in part)

        return self._plain.get(repr(messages), together)

    def _plain_of_text(self, text: str) -> Resources | None:
        if text == "[]":
            return Resources()
        if "\\" in text or not text.startswith(_BEGIN) or not text.endswith(_END):
            return None
        # Where each piece is an entry by itself, the whole is the list of them.
        pieces = text[len(_BEGIN) : -len(_END)].split(_BETWEEN)
        try:
            return Resources(map(self._plain_entry_of_text, pieces))
        except (ValueError, RuleViolation, RecursionError):
            return None

    def by_role_in(self, part: Any, where: str) -> Mapping[str, Resources]:
        """Like `by_role`, for a list that may be undecoded text.

        Raises ValueError if the text needs a closer look.
        """
        text = text_if_undecoded(part)
        if text is None:
            return self.by_role(part, where)
        found = self.by_role_of_text(text)
        if found is None:
            raise ValueError(text)
        return found

    def plain_in(self, part: Any, where: str) -> Resources:
        """Like `plain`, for a list that may be undecoded text from json.dumps.

        Raises ValueError if the text needs a closer look.
        """
        text = text_if_undecoded(part)
        if text is None:
            return self.plain(part, where)
        found = self.plain_of_text(text)
        if found is None:
            raise ValueError(text)
        return found

    def all_in(self, part: Any, where: str) -> Resources:
        """Like `plain`, for a list that may be undecoded text; raises as `by_role_in`."""
        if text_if_undecoded(part) is None:
            return self.plain(part, where)
        by_role = self.by_role_in(part, where)
        if len(by_role) == 1:  # allocated to none, as a master writes it
            return next(iter(by_role.values()))
        return Resources(entry for of_role in by_role.values() for entry in of_role)

    def entries_of_text(self, text: str) -> list[tuple[str | None, Resource]]:
        """The allocation role, if any, and the resource of each message in a list as text without blanks.

        Raises ValueError, RuleViolation or RecursionError for an invalid list, and for one that needs a closer look.
        """
        found = self._entries_in(text)
        allocated = text.count('"allocation_info"')
        if allocated not in (0, len(found)):  # of an entry without a role, "*" is said too
            raise ValueError(text)
        return [(role if allocated else None, entry) for role, entry in found]

    def _by_role_of_text(self, text: str) -> Mapping[str, Resources] | None:
        role, form = _for_any_role(text)
        of_one = self._one_role_texts.find(form)
        if of_one is not None:
            return {role: of_one}
        pieces = form[len(_FIRST) : -len(_END)].split(_NEXT)
        # Tasks differ in their ports, but each port is one that others have had.
        known = [entry for piece in pieces if (entry := self._pieces_for_any_role.find(piece)) is not None]
        if role != DEFAULT_ROLE and len(known) == len(pieces) and form.startswith(_FIRST) and form.endswith(_END):
            of_one = Resources(known)
            self._one_role_texts.add(form, of_one)
            return {role: of_one}
        try:
            entries = self._entries_in(text)
        except (ValueError, RuleViolation, RecursionError):
            return None
        found = _together(entries)
        if found.keys() == {role} and _is_of_one_role(form, len(entries)):
            self._one_role_texts.add(form, found[role])
            if role != DEFAULT_ROLE:  # so that each piece names the role
                for piece, (_, entry) in zip(pieces, entries, strict=True):
                    self._pieces_for_any_role.add(piece, entry)
        return found

    def _entries_in(self, text: str) -> list[tuple[str, Resource]]:
        """The allocation role and the resource of each message in a list as text without blanks.

        Raises as `_entry_of_text`.
        """
        if text == "[]":
            return []
        if "\\" in text or not text.startswith(_FIRST) or not text.endswith(_END):
            raise ValueError(text)
        return list(map(self._entry_of_text, text[len(_FIRST) : -len(_END)].split(_NEXT)))

    def _plain_entry(self, piece: str) -> Resource:
        """As `_entry_of_text`, without an allocation role.  Raises ValueError if it has one, too."""
        role, entry = self._entry_of_text(piece)
        if role != DEFAULT_ROLE:
            raise ValueError(piece)
        return entry

    def _entry_of_text(self, piece: str) -> tuple[str, Resource]:
        """Return the allocation role and the resource in the text of a message, without its beginning and end.

        Raises ValueError if it is not one message, and RuleViolation.
        """
        amount = _AMOUNT.match(piece)
        role, form = _for_any_role(piece if amount is None else piece[amount.end() :])
        entry = self._entry_texts.find(form) if amount is None else self._amount(amount[1], amount[2], form)
        if entry is not None:
            return role, entry
        found, entry = _by_role(STRICT.decode(f'{{"name": "{piece}}}'), "")
        if found == role and _is_of_one_role(form, int(role != DEFAULT_ROLE)):
            if amount is None:
                self._entry_texts.add(form, entry)
            elif entry == Resource(entry.name, entry.value, entry.reservations):
                self._add_reservations(form, entry.reservations)
        return found, entry

    def _amount(self, name: str, value: str, form: str) -> Resource | None:
        """An amount of which the rest of the message is known: it has the same reservations, and nothing else."""
        key = name, value, form
        found = self._amounts.find(key)
        if found is None and (reservations := self._reservations(form)) is not None:
            found = Resource(name, to_sent_milli(float(value)), reservations)
            self._amounts.add(key, found)
        return found

    def _reservations(self, form: str) -> tuple[Reservation, ...] | None:
        """The reservations in the rest of a message that is known, or differs from a known one only in its labels."""
        found = self._reservation_texts.find(form)
        if found is None and (parts := _without_labels(form)) is not None:
            given, rest = parts
            reservation = self._labelled_texts.find(rest)
            if reservation is not None:
                found = (reservation._replace(labels=given),)
                self._reservation_texts.add(form, found)
        return found

    def _add_reservations(self, form: str, reservations: tuple[Reservation, ...]) -> None:
        self._reservation_texts.add(form, reservations)
        parts = _without_labels(form)
        if parts is not None and len(reservations) == 1 and reservations[0].labels == parts[0]:
            self._labelled_texts.add(parts[1], reservations[0])

    def by_role(self, messages: Any, where: str) -> Mapping[str, Resources]:
        """Return a list by allocation role, without the allocation roles; "*" for none.

        Raises RuleViolation as `plain` does.
        """
        return self._by_role.get(repr(messages), lambda: self._read(messages, where))

    def _read(self, messages: Any, where: str) -> Mapping[str, Resources]:
        if not isinstance(messages, list | tuple):
            raise RuleViolation("a list of resources belongs here", field=where, rule="resource.valid")
        return _together(self._entry(message, f"{where}[{index}]") for index, message in enumerate(messages))

    def _entry(self, message: Any, path: str) -> tuple[str, Resource]:
        try:
            return self._entries.get(repr(message), lambda: _by_role(message, path))
        except ConversionError as error:
            raise RuleViolation(str(error), field=error.path or path, rule="resource.valid") from None


def _together(entries: Iterable[tuple[str, Resource]]) -> Mapping[str, Resources]:
    """The resources by their allocation role."""
    found: dict[str, list[Resource]] = {}
    for role, entry in entries:
        found.setdefault(role, []).append(entry)
    return {role: Resources(of_role) for role, of_role in found.items()}


def _by_role(message: Any, path: str) -> tuple[str, Resource]:
    """The allocation role of a resource, "*" for none, and the resource without it."""
    entry = resource_at(message, path)
    role = entry.allocation_role
    return (DEFAULT_ROLE, entry) if role is None else (role, replace(entry, allocation_role=None))
