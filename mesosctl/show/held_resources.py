"""The resources of an agent, as the documents of several nouns show them."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster import holdings
from mesosctl.show.document import Amounts, Strict, amounts


class Held(Strict):
    """Amounts by name (`cpus_revocable` apart), ports and sets by count; `text` spells ranges and sets out."""

    amounts: Amounts
    text: str


def _held(resources: object) -> Any:
    if not isinstance(resources, Resources):
        return resources
    return _HELD.of(resources)


_HELD = IdentityCache(lambda it: Held(amounts=amounts(it.separate_quantities()), text=holdings.plain_text(it)))


HeldResources = Annotated[Held, BeforeValidator(_held)]
"""Made from `Resources`, if those are given."""
