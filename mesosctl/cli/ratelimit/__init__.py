"""`mesosctl ratelimit`: its verbs, one module each."""

from mesosctl.cli.group import group

app = group(
    "Throttle frameworks so that others are heard.",
    {
        name: f"mesosctl.cli.ratelimit.{name}"
        for name in ("default", "plan", "set", "show", "simulate", "suggest", "unset", "validate", "watch")
    },
)
