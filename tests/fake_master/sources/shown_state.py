"""The state of a fake master, read as a client reads it."""

from fake_master.http.json_text import json_object
from fake_master.http.state_flags_metrics import StateEndpoints
from fake_master.master import Master
from mesosctl.mesos.messages.snapshots.cluster_state import ClusterState, cluster_state


def shown_state(master: Master) -> ClusterState:
    """Return what the answer of GET_STATE says."""
    answer = StateEndpoints(master.state, master.runtime, master.metrics.snapshot).get_state(None)
    return cluster_state([bytes(json_object({"get_state": answer}))])
