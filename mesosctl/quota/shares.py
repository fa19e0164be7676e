"""Amounts of quota that are typed as a share of the cluster, such as `cpus:25%`: the amounts that are sent for them."""

from collections.abc import Sequence
from typing import NamedTuple

from mesosctl.mesos.amounts.amount_text import as_typed, in_words
from mesosctl.mesos.amounts.quantities import Quantities, is_part, part_of
from mesosctl.mesos.errors import RuleViolation


class TypedAmounts(NamedTuple):
    """RESOURCES and --limit as they were typed, each None if it was not given."""

    resources: Sequence[str] | None
    limit: str | None

    @property
    def have_shares(self) -> bool:
        """Whether an amount is a share of the cluster's capacity, which has to be read first."""
        return any(map(_share, ";".join([*(self.resources or ()), self.limit or ""]).split(";")))

    def of(self, capacity: Quantities) -> "TypedAmounts":
        """The same with an amount in place of each share.  Raises RuleViolation for a share of nothing."""
        return TypedAmounts(
            self.resources and [_resolved(word, capacity) for word in self.resources],
            self.limit and _resolved(self.limit, capacity),
        )

    def sentences(self, capacity: Quantities) -> list[str]:
        """Each share, and the amount that it is."""
        typed = [*";".join(self.resources or ()).split(";"), *(self.limit or "").split(";")]
        shares = dict.fromkeys(token.strip() for token in typed if _share(token))
        return [
            f"{token} of the {in_words(Quantities({name: capacity.get_amount(name)}))} that the agents have is "
            f"{_resolved(token, capacity)}"
            for token in shares
            for name, _ in [_share(token) or ("", "")]
        ]


def _share(token: str) -> tuple[str, str] | None:
    """The name and the percentage of `cpus:25%`; None for any other word."""
    name, _, amount = (part.strip() for part in token.partition(":"))
    return (name, amount) if name and name != "ports" and is_part(amount) else None


def _resolved(text: str, capacity: Quantities) -> str:
    tokens = []
    for token in text.split(";"):
        share = _share(token)
        if share is None:
            tokens.append(token)
            continue
        name, percentage = share
        if not capacity.get_amount(name):
            raise RuleViolation(f"'{token.strip()}' is a share of nothing: no agent has {name}", rule="resource.share")
        tokens += as_typed(Quantities({name: part_of(name, percentage, capacity)})) or [f"{name}:0"]
    return ";".join(tokens)
