"""The meaning of a word where it may be an id, a host name, a name or a short form, and the spelling of each.

A framework chooses its name and an agent its host name, so one may be spelled like the id of another, and ids can be
guessed.  A word that fits more than one thing is refused.  A kind in front decides: `id:4f51-S0`, `host:S0`,
`name:kafka`.  So a name that itself begins with a kind is written with its own in front: `name:id:kafka`.
"""

import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import takewhile
from typing import Generic, Literal, NamedTuple, TypeVar

from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.errors import NotFound, UsageError
from mesosctl.mesos.roles import did_you_mean, shared_hostnames, short_ids

Kind = Literal["id", "host", "name", "role", "address"]
_IN_WORDS: Mapping[Kind, str] = {
    "id": "id",
    "host": "host name",
    "name": "name",
    "role": "role",
    "address": "address",
}
KINDS = tuple(_IN_WORDS)
"""The words that may be in front of a name, before a colon."""
_REPLACED = frozenset({"%self"})
"""Names that fish replaces, by the number of its process, and does not quote when it completes them."""
_MOST = 100
"""The most things that an error names."""
_FEW = 4
"""The first characters by which names that begin no id are sorted out."""
_WHOLE_ID = re.compile(r"(?:^|-)S[0-9]+$")
"""How the id of an agent ends: such a word is not the beginning of another id, although S1 begins S10."""

Thing = TypeVar("Thing")
Spell = Callable[[Kind, str], str]
"""Writes a name of a kind as it has to be typed: with the kind in front only if it could mean something else."""


def kind_of(word: str) -> tuple[Kind | None, str]:
    """The kind in front of a word, None if there is none, and the rest."""
    before, colon, rest = word.partition(":")
    kind = next((known for known in KINDS if known == before), None) if colon else None
    return (None, word) if kind is None else (kind, rest)


def with_kind(kind: Kind, text: str) -> str:
    """`host:S0`."""
    return f"{kind}:{text}"


class _Reading(NamedTuple):
    """The things that a word means, if it is of one kind."""

    kind: Kind
    is_short: bool
    """Whether it is the beginning or the end of their ids."""
    places: frozenset[int]


class Noun(NamedTuple):
    """A kind of things, and their names."""

    name: str
    kinds: Sequence[Kind]
    """The kinds of its names, the one that people use first."""
    short_ids: bool = False
    """Whether the beginning of an id counts as one, and the end after a hyphen."""
    any_case: bool = False
    """Whether host names are compared without case."""
    more: str = ""
    """The plural, if it needs more than an s."""

    @property
    def plural(self) -> str:
        """`agents`."""
        return self.more or f"{self.name}s"

    def without(self, kind: Kind) -> str:
        """`no framework has a host name`."""
        return f"no {self.name} has {'an' if kind[0] in 'ai' else 'a'} {_IN_WORDS[kind]}"


AGENT = Noun("agent", ("host", "id"), short_ids=True)
FRAMEWORK = Noun("framework", ("name", "id"))
TASK = Noun("task", ("id", "name"))
VOLUME = Noun("volume", ("id",))
MACHINE = Noun("machine", ("host", "address", "id"), short_ids=True, any_case=True)
ROLE_OR_FRAMEWORK = Noun("role or framework", ("role", "name", "id"), more="roles or frameworks")


