"""GET /frameworks, read."""

from typing import Any

import pytest

from mesosctl.api.frameworks import frameworks
from mesosctl.model.errors import UnexpectedAnswer


def shown(**changes: Any) -> dict[str, Any]:
    return {"frameworks": [{"id": "1", "name": "n", "active": True, "roles": ["web"], "offers": []} | changes]}


def test_offers_count_by_role() -> None:
    offers = [{"allocation_info": {"role": "web"}}, {"allocation_info": {"role": "web"}}, {}]
    [found] = frameworks(shown(offers=offers))
    assert found.offers == {"web": 3}


def test_a_framework_may_have_no_role() -> None:
    [found] = frameworks(shown(roles=[], offers=[{"allocation_info": {"role": "web"}}]))
    assert (found.roles, found.offers) == ((), {"web": 1})


@pytest.mark.parametrize(
    "changes",
    [
        {"offers": 3},
        {"offers": [3]},
        {"roles": 3},
        {"roles": "web"},
        {"roles": [None]},
        {"name": None},
        {"id": 7},
        {"capabilities": "MULTI_ROLE"},
    ],
)
def test_what_is_none_is_the_masters_fault(changes: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer, match="not as documented"):
        frameworks(shown(**changes))


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UnexpectedAnswer, match="it has no 'name'"):
        frameworks({"frameworks": [{"id": "1", "roles": []}]})
