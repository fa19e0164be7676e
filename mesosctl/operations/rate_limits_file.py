"""The configuration file of rate limits: read strictly, and written back in its own layout."""

import json
import math
import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mesosctl.api.files.line_numbers import places_in_json
from mesosctl.api.files.rate_limits import RateLimits
from mesosctl.api.files.reading import place, read_json
from mesosctl.api.files.text_file import TextFile
from mesosctl.client.leading_master import Master
from mesosctl.file_reading import read_text_file, unreadable_hint, why_unreadable
from mesosctl.file_writing import write_atomically
from mesosctl.model import rate_limits
from mesosctl.model.errors import BadInput, NotFound, printable_json
from mesosctl.model.rate_limits import RateLimit
from mesosctl.model.roles import did_you_mean
from mesosctl.operations.rate_limits import principals_if_allowed
from mesosctl.planning.message_rates import FileCheck, FileEdit
from mesosctl.planning.rate_limit_simulation import CountedMessages

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Configuration:
    """The JSON of a file, and what a master reads in it."""

    document: dict[str, Any]
    limits: rate_limits.RateLimits


def parse(text: str, name: str) -> Configuration:
    """The configuration in `text`; `name` stands for it in errors.

    Raises BadInput: for broken JSON with line, column and what was expected there, for anything else that is not as
    documented with its path.  The rules of the model are not checked.
    """
    with TextFile(name, text, places_in_json).refusals():
        document = _read_document(text, name)
        return Configuration(document, RateLimits.read(document, name).to_core())


_PAIR = re.compile(r'"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[\d.]+(?:[eE][-+]?\d+)?)')
_NO_WORDS = re.compile(r'[\s{}\[\],]*(?:"limits"\s*:[\s{}\[\],]*)?')


def _read_document(text: str, name: str) -> Any:
    """The JSON of a file.  Raises BadInput; where only braces and commas were lost, with the file that was meant."""
    try:
        return read_json(text, name)
    except BadInput as error:
        meant = _with_braces(text)
        if meant is not None:
            error.hint = f"braces or commas are missing; the file that was meant is {json.dumps(meant)}"
        raise


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


def parse_valid(text: str, name: str) -> rate_limits.RateLimits:
    """The limits in `text`, with which a master would start.  Raises BadInput, and RuleViolation with the line."""
    limits = parse(text, name).limits
    with TextFile(name, text, places_in_json).refusals():
        rate_limits.check(limits)
    return limits


def dump(document: dict[str, Any], like: str = "") -> str:
    """The document as text, in the layout of `like`, the text of another one."""
    if not like.strip():
        return _with_short_entries(document, _INDENT)
    original = json.loads(like)
    # Of the two usual layouts, the one with more lines of the old text.
    lines = set(like.splitlines())
    layouts = (_with_short_entries, _with_long_entries)
    layout = max(layouts, key=lambda layout: len(lines & set(layout(original, _indent(like)).splitlines())))
    return layout(document, _indent(like))


def _indent(text: str) -> str:
    indented = next((line for line in text.splitlines() if line[:1] in (" ", "\t") and line.strip()), _INDENT)
    return indented[: len(indented) - len(indented.lstrip())]


def _with_long_entries(document: dict[str, Any], indent: str) -> str:
    return printable_json(json.dumps(document, indent=indent, ensure_ascii=False)) + "\n"


