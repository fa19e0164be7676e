"""`ratelimit set`, `unset` and `default`: one change to the file that a master reads when it starts."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from mesosctl.core import ratelimit
from mesosctl.core.errors import BadInput, NotFound
from mesosctl.core.ratelimit import RateLimit
from mesosctl.core.ratelimit_standing import FileEdit
from mesosctl.core.reading import read_text_file, why_unreadable
from mesosctl.core.suggestion import did_you_mean
from mesosctl.ops.files import write_atomically
from mesosctl.ops.ratelimit.config_file import dump, parse

Document = dict[str, Any]
Change = Callable[[Document], None]


def edit(path: str, change: Change, *, write: bool = True) -> FileEdit:
    """Apply `change` to the configuration in a file, which may be new.

    What the change does not touch stays as it is.  A configuration that would stop a master is not written.
    Raises BadInput, RuleViolation, and what `change` raises.
    """
    before = _read(path)
    document = {} if before is None else parse(before, path).document
    original = deepcopy(document)
    change(document)
    # Where nothing changed, neither does the layout.
    after = before if before and document == original else dump(document, before or "")
    limits = parse(after, path).limits
    ratelimit.check(limits)
    if write and after != before:
        write_atomically(Path(path), after)
    return FileEdit(path, before or "", after, limits, written=write and after != before)


def set_limit(principal: str, limit: RateLimit) -> Change:
    """Give a principal this limit, in place of its old one or at the end; without qps it is never throttled."""

    def change(document: Document) -> None:
        entries = _entries(document)
        for entry in entries:
            if entry.get("principal") == principal:
                break
        else:
            entry = {"principal": principal}
            entries.append(entry)
        _put(entry, "qps", limit.qps)
        _put(entry, "capacity", limit.capacity)
        document["limits"] = entries

    return change


def unset_limit(principal: str) -> Change:
    """Take a principal's entry out, so that the default applies to it.  The change raises NotFound."""

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
                    "mesosctl ratelimit validate FILE reads the file; the default is changed by ratelimit default",
                ),
            )
        document["limits"] = kept

    return change


def set_default(limit: RateLimit) -> Change:
    """What all share who are not listed; without qps they are not throttled."""

    def change(document: Document) -> None:
        _put(document, "aggregate_default_qps", limit.qps)
        _put(document, "aggregate_default_capacity", limit.capacity)

    return change


def _put(target: Document, name: str, value: float | None) -> None:
    if value is None:
        target.pop(name, None)
    else:
        # 300, not 300.0: as a person would have written it.
        target[name] = int(value) if value == int(value) else value


def _entries(document: Document) -> list[Document]:
    return document.get("limits") or []


def _read(path: str) -> str | None:
    """The text of a file; None where there is none."""
    try:
        return read_text_file(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", field="--file") from None
