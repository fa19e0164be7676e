"""Offers and what is in their way, for people."""

import io
import json
from dataclasses import replace

import pytest

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.door.offer_explanation import OfferAccount, OfferExplanation
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from mesosctl.offers.report import change_line, explanation_report, offer_list
from mesosctl.show.output_formats import write
from mesosctl.show.report import Report

OFFER = OutstandingOffer("O1", "web", "F1", "", "S1", "host", parse_resources("cpus:1"))


def written(report: Report, form: str) -> str:
    stream = io.StringIO()
    write(report, form, stream, draws=False, colours=False)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_framework_that_is_called_nothing_is_known_by_its_id(form: str) -> None:
    assert written(offer_list([OFFER]), form).splitlines()[1].startswith("F1")
    assert change_line("offered", OFFER, form).startswith("+ F1 web")
    explanation = OfferExplanation(OfferAccount("F1", "", "web", (), {}, ()), 0)
    assert "F1 in role web is offered nothing" in written(explanation_report([explanation]), "table")


def test_programs_are_told_its_name_as_it_is() -> None:
    assert '"framework": ""' in written(offer_list([OFFER]), "json")


def test_programs_are_told_amounts_and_the_owners_of_resources() -> None:
    offer = replace(OFFER, resources=parse_resources("cpus:4;cpus(ads):2;ports:[80-81]"))
    (told,) = json.loads(written(offer_list([offer]), "json"))["offers"]
    assert told["resources"]["amounts"] == {"cpus": 6.0, "ports": 2.0}
    assert parse_resources(told["resources"]["text"]) == offer.resources
    assert "amounts" not in told
