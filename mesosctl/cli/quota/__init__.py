"""`mesosctl quota`."""

from mesosctl.cli.verb import group

app = group(help="Guarantee roles a share of the cluster.")

from mesosctl.cli.quota import check, list, remove, set, show, update  # noqa: E402, F401, A004  # each registers itself