class Names(Generic[Thing]):
    """Everything that a word could mean in one place, with all of its names.

    `names` are those of one thing, with their kinds.  `word` is the word that means one thing alone, if it is known.
    """

    def __init__(
        self,
        things: Iterable[Thing],
        names: Callable[[Thing], Iterable[tuple[Kind, str]]],
        noun: Noun,
        word: Callable[[Thing], str] | None = None,
    ) -> None:
        self._things = list(things)
        self._names = names
        self._noun = noun
        self._word = word

    # --- What a word means ------------------------------------------------------------------------------------

    def one(self, word: str, field: str | None = None) -> Thing | None:
        """The only thing that a word means; None if it means nothing.  Raises UsageError for several."""
        readings = self._readings(word, field)
        found = frozenset[int]().union(*(reading.places for reading in readings))
        if len(found) > 1:
            raise self._ambiguous(word, field, readings, single=True)
        return next((self._things[place] for place in found), None)

    def every(self, word: str, field: str | None = None) -> list[Thing]:
        """Every thing that a word means, in their order; none if it means nothing.

        Several things may have one name, but a short form of an id means one.  Raises UsageError for a short form of
        several, and for a word that is the name of some and the id of another.
        """
        return [self._things[place] for place in sorted(self._places(word, field))]

    def chosen(self, words: Sequence[str], field: str | None = None, otherwise: str = "") -> list[Thing]:
        """Every thing that one of these words means, in their order.

        Raises UsageError as `every` does, and NotFound for a word that means nothing.
        """
        found: set[int] = set()
        for word in dict.fromkeys(words):
            places = self._places(word, field)
            if not places:
                raise self.absent(word, field, otherwise)
            found |= places
        return [self._things[place] for place in sorted(found)]

    def absent(
        self,
        word: str,
        field: str | None,
        otherwise: str,
        known: Iterable[str] | None = None,
        is_named: str = "is named",
    ) -> NotFound:
        """The error for a word that means nothing; its hint has the name that is most like it, and `otherwise`.

        `known` are the names that may be meant; by default all of them.
        """
        kind, text = kind_of(word)
        said = f"no {self._noun.name} {is_named} '{word}'"
        if kind is not None:
            said = f"no {self._noun.name} has the {_IN_WORDS[kind]} '{text}'"
            known = self._index.get(kind, ())
        elif known is None:
            known = [name for thing in self._things for _, name in self._names(thing) if name]
        hint = did_you_mean(text, known, otherwise)
        return NotFound(said, field=field, rule=f"{self._noun.name}.exists", hint=hint)

    def _places(self, word: str, field: str | None) -> frozenset[int]:
        readings = self._readings(word, field)
        if len({reading.places for reading in readings}) > 1:
            raise self._ambiguous(word, field, readings, single=False)
        if any(reading.is_short and len(reading.places) > 1 for reading in readings):
            raise self._ambiguous(word, field, readings, single=True)
        return readings[0].places if readings else frozenset()

    def _readings(self, word: str, field: str | None) -> list[_Reading]:
        """The meanings of a word, one for each kind that it fits.  Raises UsageError for one that cannot be a name."""
        kind, text = kind_of(word)
        if not text:
            article = "an" if self._noun.name[0] in "aeiou" else "a"
            known = listed(list(dict.fromkeys(map(self.word, self._things))))
            are = f"the {self._noun.plural} are {known}" if known else f"there are no {self._noun.plural}"
            raise UsageError(f"the name of {article} {self._noun.name} is empty", field=field, hint=are)
        if kind is None:
            return self._fitting(text)
        if kind not in self._noun.kinds:
            first = self._noun.kinds[0]
            raise UsageError(
                f"'{word}': {self._noun.without(kind)}",
                field=field,
                hint=f"write {with_kind(first, word)} if all of it is the {_IN_WORDS[first]}",
            )
        # What is spelled out is not shortened: S1 is not S10, and no end of another id.
        return [reading for reading in self._fitting(text) if reading.kind == kind][:1]

    def _fitting(self, text: str) -> list[_Reading]:
        found = []
        for kind in self._noun.kinds:
            if exact := self._index.get(kind, {}).get(self._folded(kind, text)):
                found.append(_Reading(kind, is_short=False, places=frozenset(exact)))
            if kind == "id" and self._noun.short_ids and (short := self._shortened(text)):
                found.append(_Reading(kind, is_short=True, places=short))
        return found

    def _folded(self, kind: Kind, text: str) -> str:
        return text.lower() if self._noun.any_case and kind == "host" else text

    @cached_property
    def _index(self) -> dict[Kind, dict[str, list[int]]]:
        """The places of the things that have a name, by kind and name."""
        found: dict[Kind, dict[str, list[int]]] = {kind: {} for kind in self._noun.kinds}
        for place, thing in enumerate(self._things):
            for kind, text in self._names(thing):
                if text:
                    found[kind].setdefault(self._folded(kind, text), []).append(place)
        return found

    @cached_property
    def _ordered_ids(self) -> list[str]:
        return sorted(self._index["id"])

    @cached_property
    def _ids_by_end(self) -> dict[str, list[str]]:
        """The ids by what follows their last hyphen."""
        found: dict[str, list[str]] = {}
        for known in self._index["id"]:
            found.setdefault(known.rpartition("-")[2], []).append(known)
        return found

    def _shortened(self, text: str) -> frozenset[int]:
        """The things of whose ids this is the beginning, or the end after a hyphen, and not all."""
        ids = [known for known in self._ids_by_end.get(text.rpartition("-")[2], ()) if known.endswith(f"-{text}")]
        if _WHOLE_ID.search(text) is None:
            start = bisect_left(self._ordered_ids, text)
            begun = takewhile(lambda at: self._begins(at, text), range(start, len(self._ordered_ids)))
            ids += [self._ordered_ids[at] for at in begun if self._ordered_ids[at] != text]
        return frozenset(place for known_id in ids for place in self._index["id"][known_id])

    def _begins(self, at: int, text: str) -> bool:
        return self._ordered_ids[at].startswith(text)

    # --- How a thing is written -------------------------------------------------------------------------------

    def spell(self, kind: Kind, text: str) -> str:
        """A name of a thing as it has to be typed: with its kind if it could mean something else without."""
        means_more = text and len({reading.places for reading in self._fitting(text)}) > 1
        return with_kind(kind, text) if means_more else spelled(kind, text)

    def speller(self) -> Spell:
        """`spell` for many names of these things."""
        if self._noun.any_case:
            return cache(self.spell)
        unclear = {kind: self.unclear(kind) for kind in self._noun.kinds}

        def spell(kind: Kind, text: str) -> str:
            return with_kind(kind, text) if text in unclear[kind] else spelled(kind, text)

        return spell

    def unclear(self, kind: Kind) -> frozenset[str]:
        """The names of this kind that are spelled with it; the same as asking `spell` for each, but faster."""
        texts = self._index[kind]
        likely = {text for text in texts if ":" in text or text in _REPLACED}
        for other in self._noun.kinds:
            if other != kind:
                likely |= texts.keys() & self._index[other].keys()
        if self._noun.short_ids:
            # Few names end or begin as an id does.
            ends, starts = self._ids_by_end, {known[:_FEW] for known in self._index["id"]}
            alone = 1 if kind == "id" else 0
            likely |= {text for text in texts if len(ends.get(text.rpartition("-")[2], ())) > alone}
            if kind == "id":
                likely |= {text for text in texts if _WHOLE_ID.search(text) is None}
            else:
                likely |= {text for text in texts if text[:_FEW] in starts or len(text) < _FEW}
        return frozenset(text for text in likely if self.spell(kind, text) != text)

    def word(self, thing: Thing) -> str:
        """The word that means a thing alone; its first name if there is none."""
        if self._word is not None:
            return self._word(thing)
        spelled = [self.spell(kind, text) for kind, text in self._names(thing) if text]
        return next((word for word in spelled if len(self._places(word, None)) == 1), next(iter(spelled), ""))

    def _ambiguous(self, word: str, field: str | None, readings: Sequence[_Reading], *, single: bool) -> UsageError:
        """The error for a word that means several things, which it names; `single` if only one may be meant."""
        _, text = kind_of(word)
        told: dict[str, str] = {}
        for reading in readings:
            things = [self._things[place] for place in sorted(reading.places)]
            if len(readings) > 1 and (len(things) == 1 or not single):
                told[self._decisive(reading, text, things)] = self._besides(text, things)
            else:
                told |= {self.word(thing): "" for thing in things}
        names = [name + (f" ({besides})" if besides else "") for name, besides in told.items()]
        decisive = " or ".join(map(shlex.quote, list(told)[:_MOST]))
        hint = f"write {decisive}" if any(told.values()) else "write one of these names"
        return UsageError(
            f"'{word}' matches several {self._noun.plural}: {listed(names, _MOST)}", field=field, hint=hint
        )

    def _decisive(self, reading: _Reading, text: str, things: Sequence[Thing]) -> str:
        """The word that means what one reading does; a short form that is an id too cannot."""
        is_id = reading.is_short and text in self._index["id"]
        return self.word(things[0]) if is_id else with_kind(reading.kind, text)

    def _besides(self, text: str, things: Sequence[Thing]) -> str:
        """Other names of things, by which somebody recognises them."""
        others = (next((name for _, name in self._names(thing) if name and name != text), "") for thing in things)
        return listed([other for other in dict.fromkeys(others) if other])


