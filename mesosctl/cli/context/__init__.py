"""`mesosctl context`: its verbs, one module each."""

from mesosctl.cli.group import group

app = group(
    "Keep settings under a name, and choose one by --context, MESOSCTL_CONTEXT or mesosctl context use.",
    {name: f"mesosctl.cli.context.{name}" for name in ("list", "remove", "set", "show", "use")},
)
