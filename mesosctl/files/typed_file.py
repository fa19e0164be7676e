"""The one door from a TOML text that people write to typed values: `read_typed`.

    found = read_typed(text, "goals.toml", GoalsDocument)
    with found.noted("goals.web"):
        check(found.value.goals["web"])      what it means: a rule of the model
    found.refuse()                           every fault at once, each with its line

The shape of a file is a `Table` (`mesos.messages.strict.shapes`), which says what its keys are.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from mesosctl.files.text_file import TextFile
from mesosctl.mesos.errors import Conflict, Invalid, UsageError
from mesosctl.mesos.messages.strict.line_numbers import places_in_toml
from mesosctl.mesos.messages.strict.reading import Fault, read_toml, refused_for_all
from mesosctl.mesos.messages.strict.shapes import Table, fit

T = TypeVar("T", bound=Table)
V = TypeVar("V")


@dataclass(slots=True)
class TypedFile(Generic[T]):
    """The values of a file, as far as they fit its shape, and its faults."""

    value: T
    file: TextFile
    faults: list[Fault] = field(default_factory=list)

    def wrong(self, path: str, sentence: str, hint: str | None = None) -> None:
        """Note a fault."""
        self.faults.append(Fault(path, sentence, hint))

    def is_wrong_at(self, path: str) -> bool:
        """Whether the value at this path, or something in it, is wrong already."""
        return any(fault.path == path or fault.path.startswith((f"{path}.", f"{path}[")) for fault in self.faults)

    @contextmanager
    def noted(self, path: str) -> Iterator[None]:
        """Note an error of this block as a fault of the value at this path."""
        try:
            yield
        except (Invalid, Conflict, UsageError) as error:
            self.faults.append(Fault(path, error.message, error.own_hint, error.advice))

    def check_version(self, found: int, known: int) -> None:
        """Note it as a fault if the file is of another version of the schema than the known one."""
        if found != known:
            self.wrong("schema_version", f"it is {found}, but this version of mesosctl reads {known}")

    def refuse(self) -> None:
        """Raise BadInput that names every fault with its line, if there is one."""
        self.file.refuse(self.faults)


def read_typed(
    text: str, where: str, shape: type[T], check_kind: Callable[[Mapping[str, Any], str], None] | None = None
) -> TypedFile[T]:
    """Read a text as a value of a shape; faults are those of keys and types.

    `check_kind` gets the document and the name of the file, and raises BadInput if it is another kind of file. Raises
    BadInput too if the text is not TOML, and if so little fits that there is no value.
    """
    file = TextFile(where, text, places_in_toml)
    document = read_toml(text, where)
    if check_kind is not None:
        with file.refusals():
            check_kind(document, where)
    value, faults = fit(document, shape)
    if value is None:
        raise file.refusal(faults)
    return TypedFile(value, file, faults)


def typed(value: Any, shape: type[V], name: str) -> V:
    """A value that a program gives under a name, as a file would have it.  Raises BadInput with every fault."""
    found, faults = fit(value, shape, (name,))
    if faults or found is None:
        told = [fault._replace(sentence=f"{fault.path}: {fault.sentence}") for fault in faults]
        raise refused_for_all(told, "file.fields")
    return found
