"""Lists, and the figures of one thing: their table, their names and their JSON, from the same values.

A column says what it has for a value; the type of that says how it is written. The elements of the document read the
same values.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, get_args, get_origin

from mesosctl.mesos.amounts.quantities import Limits, Quantities, format_double
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.show.amounts import amounts_text, plain_resources_text
from mesosctl.show.document import Document, Mirrored, Strict
from mesosctl.show.report import NOTHING, Column, KindOfCells, Report, Rows, Verdict

Value = TypeVar("Value")
Figure = tuple[str, object]
"""A line about one thing: its title, and what `cell_text` writes; None leaves the line out."""


def cell_text(value: object) -> str:
    """A value as the text of a cell: "-" for None and for anything empty."""
    if isinstance(value, str):
        return value or NOTHING
    if value is None:
        return NOTHING
    if isinstance(value, Resources):
        return plain_resources_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return format_double(value)
    if isinstance(value, (list, tuple)):  # a tuple: `|` would make a type for each cell of a long list
        return ",".join(value) or NOTHING
    if isinstance(value, (Quantities, Limits)):
        return amounts_text(value)
    raise TypeError(f"no cell has a {type(value).__name__}")


def rows_of(columns: Sequence[Column[Value]], values: Sequence[Value]) -> Rows[Value]:
    """A row for every value, with the texts of what each column has for it."""
    cells = [column.cell for column in columns if column.cell is not None]
    return Rows(values, lambda value: [cell_text(cell(value)) for cell in cells])


def list_report(  # noqa: PLR0913  # what stands around a table
    document: Document,
    values: Sequence[Value],
    columns: Sequence[Column[Value]],
    *,
    name: Callable[[Value], str] | None = None,
    names: Sequence[str] = (),
    element: Callable[[Value], Strict] | None = None,
    in_order: Sequence[Value] | None = None,
    empty: str = "",
    done: str = "",
    remark: Sequence[str | Report] = (),
    verdicts: Sequence[Verdict] = (),
    terminal: Callable[[], Report] | None = None,
) -> Report:
    """A line for every value.

    `document` is the answer without its elements; `element` makes one from a value, unless its model does so alone.
    `name` is what -o name writes of a value; or `names` are all that it writes. `in_order` has the values as the table
    has them, if that is another order than that of the document. The others are as in `Report`.
    """
    shown = values if in_order is None else in_order
    field, made = _list_of(type(document))
    return Report(
        columns,
        rows_of(columns, shown),
        names if name is None else list(map(name, shown)),
        lambda: document,
        lambda: map(element or made, values),
        empty=empty,
        done=done,
        remark=remark,
        verdicts=verdicts,
        terminal=terminal,
        listing=field,
    )


def figures_report(
    document: Callable[[], Document],
    figures: Sequence[Figure],
    titles: tuple[str, str] = ("WHAT", "AMOUNT"),
    *,
    kind: KindOfCells = "amounts",
    names: Sequence[str] = (),
    remark: Sequence[str | Report] = (),
    verdicts: Sequence[Verdict] = (),
) -> Report:
    """A line for every figure of one thing, without those that are None; the others are as in `Report`."""
    columns: Sequence[Column[Figure]] = (
        Column(titles[0], lambda figure: figure[0]),
        Column(titles[1], lambda figure: figure[1], kind=kind),
    )
    shown = [figure for figure in figures if figure[1] is not None]
    return Report(columns, rows_of(columns, shown), names, document, remark=remark, verdicts=verdicts)


def _list_of(document: type[Document]) -> tuple[str, Callable[[object], Strict]]:
    """The field of a document that lists what it is about, which is its first list of parts, and what makes a part."""
    for name, field in document.model_fields.items():
        if get_origin(field.annotation) is list:
            (part,) = get_args(field.annotation)
            if isinstance(part, type) and issubclass(part, Strict):
                return name, part.of if issubclass(part, Mirrored) else part.model_validate
    raise TypeError(f"{document.__name__} has no list")