def agent_names(hostnames: Mapping[str, str]) -> Names[str]:
    """The names of agents, which are given by host name, by id."""

    @cache
    def sharing() -> Mapping[str, str]:
        shared = shared_hostnames(hostnames.values())
        return (
            {agent_id: short for agent_id, short in short_ids(hostnames).items() if hostnames[agent_id] in shared}
            if shared
            else {}
        )

    def word(agent_id: str) -> str:
        short = sharing().get(agent_id) or (None if hostnames[agent_id] else agent_id)
        return names.spell("host", hostnames[agent_id]) if short is None else names.spell("id", short)

    names = Names(
        hostnames,
        lambda agent_id: (("host", hostnames[agent_id]), ("id", agent_id)),
        AGENT,
        word,
    )
    return names


def framework_names(names: Mapping[str, str]) -> Names[str]:
    """The names of frameworks, which are given by id."""
    found = Names(
        names,
        lambda framework_id: (("name", names[framework_id]), ("id", framework_id)),
        FRAMEWORK,
        lambda framework_id: found.spell("id", framework_id),
    )
    return found


def task_names(tasks: Iterable[tuple[str, str]]) -> Names[int]:
    """The names of tasks, which are given by id and name; they mean the places of the tasks."""
    given = list(tasks)
    return Names(
        range(len(given)),
        lambda place: (("name", given[place][1]), ("id", given[place][0])),
        TASK,
    )


def spelled(kind: Kind, text: str) -> str:
    """A name as it has to be typed, of a thing that has names of this kind alone."""
    return with_kind(kind, text) if kind_of(text)[0] is not None or text in _REPLACED else text


class Spelling(NamedTuple):
    """How the names in a list are typed, whatever else has such a name."""

    agent: Spell = spelled
    framework: Spell = spelled
    task: Spell = spelled
    machine: Spell = spelled


PLAIN = Spelling()
"""If there is nothing else."""


def new_name(word: str, kind: Kind, field: str | None = None) -> str:
    """The name that is to be given to something, without its kind in front.  Raises UsageError for another kind.

    So a command that names the thing afterwards means the same by the same word.
    """
    said, text = kind_of(word)
    if said not in (None, kind):
        raise UsageError(
            f"'{word}' begins like a name of another kind",
            field=field,
            hint=f"write {with_kind(kind, word)} if all of it is the {_IN_WORDS[kind]}",
        )
    return text
