"""Whether resources are worth an offer: --min_allocatable_resources (spec/allocator.md §5.4)."""

from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_double, to_milli
from mesosctl.core.values import value_quantity


def parse_minimum(text: str) -> tuple[Quantities, ...]:
    """The flag --min_allocatable_resources: `cpus:0.01|mem:32`, alternatives of `name:amount` joined by ";".

    Raises ValueError.
    """
    alternatives = []
    for alternative in text.split("|"):
        amounts: dict[str, int] = {}
        for token in filter(None, (part.strip() for part in alternative.split(";"))):
            name, colon, amount = token.partition(":")
            if not colon:
                raise ValueError(f"'{token}' is not NAME:AMOUNT")
            amounts[name.strip()] = to_milli(float(amount))
        if amounts:
            alternatives.append(Quantities(amounts))
    return tuple(alternatives)


def is_allocatable(resources: Resources, alternatives: tuple[Quantities, ...]) -> bool:
    """Some alternative is met by the sums over all entries; with no alternative anything but nothing is."""
    if not resources:
        return False
    return not alternatives or any(_meets(resources, alternative) for alternative in alternatives)


def _meets(resources: Resources, alternative: Quantities) -> bool:
    return all(_reaches(resources, name, to_double(amount)) for name, amount in alternative.items())


def _reaches(resources: Resources, name: str, missing: float) -> bool:
    # Mesos subtracts plain doubles entry by entry here, the one place where it does not round.
    for entry in resources:
        if entry.name == name:
            missing -= to_double(value_quantity(entry.value))
            if missing <= 0:
                return True
    return False
