"""The resources of an agent, as the documents of several nouns show them."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster import holdings
from mesosctl.show.document import Amounts, Strict, amounts


class Held(Strict):
    """Amounts by name (`cpus_revocable` apart), ports and sets by count; `text` spells ranges and sets out.

    Where nothing else names the owners of reserved resources, `text` does: `cpus:4; cpus(ads):2`.
    """

    amounts: Amounts
    text: str


def _held(resources: object) -> Any:
    if not isinstance(resources, Resources):
        return resources
    return _HELD.of(resources)


_HELD = IdentityCache(lambda it: Held(amounts=amounts(it.separate_quantities()), text=holdings.plain_text(it)))


HeldResources = Annotated[Held, BeforeValidator(_held)]
"""Made from `Resources`, if those are given; without owners."""


def _owned(resources: object) -> Any:
    if isinstance(resources, tuple):
        resources = Resources(resources)
    if not isinstance(resources, Resources):
        return resources
    return Held(amounts=amounts(resources.separate_quantities()), text=holdings.owned_text(resources) or "-")


OwnedResources = Annotated[Held, BeforeValidator(_owned)]
"""The same, from entries of resources too; `text` names the owners."""
