"""The documented JSON of rate limits (Mesos documentation, "Framework Rate Limiting"), as a file that people write.

`api.rate_limits` reads what masters take and show, without pydantic.
"""

import json
import re
from typing import Any, Self

from mesosctl.api.base_model import DoubleOrInfinity, MesosModel, Uint64
from mesosctl.api.files import json_faults
from mesosctl.api.files.line_numbers import places_in_json
from mesosctl.api.files.reading import Fault, faults, load, place, refused_for_all
from mesosctl.api.files.text_file import TextFile
from mesosctl.model import rate_limits as core
from mesosctl.model.errors import BadInput


class RateLimit(MesosModel):
    """The limit of a principal: messages a second, and how many may wait."""

    principal: str
    qps: DoubleOrInfinity | None = None
    capacity: Uint64 | None = None


class RateLimits(MesosModel):
    """The value of the master's --rate_limits."""

    limits: list[RateLimit] | None = None
    aggregate_default_qps: DoubleOrInfinity | None = None
    aggregate_default_capacity: Uint64 | None = None

    @classmethod
    def of(cls, limits: core.RateLimits) -> Self:
        """The JSON of a configuration."""
        entries = [
            RateLimit(principal=principal, qps=limit.qps, capacity=limit.capacity)
            for principal, limit in limits.entries
        ]
        return cls(
            limits=entries or None,
            aggregate_default_qps=limits.default.qps,
            aggregate_default_capacity=limits.default.capacity,
        )

    def to_model(self) -> core.RateLimits:
        """The configuration that it means; the rules of the model are not checked."""
        return core.RateLimits(
            tuple((entry.principal, core.RateLimit(entry.qps, entry.capacity)) for entry in self.limits or ()),
            core.RateLimit(self.aggregate_default_qps, self.aggregate_default_capacity),
        )


def refusal_of(text: str, where: str, *, is_refused: bool = False) -> BadInput | None:
    """The error that names every fault of a file at once; None if it is as documented.

    The faults are those of its syntax, behind which the text is repaired to look further; of its keys and types; and,
    if there is one of these or the file `is_refused` anyway, of the rules of the model.  `where` is the file in
    sentences; empty for a text that is in none.
    """
    broken, repaired = json_faults.faults_of(text)
    found = [Fault(fault.field, str(fault), fault.hint) for fault in broken]
    try:
        found += [] if repaired is None else _faults_in(repaired, where, is_refused=is_refused or bool(broken))
    except RecursionError:
        return BadInput(f"{where} is nested too deeply", rule="file.json")
    if not found:
        return None
    if not broken:
        return refused_for_all(found, "file.fields")
    meant = _with_braces(text)
    if meant is not None:
        hint = f"braces or commas are missing; the file that was meant is {json.dumps(meant)}"
        found = [found[0]._replace(hint=hint)]
    return refused_for_all(found, "file.json", f"{where} is not JSON: " if where else "Not JSON: ")


def _faults_in(text: str, where: str, *, is_refused: bool) -> list[Fault]:
    """Faults of keys and types in a text that is JSON, without those of values that nobody knows.

    If there is one, or the file is refused anyway, those of the rules too.
    """
    document, file = load(text), TextFile(where, text, places_in_json)
    mistakes = [
        (place(path), sentence, hint)
        for path, sentence, hint in (*faults(document), *RateLimits.faults(document))
        if not json_faults.stands_in(document, path)
    ]
    if mistakes or is_refused:
        mistakes += [(fault.field, fault.sentence, fault.hint) for fault in core.errors(_readable(document))]
    found = [(path or "the top level", sentence, hint) for path, sentence, hint in mistakes]
    in_file = [f"{file.place_of(path)}: " if where else "" for path, _, _ in found]
    return [
        Fault(path, f"{at}{path}: {sentence}", hint) for at, (path, sentence, hint) in zip(in_file, found, strict=True)
    ]


_PAIR = re.compile(r'"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[\d.]+(?:[eE][-+]?\d+)?)')
_NO_WORDS = re.compile(r'[\s{}\[\],]*(?:"limits"\s*:[\s{}\[\],]*)?')


def _with_braces(text: str) -> dict[str, Any] | None:
    """The file that was meant, if everything but braces, brackets and commas is there, as in a copied page."""
    pairs = [(pair[1], json.loads(pair[2])) for pair in _PAIR.finditer(text) if _is_json(pair[2])]
    if not pairs or _NO_WORDS.fullmatch(_PAIR.sub(",", text)) is None:
        return None
    entries: list[dict[str, Any]] = []
    top: dict[str, Any] = {}
    for key, value in pairs:
        if key == "principal":
            entries.append({key: value})
        elif key.startswith("aggregate_default_"):
            top[key] = value
        elif entries:
            entries[-1][key] = value
        else:
            return None
    meant = {"limits": entries, **top} if entries else top
    return meant if not RateLimits.faults(meant) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _readable(document: Any) -> core.RateLimits:
    """The valid principals and rates of a document, each in its place."""
    top = document if isinstance(document, dict) else {}
    entries = [entry if isinstance(entry, dict) else {} for entry in _list(top.get("limits"))]
    limits = []
    for index, entry in enumerate(entries):
        principal = entry.get("principal")
        known = principal if isinstance(principal, str) else f"\0{index}"  # unlike any other
        limits.append((known, core.RateLimit(_rate(entry.get("qps")))))
    return core.RateLimits(tuple(limits), core.RateLimit(_rate(top.get("aggregate_default_qps"))))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _rate(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
