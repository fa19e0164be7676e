"""A framework that was torn down, as a report."""

from typing import TYPE_CHECKING

from mesosctl.model.offers.frameworks import TornDown
from mesosctl.output.formats.amounts import amounts_text
from mesosctl.output.formats.report import Column, Report

if TYPE_CHECKING:
    from mesosctl.output.json_documents import teardown as documents


def teardown_report(done: TornDown) -> Report:
    """The framework, and what it used until then."""

    def document() -> "documents.TeardownDocument":
        from mesosctl.output.json_documents import teardown

        return teardown.TeardownDocument.of(done)

    one = done.framework
    columns = (
        Column("FRAMEWORK"),
        Column("TASKS", kind="number"),
        Column("USED", kind="amounts"),
        Column("CONFIRMED", wide=True),
        Column("FRAMEWORK ID", wide=True),
    )
    rows = [[one.title, str(done.tasks), amounts_text(one.used), "yes" if done.confirmed else "no", one.id]]
    return Report(columns, rows, [one.id], document, lambda: [document()], done=f"framework {one.title} was torn down")
