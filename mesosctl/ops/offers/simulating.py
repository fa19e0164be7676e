"""`offers simulate`: a cluster file played by the fake master's allocator."""

from io import BufferedIOBase

from mesosctl.core.sharing import Sharing


def simulate(cluster: BufferedIOBase, where: str, most_steps: int) -> Sharing:
    """Play a cluster file, which `where` names, offer by offer.  Raises BadInput, and OSError."""
    # Late: nothing else in the tool needs an allocator.
    import fake_master

    return fake_master.simulate(cluster, where, most_steps)
