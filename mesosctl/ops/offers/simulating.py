"""`offers simulate`: a cluster file played by the fake master's allocator."""

from pathlib import Path

from mesosctl.core.sharing import Sharing


def simulate(cluster: Path, most_steps: int) -> Sharing:
    """Play a cluster file, offer by offer.  Raises BadInput."""
    # Late: nothing else in the tool needs an allocator.
    import fake_master

    return fake_master.simulate(cluster, most_steps)
