"""A file that people write: its name and its text, so that an error names the file and the line."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mesosctl.mesos.errors import BadInput, Conflict, Invalid, NotFound
from mesosctl.mesos.messages.strict.line_numbers import Places
from mesosctl.mesos.messages.strict.reading import Fault, refused_for_all


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file; if something in it is refused, the error names the file, the line and the role.

    `find` gives the line of each key, as `line_numbers` does.
    """

    name: str
    """The name of the file in sentences."""
    text: str = field(repr=False)
    find: Callable[[str], Places] = field(repr=False)
    _found: list[Places] = field(default_factory=list, init=False, repr=False, compare=False)
    """The places, once they are asked for."""

    @property
    def places(self) -> Places:
        """The line of every value."""
        if not self._found:
            self._found.append(self.find(self.text))
        return self._found[0]

    def place_of(self, path: str | None, role: str = "") -> str:
        """The file, and the line of a value or of the nearest enclosing one: `limits.json, line 3`."""
        line = self.places.line_of(path or "", role)
        return f"{self.name}, line {line}" if line else self.name

    def refuse(self, faults: Sequence[Fault]) -> None:
        """Raise `refusal` if there are faults."""
        if faults:
            raise self.refusal(faults)

    def refusal(self, faults: Sequence[Fault]) -> BadInput:
        """The error that names every fault with its line, in the order of the file."""
        ordered = sorted(faults, key=lambda fault: self.places.line_of(fault.path) or 0)
        error = refused_for_all(
            [
                fault._replace(
                    sentence=f"{self.place_of(fault.path)}: {fault.path or 'the top level'}: {fault.sentence}"
                )
                for fault in ordered
            ],
            "file.fields",
        )
        error.is_placed = True
        return error

    @contextmanager
    def refusals(self, *roles: str) -> Iterator[None]:
        """Add the place in the file to refusals in this block; `roles` are those that the file names."""
        try:
            yield
        except (Invalid, NotFound, Conflict) as error:
            if error.is_placed or error.rule == "file.json":
                raise  # an invalid text is refused with line and column
            role = error.role or (roles[0] if len(roles) == 1 else "")
            file, told = error.in_file or ("", "")
            sentence = told if file == self.name else error.message
            # Some sentences name the role themselves.
            whose = f"role '{role}': " if role and f"'{role}'" not in sentence else ""
            error.reword(f"{self.place_of(error.field, role)}: {whose}{sentence}")
            error.is_placed = True
            raise
