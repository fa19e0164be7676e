from mesosctl.model.errors import BadInput as BadInput
from mesosctl.model.errors import Conflict as Conflict
from mesosctl.model.errors import DeadlinePassed as DeadlinePassed
from mesosctl.model.errors import Denied as Denied
from mesosctl.model.errors import Forbidden as Forbidden
from mesosctl.model.errors import Invalid as Invalid
from mesosctl.model.errors import MasterFailed as MasterFailed
from mesosctl.model.errors import MesosctlError as MesosctlError
from mesosctl.model.errors import NoLeader as NoLeader
from mesosctl.model.errors import NoMaster as NoMaster
from mesosctl.model.errors import NotConfirmed as NotConfirmed
from mesosctl.model.errors import NotFound as NotFound
from mesosctl.model.errors import NoZooKeeper as NoZooKeeper
from mesosctl.model.errors import Rejected as Rejected
from mesosctl.model.errors import RuleViolation as RuleViolation
from mesosctl.model.errors import TlsFailure as TlsFailure
from mesosctl.model.errors import Unauthenticated as Unauthenticated
from mesosctl.model.errors import UnexpectedAnswer as UnexpectedAnswer
from mesosctl.model.errors import Unreachable as Unreachable
from mesosctl.model.errors import UsageError as UsageError
from mesosctl.output.json_documents.forecast import ForecastDocument as ForecastDocument
from mesosctl.output.json_documents.quota import QuotaChange as QuotaChange
from mesosctl.output.json_documents.quota import QuotaCheck as QuotaCheck
from mesosctl.output.json_documents.quota import RoleQuota as RoleQuota
from mesosctl.output.json_documents.reservations import AgentChange as AgentChange
from mesosctl.output.json_documents.reservations import ReservationEntry as ReservationEntry
from mesosctl.planning.account import ClusterAccount as ClusterAccount
from mesosctl.planning.snapshot import ClusterSnapshot as ClusterSnapshot
from mesosctl.python_api import Master as Master

__version__: str
__all__ = [
    "AgentChange",
    "BadInput",
    "ClusterAccount",
    "ClusterSnapshot",
    "Conflict",
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
    "TlsFailure",
    "Unauthenticated",
    "UnexpectedAnswer",
    "Unreachable",
    "UsageError",
]
