from mesosctl.capacity.documents import SpareCapacity as SpareCapacity
from mesosctl.mesos.cluster.account import ClusterAccount as ClusterAccount
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot as ClusterSnapshot
from mesosctl.mesos.errors import BadInput as BadInput
from mesosctl.mesos.errors import Conflict as Conflict
from mesosctl.mesos.errors import DeadlinePassed as DeadlinePassed
from mesosctl.mesos.errors import Denied as Denied
from mesosctl.mesos.errors import Forbidden as Forbidden
from mesosctl.mesos.errors import Invalid as Invalid
from mesosctl.mesos.errors import MasterFailed as MasterFailed
from mesosctl.mesos.errors import MesosctlError as MesosctlError
from mesosctl.mesos.errors import NoLeader as NoLeader
from mesosctl.mesos.errors import NoMaster as NoMaster
from mesosctl.mesos.errors import NotConfirmed as NotConfirmed
from mesosctl.mesos.errors import NotFound as NotFound
from mesosctl.mesos.errors import NoZooKeeper as NoZooKeeper
from mesosctl.mesos.errors import Rejected as Rejected
from mesosctl.mesos.errors import RuleViolation as RuleViolation
from mesosctl.mesos.errors import TlsFailure as TlsFailure
from mesosctl.mesos.errors import Unauthenticated as Unauthenticated
from mesosctl.mesos.errors import UnexpectedAnswer as UnexpectedAnswer
from mesosctl.mesos.errors import Unreachable as Unreachable
from mesosctl.mesos.errors import UsageError as UsageError
from mesosctl.python_api import Master as Master
from mesosctl.python_api import recorded_cost as recorded_cost
from mesosctl.quota.documents import QuotaChange as QuotaChange
from mesosctl.quota.documents import QuotaCheck as QuotaCheck
from mesosctl.quota.documents import RoleQuota as RoleQuota
from mesosctl.reservations.documents import AgentChange as AgentChange
from mesosctl.reservations.documents import ReservationEntry as ReservationEntry
from mesosctl.usage.cost_documents import CostReport as CostReport
from mesosctl.whatif.documents import ForecastDocument as ForecastDocument

__version__: str
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
