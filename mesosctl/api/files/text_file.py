"""A file that people write: its name and its text, so that an error names the file and the line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mesosctl.api.files.line_numbers import Places
from mesosctl.model.errors import Conflict, Invalid, NotFound


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file; if something in it is refused, the error names the file, the line and the role.

    `find` gives the line of each key, as `line_numbers` does.
    """

    name: str
    """The name of the file in sentences."""
    text: str = field(repr=False)
    find: Callable[[str], Places] = field(repr=False)

    def place_of(self, path: str | None, role: str = "") -> str:
        """The file, and the line of a value or of the nearest enclosing one: `limits.json, line 3`."""
        line = self.find(self.text).line_of(path or "", role)
        return f"{self.name}, line {line}" if line else self.name

    @contextmanager
    def refusals(self, *roles: str) -> Iterator[None]:
        """Add the place in the file to refusals in this block; `roles` are those that the file names."""
        try:
            yield
        except (Invalid, NotFound, Conflict) as error:
            is_placed = error.message.startswith(f"{self.name}, line ")
            if is_placed or error.rule == "file.json":
                raise  # an invalid text is refused with line and column
            role = error.role or (roles[0] if len(roles) == 1 else "")
            whose = f"role '{role}': " if role and f"'{role}'" not in error.message else ""
            sentence = error.message.removeprefix(f"{self.name}: ")
            error.reword(f"{self.place_of(error.field, role)}: {whose}{sentence}")
            raise
