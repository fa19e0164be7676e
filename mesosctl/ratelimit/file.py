"""The configuration file of rate limits: read strictly, and written back in its own layout."""

import json
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.files.rate_limits import RateLimitsMessage, misread_capacities, refusal_of
from mesosctl.files.reading import read_text_file, unreadable_hint, why_unreadable
from mesosctl.files.text_file import TextFile
from mesosctl.files.writing import write_atomically
from mesosctl.mesos.cluster.message_rates import FileCheck, FileEdit
from mesosctl.mesos.errors import BadInput, NotFound, printable_json
from mesosctl.mesos.messages.strict.line_numbers import places_in_json
from mesosctl.mesos.messages.strict.reading import read_json
from mesosctl.mesos.roles import did_you_mean
from mesosctl.mesos.rules import rate_limits
from mesosctl.mesos.rules.rate_limit_simulation import CountedMessages
from mesosctl.mesos.rules.rate_limits import RateLimit
from mesosctl.ratelimit.work import principals_if_allowed
from mesosctl.suggestion import command

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class RateLimitsFile:
    """The JSON of a file, and what a master reads in it."""

    document: dict[str, Any]
    limits: rate_limits.RateLimits


def parse(text: str, name: str) -> RateLimitsFile:
    """The configuration in `text`; `name` stands for it in errors.

    Raises BadInput with every fault: for broken JSON with line, column and what was expected there, for anything else
    that is not as documented with its path.  The rules of the model are not checked if there is none.
    """
    refusal = refusal_of(text, name)
    if refusal is not None:
        raise refusal
    document = read_json(text, name)
    return RateLimitsFile(document, RateLimitsMessage.read(document, name).to_model())


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
                    "name a principal that has an entry; the verb default changes what all others share",
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


def validate(text: str, name: str, where: str, master: LeadingMaster | None = None) -> FileCheck:
    """Check a configuration; with a master also against the principals of its frameworks.

    `name` is the file on the command line, and `where` its name in errors. Raises BadInput for invalid JSON and
    undocumented content, with every fault, including broken rules.
    """
    configuration = parse(text, where)
    limits = configuration.limits
    used = None if master is None else principals_if_allowed(master)
    remarks = [*rate_limits.errors(limits), *rate_limits.warnings(limits, used)]
    huge = {finding.field for finding in remarks if finding.rule == rate_limits.HUGE}
    remarks += (finding for finding in misread_capacities(configuration.document) if finding.field not in huge)
    return FileCheck(name, limits, remarks)


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
                hint=f"{command('ratelimit watch', count=60, o='jsonl')} writes such a file",
            ) from None
        found.append(counted)
    return found


def _counted(reading: Any) -> CountedMessages:
    """Raises KeyError, OverflowError, TypeError or ValueError for anything else."""
    at = float(reading["at"])
    if not math.isfinite(at):
        raise ValueError(f"{at} is not a time")
    return CountedMessages(at, str(reading["principal"]), int(reading["received"]))
