"""Offers as reports."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mesosctl.model.errors import printable
from mesosctl.model.offers.offers import Offer, TakenOffer
from mesosctl.model.resources import Resources
from mesosctl.output.formats import report
from mesosctl.output.formats.amounts import resources_text
from mesosctl.output.formats.report import Column, Report
from mesosctl.output.formats.writing import json_text, yaml_text
from mesosctl.output.reservations import agent_id_column_of

if TYPE_CHECKING:
    from mesosctl.output.documents import offers as offers_documents

_COLUMNS = (
    Column("FRAMEWORK"),
    Column("ROLE"),
    Column("AGENT"),
    Column("RESOURCES", kind="amounts"),
    Column("KIND", rank=1),
    Column("OFFER", wide=True),
    Column("FRAMEWORK ID", wide=True),
)


def offer_list(offers: Sequence[Offer], *, empty: str = "nothing is offered") -> Report:
    """Every outstanding offer; `empty` is shown where there is none."""

    def items() -> "list[offers_documents.Offer]":
        from mesosctl.output.documents import offers as offers_documents

        return [offers_documents.Offer.of(offer) for offer in offers]

    def document() -> "offers_documents.OfferList":
        from mesosctl.output.documents import offers as offers_documents

        return offers_documents.OfferList(offers=items())

    return Report(
        (*_COLUMNS, agent_id_column_of({offer.agent_id: offer.hostname for offer in offers})),
        [_row(offer) for offer in offers],
        [offer.id for offer in offers],
        document,
        items,
        empty=empty,
    )


def _named(of: Offer) -> str:
    """A framework by its name; one that is called nothing by its id."""
    return of.framework or of.framework_id


def _row(offer: Offer) -> list[str]:
    return [
        _named(offer),
        offer.role,
        offer.hostname,
        resources_text(offer.resources),
        offer.resources.revocability,
        offer.id,
        offer.framework_id,
        offer.agent_id,
    ]


def change_line(what: Literal["offered", "gone"], offer: Offer, form: str, agent: str | None = None) -> str:
    """One change: a line of JSON or a document of YAML for a program; words for a person, who says `agent`."""
    if form in report.DOCUMENTS:
        from mesosctl.output.documents import offers as offers_documents

        document = offers_documents.OfferChange(change=what, offer=offers_documents.Offer.of(offer))
        line = json_text(document, encoding="ascii")
        return f"---\n{yaml_text(line)}".rstrip("\n") if form == "yaml" else line
    if form == "name":
        return printable(offer.id)
    sign = "+" if what == "offered" else "-"
    return printable(f"{sign} {_named(offer)} {offer.role} {agent or offer.hostname} {resources_text(offer.resources)}")


def offer_call(call: Mapping[str, Any]) -> Report:
    """A call that can be sent as it stands; every form but json shows it alone."""

    def document() -> "offers_documents.OfferCall":
        from mesosctl.output.documents import offers as offers_documents

        return offers_documents.OfferCall(call=dict(call))

    return Report(
        (), [], [], document, lambda: [document()], remark=json.dumps(call, indent=2).splitlines(), verbatim=True
    )


def offer_taken(taken: TakenOffer) -> Report:
    """The operation that was made, and the offer that it used."""

    def document() -> "offers_documents.OfferTaken":
        from mesosctl.output.documents import offers as offers_documents

        return offers_documents.OfferTaken.of(taken)

    columns = (
        Column("DONE"),
        Column("RESOURCES", kind="amounts"),
        Column("AGENT"),
        Column("ROLE"),
        Column("DECLINED", wide=True),
        Column("OFFER", wide=True),
    )
    row = [
        taken.operation.deed,
        resources_text(Resources(taken.operation.resources)),
        taken.offer.hostname,
        taken.offer.role,
        str(taken.declined),
        taken.offer.id,
    ]
    return Report(columns, [row], [taken.offer.agent_id], document, lambda: [document()])
