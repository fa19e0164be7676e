"""`mesosctl volumes`: its verbs, one module each."""

from mesosctl.cli.group import group

app = group(
    "Create, destroy and list persistent volumes.",
    {name: f"mesosctl.cli.volumes.{name}" for name in ("create", "destroy", "list")},
)
