"""`mesosctl quota`: its verbs, one module each."""

from mesosctl.cli.group import group

app = group(
    "Guarantee roles a share of the cluster.",
    {name: f"mesosctl.cli.quota.{name}" for name in ("check", "list", "remove", "set", "show", "update")},
)
