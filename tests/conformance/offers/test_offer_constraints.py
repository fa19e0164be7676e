"""Agents that a framework's offer constraints exclude are not offered to it."""

from typing import Any

from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier, skip_before

SETUP = quick("cpus:2;mem:1024;disk:100;ports:[31000-31009]")


def on_hostname(predicate: dict[str, Any]) -> dict[str, Any]:
    one = {"selector": {"pseudoattribute_type": "HOSTNAME"}, "predicate": predicate}
    return {"role_constraints": {"ads": {"groups": [{"attribute_constraints": [one]}]}}}


def test_offer_constraints(start: Any, carrier: Carrier) -> None:
    skip_before("1.11.0", carrier, "there are no offer constraints")
    with start(SETUP) as (_, join):
        assert join("ads").subscribe(offer_constraints=on_hostname({"exists": {}})).offers()
    with start(SETUP) as (_, join):
        framework = join("ads").subscribe(offer_constraints=on_hostname({"not_exists": {}}))
        framework.none_of("OFFERS")
        framework.ask(
            "UPDATE_FRAMEWORK",
            gives=200,
            update_framework={"framework_info": framework.info | {"id": {"value": framework.id}}},
        )
        assert framework.offers()
    with start(SETUP) as (_, join):
        refused = join("ads")
        refused.open(offer_constraints=on_hostname({}))
        assert refused.next("ERROR")["error"]["message"] == (
            "A role ads has an invalid 'AttributeConstraint': Unknown predicate type"
        )
