"""The documented JSON of rate limits (Mesos documentation, "Framework Rate Limiting"), as a file that people write.

`mesos.messages.rate_limits` reads what masters take and show, without pydantic.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import BeforeValidator

from mesosctl.files.text_file import TextFile
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.base_model import DoubleOrInfinity, MesosModel, number
from mesosctl.mesos.messages.protobuf_json.decoding import decode, may_hold_more
from mesosctl.mesos.messages.protobuf_json.messages import as_unsigned
from mesosctl.mesos.messages.strict.json_faults import fault_of
from mesosctl.mesos.messages.strict.line_numbers import places_in_json
from mesosctl.mesos.messages.strict.reading import (
    MOST_VALUES,
    Fault,
    faults,
    load,
    place,
    refused_for_all,
    too_many_values,
)
from mesosctl.mesos.rules import rate_limits as core


def _meant(value: Any) -> Any:
    """The number of a value that may have quotes.  Raises ValueError for another text."""
    found = number(value)
    return decode(found) if isinstance(found, str) else found


def _as_a_master_reads(value: Any) -> Any:
    found = _meant(value)
    return as_unsigned(found) if isinstance(found, int | float) and math.isfinite(found) else found


Capacity = Annotated[int, BeforeValidator(_as_a_master_reads)]
"""A number of messages: what a master reads of a number that is negative, has a fraction or is too large."""


class RateLimitMessage(MesosModel):
    """The limit of a principal: messages a second, and how many may wait."""

    principal: str
    qps: DoubleOrInfinity | None = None
    capacity: Capacity | None = None


class RateLimitsMessage(MesosModel):
    """The value of the master's --rate_limits."""

    limits: list[RateLimitMessage] | None = None
    aggregate_default_qps: DoubleOrInfinity | None = None
    aggregate_default_capacity: Capacity | None = None

    @classmethod
    def of(cls, limits: core.RateLimits) -> Self:
        """The JSON of a configuration."""
        entries = [
            RateLimitMessage(principal=principal, qps=limit.qps, capacity=limit.capacity)
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


def misread_capacities(document: dict[str, Any]) -> Iterator[core.RateLimitFinding]:
    """Yield a warning for each capacity that a master reads as another number; the document is as documented."""
    named = [(entry, f"limits[{at}].", "", entry["principal"]) for at, entry in enumerate(document.get("limits") or ())]
    for table, where, key, principal in [*named, (document, "", "aggregate_default_", None)]:
        field = f"{key}capacity"
        written = table.get(field)
        if written is not None and (read := _as_a_master_reads(written)) != _meant(written):
            yield core.misread_capacity(f"{where}{field}", principal, str(written), read)


def refusal_of(text: str, where: str, *, is_refused: bool = False) -> BadInput | None:
    """The error that names every fault of a file at once; None if it is as documented.

    The faults are those of its keys and types; and, if there is one of these or the file `is_refused` anyway, of the
    rules of the model.  Of a text that is not JSON, it is the first place where it is none.  `where` is the file in
    sentences; empty for a text that is in none.
    """
    if may_hold_more(text, MOST_VALUES):
        return too_many_values(where or "it")
    broken = fault_of(text)
    if broken is not None:
        head = f"{where} is not JSON: " if where else "Not JSON: "
        return refused_for_all([Fault(broken.field, str(broken), broken.hint)], "file.json", head)
    try:
        found = _faults_in(text, where, is_refused=is_refused)
    except RecursionError:
        return BadInput(f"{where} is nested too deeply", rule="file.json")
    return refused_for_all(found, "file.fields") if found else None


def _faults_in(text: str, where: str, *, is_refused: bool) -> list[Fault]:
    """Faults of keys and types in a text that is JSON; if there is one, or it is refused, those of the rules too."""
    document, file = load(text), TextFile(where, text, places_in_json)
    mistakes = [
        (place(path), sentence, hint)
        for path, sentence, hint in (*faults(document), *RateLimitsMessage.faults(document))
    ]
    if mistakes or is_refused:
        mistakes += [(fault.field, fault.sentence, fault.hint) for fault in _broken_rules(document)]
    found = [(path or "the top level", sentence, hint) for path, sentence, hint in mistakes]
    in_file = [f"{file.place_of(path)}: " if where else "" for path, _, _ in found]
    return [
        Fault(path, f"{at}{path}: {sentence}", hint) for at, (path, sentence, hint) in zip(in_file, found, strict=True)
    ]


def _broken_rules(document: Any) -> Iterator[core.RateLimitFinding]:
    """The rules that the valid principals and rates of a document break, each in its place."""
    top = document if isinstance(document, dict) else {}
    entries: list[tuple[str | None, core.RateLimit]] = []
    for entry in _list(top.get("limits")):
        principal = entry.get("principal") if isinstance(entry, dict) else None
        rate = _rate(entry.get("qps")) if isinstance(entry, dict) else None
        entries.append((principal if isinstance(principal, str) else None, core.RateLimit(rate)))
    return core.errors_of(entries, core.RateLimit(_rate(top.get("aggregate_default_qps"))))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _rate(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
