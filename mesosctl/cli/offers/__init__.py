"""`mesosctl offers`: its verbs, one module each."""

from mesosctl.cli.group import group

app = group(
    "See who is offered what and why, and act upon an offer.",
    {
        name: f"mesosctl.cli.offers.{name}"
        for name in ("explain", "list", "reserve", "simulate", "take", "unreserve", "watch")
    },
)
