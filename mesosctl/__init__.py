"""mesosctl: share out an Apache Mesos cluster, safely and with proof.

    from mesosctl import Master

    master = Master("http://mesos.example:5050")
    master.set_quota("web", "cpus:12;mem:6GiB")

Importing this package loads nothing else: each name of `__all__` is loaded when it is first used. `__init__.pyi` has
their types.
"""

__version__ = "0.1.0"
"""The program."""

__all__ = [
    "AgentChange",
    "BadInput",
    "ClusterAccount",
    "ClusterSnapshot",
    "Conflict",
    "CostReport",
    "DeadlinePassed",
    "Denied",
    "Forbidden",
    "ForecastDocument",
    "Invalid",
    "Master",
    "MasterFailed",
    "MesosctlError",
    "NoLeader",
    "NoMaster",
    "NoZooKeeper",
    "NotConfirmed",
    "NotFound",
    "QuotaChange",
    "QuotaCheck",
    "Rejected",
    "ReservationEntry",
    "RoleQuota",
    "RuleViolation",
    "SpareCapacity",
    "TlsFailure",
    "Unauthenticated",
    "UnexpectedAnswer",
    "Unreachable",
    "UsageError",
    "recorded_cost",
]

_MODULES = {
    "Master": "mesosctl.python_api",
    "recorded_cost": "mesosctl.python_api",
    "ClusterAccount": "mesosctl.mesos.cluster.account",
    "ClusterSnapshot": "mesosctl.mesos.cluster.snapshot",
    "RoleQuota": "mesosctl.quota.documents",
    "QuotaChange": "mesosctl.quota.documents",
    "QuotaCheck": "mesosctl.quota.documents",
    "AgentChange": "mesosctl.reservations.documents",
    "ReservationEntry": "mesosctl.reservations.documents",
    "ForecastDocument": "mesosctl.whatif.documents",
    "SpareCapacity": "mesosctl.capacity.documents",
    "CostReport": "mesosctl.usage.cost_documents",
}
"""The modules of the public names; every other name is an error's."""


def __getattr__(name: str) -> object:
    """Load a public name."""
    if name not in __all__:
        raise AttributeError(f"module 'mesosctl' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_MODULES.get(name, "mesosctl.mesos.errors")), name)


def __dir__() -> list[str]:
    """List the public names too."""
    return sorted({*globals(), *__all__})