def _with_short_entries(document: dict[str, Any], indent: str) -> str:
    """Each field and each entry of an array on its own line, as in the Mesos documentation."""
    fields = []
    for name, value in document.items():
        text = _in_one_line(value)
        if isinstance(value, list) and value:
            entries = f",\n{indent}{indent}".join(map(_in_one_line, value))
            text = f"[\n{indent}{indent}{entries}\n{indent}]"
        fields.append(f"{indent}{_in_one_line(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n" if fields else "{}\n"


def _in_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


Document = dict[str, Any]
Change = Callable[[Document], None]


def edit(path: str, change: Change, *, write: bool = True) -> FileEdit:
    """Apply `change` to the configuration in a file, which may be new.

    Everything else stays as it is. A configuration with which a master would not start is not written. Raises BadInput,
    RuleViolation, and what `change` raises.
    """
    before = _read(path)
    document = {} if before is None else parse(before, path).document
    original = deepcopy(document)
    with TextFile(path, before or "", places_in_json).refusals():
        change(document)
    # Where nothing changed, neither does the layout.
    after = before if before and document == original else dump(document, before or "")
    limits = parse(after, path).limits
    with TextFile(path, after, places_in_json).refusals():
        rate_limits.check(limits)
    if write and after != before:
        write_atomically(Path(path), after, field="--file")
    return FileEdit(path, before or "", after, limits, written=write and after != before)


def limit_in(path: str, principal: str) -> RateLimit | None:
    """The limit of a principal in a file; None without a file or an entry.  Raises BadInput."""
    text = _read(path)
    return None if text is None else parse(text, path).limits.by_principal().get(principal)


def set_limit(principal: str, limit: RateLimit) -> Change:
    """Give a principal this limit, at the end if it has none; a rate or capacity that is not given stays.

    Without either it is never throttled.
    """

    def change(document: Document) -> None:
        entries = _entries(document)
        for entry in entries:
            if entry.get("principal") == principal:
                break
        else:
            entry = {"principal": principal}
            entries.append(entry)
        _put_given(entry, limit, "")
        document["limits"] = entries

    return change


def unset_limit(principal: str) -> Change:
    """Remove a principal's entry, so that the default applies to it. The change raises NotFound."""

    def change(document: Document) -> None:
        entries = _entries(document)
        kept = [entry for entry in entries if entry.get("principal") != principal]
        if len(kept) == len(entries):
            raise NotFound(
                f"the file has no entry for principal '{principal}'",
                field="principal",
                hint=did_you_mean(
                    principal,
                    [str(entry["principal"]) for entry in entries if "principal" in entry],
                    "name a principal that has an entry; mesosctl ratelimit default changes the default",
                ),
            )
        document["limits"] = kept

    return change


def set_default(limit: RateLimit) -> Change:
    """Set the limit that all principals without one share; a rate or capacity that is not given stays.

    Without either they are not throttled.
    """

    def change(document: Document) -> None:
        _put_given(document, limit, "aggregate_default_")

    return change


def _put_given(target: Document, limit: RateLimit, prefix: str) -> None:
    removes = limit.qps is None and limit.capacity is None
    for name, value in (("qps", limit.qps), ("capacity", limit.capacity)):
        if removes or value is not None:
            _put(target, prefix + name, value)


def _put(target: Document, name: str, value: float | None) -> None:
    if value is None:
        target.pop(name, None)
    else:
        # 300, not 300.0, as people write it
        target[name] = int(value) if value == int(value) else value


def _entries(document: Document) -> list[Document]:
    return document.get("limits") or []


def _read(path: str) -> str | None:
    """The text of a file; None if there is none."""
    try:
        return read_text_file(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path} cannot be read: {why_unreadable(error)}", field="--file", hint=unreadable_hint(path, error)
        ) from None


def validate(text: str, name: str, where: str, master: Master | None = None) -> FileCheck:
    """Check a configuration; with a master also against the principals of its frameworks.

    `name` is the file on the command line, and `where` its name in errors. Raises BadInput for invalid JSON and
    undocumented content, with every fault, including broken rules.
    """
    file = TextFile(where, text, places_in_json)
    with file.refusals():
        document = _read_document(text, where)
    mistakes = RateLimits.faults(document)
    if mistakes:
        faults = [(place(mistake.path) or "the top level", mistake.sentence) for mistake in mistakes]
        faults += [(fault.field, fault.sentence) for fault in rate_limits.errors(_readable(document))]
        raise BadInput(
            "; ".join(f"{file.place_of(at)}: {at}: {sentence}" for at, sentence in faults),
            field=place(mistakes[0].path) or None,
            rule="file.fields",
            hint=mistakes[0].hint if len(faults) == 1 else None,
        )
    limits = RateLimits.read(document, where).to_core()
    used = None if master is None else principals_if_allowed(master)
    return FileCheck(name, limits, (*rate_limits.errors(limits), *rate_limits.warnings(limits, used)))


def _readable(document: Any) -> rate_limits.RateLimits:
    """The valid principals and rates of a document, each in its place."""
    top = document if isinstance(document, dict) else {}
    entries = [entry if isinstance(entry, dict) else {} for entry in _list(top.get("limits"))]
    limits = []
    for index, entry in enumerate(entries):
        principal = entry.get("principal")
        known = principal if isinstance(principal, str) else f"\0{index}"  # unlike any other
        limits.append((known, RateLimit(_rate(entry.get("qps")))))
    return rate_limits.RateLimits(tuple(limits), RateLimit(_rate(top.get("aggregate_default_qps"))))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _rate(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_recording(lines: Iterable[str], name: str) -> list[CountedMessages]:
    """The counters that `ratelimit watch -o jsonl` wrote.  Raises BadInput with the line."""
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            counted = _counted(json.loads(line))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise BadInput(
                f"{name}, line {number}, is not a reading of ratelimit watch",
                field="--recorded",
                hint="mesosctl ratelimit watch --count 60 -o jsonl writes such a file",
            ) from None
        found.append(counted)
    return found


def _counted(reading: Any) -> CountedMessages:
    """Raises KeyError, OverflowError, TypeError or ValueError for anything else."""
    at = float(reading["at"])
    if not math.isfinite(at):
        raise ValueError(f"{at} is not a time")
    return CountedMessages(at, str(reading["principal"]), int(reading["received"]))
