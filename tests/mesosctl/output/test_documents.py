"""The shapes of -o json.  A change here is a change for every script: add fields, or raise `schema_version`.

The shape of a new document is added before the release that it comes with.
"""

import pytest

from mesosctl.model import errors
from mesosctl.output.json_documents import models
from mesosctl.output.json_documents.document import ErrorDocument

DOCUMENTS = [
    model
    for model in models().values()
    if model.__module__.rpartition(".")[2]
    in (
        "quota",
        "cluster",
        "document",
        "reservations",
        "agents",
        "teardown",
        "maintenance",
        "wait",
        "tasks",
        "permissions",
    )
]

SHAPES = {
    "QuotaList": {"schema_version": 1, "kind": "quota.list", "quotas": ["RoleQuota"]},
    "QuotaShow": {"schema_version": 1, "kind": "quota.show", "quota": "RoleQuota"},
    "QuotaChanges": {"schema_version": 1, "kind": "quota.changes", "changes": ["QuotaChange"]},
    "QuotaCheck": {
        "schema_version": 1, "kind": "quota.check", "role": "string", "requested": "amounts", "passed": "boolean",
        "findings": ["Finding"], "capacity": "amounts?", "promised": "amounts?", "largest": "amounts?",
    },
    "QuotaRoom": {
        "schema_version": 1, "kind": "quota.room", "role": "string?", "guarantee": "amounts?", "capacity": "amounts",
        "promised": "amounts", "limits": "amounts", "largest": "amounts", "tasks": "TaskRoom?",
    },
    "TaskRoom": {
        "task": "amounts", "guarantee": "amounts", "by_amounts": "integer", "now": "integer", "agents": "integer",
        "not_guaranteed": ["string"],
    },
    "ErrorDocument": {"schema_version": 1, "notes": ["string"], "error": "Error", "contexts": "['string']?"},
    "Note": {"schema_version": 1, "kind": "note", "level": ["note", "warning"], "message": "string"},
    "ExchangeNote": {
        "schema_version": 1, "kind": "exchange", "method": "string", "url": "string", "status": "integer?",
        "failure": "string?", "bytes": "integer?", "milliseconds": "number", "headers": "strings?", "sent": "string?",
        "received": "string?",
    },
    "AgentList": {"schema_version": 1, "kind": "agents.list", "agents": ["Agent"]},
    "FrameworkList": {"schema_version": 1, "kind": "frameworks.list", "frameworks": ["Framework"]},
    "RoleList": {"schema_version": 1, "kind": "roles.list", "roles": ["Role"]},
    "WeightList": {"schema_version": 1, "kind": "weights.list", "weights": ["Weight"]},
    "WeightChanges": {"schema_version": 1, "kind": "weights.changes", "changes": ["WeightChange"]},
    "Agent": {
        "id": "string", "hostname": "string", "pid": "string",
        "status": ["active", "disconnected", "deactivated", "draining", "drained", "recovering"],
        "attributes": "attributes",
        "region": "string?", "zone": "string?", "total": "Held", "used": "Held", "offered": "Held", "free": "Held",
        "lent": "Held", "reserved": "amounts by name",
    },
    "Framework": {
        "id": "string", "name": "string", "roles": ["string"], "principal": "string?",
        "status": ["active", "inactive", "disconnected", "recovered"], "used": "amounts", "offered": "amounts",
        "offers": "integer",
    },
    "CanI": {
        "schema_version": 1, "kind": "can-i", "principal": "string?", "known": "boolean", "allowed": "boolean?",
        "permission": "Permission",
    },
    "CanIList": {
        "schema_version": 1, "kind": "can-i.list", "principal": "string?", "permissions": ["Permission"],
    },
    "Permission": {
        "command": "string", "name": "string?", "name_is": "string", "actions": ["string"], "known": "boolean",
        "allowed": "boolean?", "by": "['master', 'acls']?", "reason": "string",
    },
    "AclsCheck": {
        "schema_version": 1, "kind": "acls.check", "file": "string", "valid": "boolean", "findings": ["AclsFinding"],
        "principal": "string?", "access": "['AccessTo']?",
    },
    "AclsFinding": {
        "level": ["error", "warning"], "rule": "string", "field": "string", "line": "integer?", "message": "string",
        "hint": "string?",
    },
    "AccessTo": {"action": "string", "objects": "string", "decisions": ["Decision"]},
    "Decision": {"names": "['string']?", "allowed": "boolean"},
    "TaskList": {"schema_version": 1, "kind": "tasks.list", "tasks": ["Task"]},
    "Task": {
        "id": "string", "name": "string", "framework": "string", "framework_id": "string", "role": "string",
        "agent": "string?", "agent_id": "string", "state": "string", "resources": "Held", "since": "string?",
    },
    "Role": {
        "role": "string",
        "standing": ["below guarantee", "wants no more", "wanting unknown", "no frameworks", "met by offers", "met",
                     "met (at limit)", "within limit", "at limit", "over limit", "no quota", "unknown"],
        "weight": "number?", "guarantee": "amounts", "limit": "amounts", "missing": "amounts", "usage": "Usage?",
    },
    "Top": {
        "schema_version": 1, "kind": "top", "taken_at": "number", "version": "string", "agents": "integers",
        "frameworks": "integer", "total": "amounts", "used": "amounts", "offered": "amounts", "revocable": "amounts",
        "roles": ["Role"],
        "offers": ["Waiting"], "throttled": ["Throttled"], "unknown": ["string"],
    },
    "Waiting": {
        "framework": "string", "framework_id": "string", "roles": ["string"], "offers": "integer",
        "resources": "amounts",
    },
    "Throttled": {"principal": "string", "waiting": "integer", "full": "boolean"},
    "Weight": {"role": "string", "weight": "number"},
    "WeightChange": {"role": "string", "before": "number", "after": "number", "confirmed": "boolean"},
    "RoleQuota": {"role": "string", "guarantee": "amounts", "limit": "amounts", "usage": "Usage?"},
    "Usage": {
        "consumed": "amounts?", "allocated": "amounts", "offered": "amounts", "reserved": "amounts",
        "frameworks": "integer", "weight": "number",
    },
    "QuotaChange": {
        "role": "string", "done": ["set", "updated", "removed", "unchanged"], "before": "QuotaValue?",
        "after": "QuotaValue?", "confirmed": "boolean",
    },
    "QuotaValue": {"guarantee": "amounts", "limit": "amounts"},
    "Finding": {"rule": "string", "passed": "boolean?", "message": "string", "hint": "string?"},
    "ReservationList": {"schema_version": 1, "kind": "reservations.list", "reservations": ["ReservationEntry"]},
    "ReservationTree": {"schema_version": 1, "kind": "reservations.tree", "roles": ["RoleBranch"]},
    "VolumeList": {"schema_version": 1, "kind": "volumes.list", "volumes": ["ReservationEntry"]},
    "AgentChanges": {"schema_version": 1, "kind": "reservations.changes", "changes": ["AgentChange"]},
    "ReservationEntry": {
        "agent": "AgentName", "role": "string", "dynamic": "boolean", "stack": ["Level"], "resources": "Held",
        "allocated": "Held", "volume": "Volume?", "source": "Source?",
    },
    "Source": {"type": ["PATH", "MOUNT", "BLOCK", "RAW"], "root": "string?"},
    "RoleBranch": {
        "role": "string", "static": "amounts", "dynamic": "amounts", "allocated": "amounts", "total": "amounts",
        "agents": "integer",
    },
    "AgentChange": {
        "agent": "AgentName", "done": ["reserved", "unreserved", "created", "destroyed"],
        "resources": ["ReservationPart"], "by_master": "boolean", "by_agent": "boolean",
    },
    "ReservationPart": {"name": "string", "resources": "Held", "stack": ["Level"]},
    "AgentName": {"id": "string", "hostname": "string"},
    "Held": {"amounts": "amounts", "text": "string"},
    "Level": {"type": ["STATIC", "DYNAMIC"], "role": "string", "principal": "string?", "labels": ["Label"]},
    "Label": {"key": "string", "value": "string?"},
    "Volume": {"id": "string", "container_path": "string?", "principal": "string?"},
    "DrainPlanDocument": {"schema_version": 1, "kind": "agents.plan", "agents": ["LeavingAgent"]},
    "LeavingAgent": {
        "id": "string", "hostname": "string",
        "status": ["active", "disconnected", "deactivated", "draining", "drained", "recovering"],
        "tasks": "integer", "without_room": "integers",
    },
    "ServiceChanges": {"schema_version": 1, "kind": "agents.changes", "changes": ["ServiceChange"]},
    "ServiceChange": {
        "id": "string", "hostname": "string", "asked": ["drain", "deactivate", "reactivate", "mark gone"],
        "status": ["active", "disconnected", "deactivated", "draining", "drained", "recovering", "gone"],
        "sent": "boolean", "confirmed": "boolean",
    },
    "MaintenanceList": {"schema_version": 1, "kind": "maintenance.list", "machines": ["MaintenanceMachine"]},
    "MaintenanceMachine": {
        "hostname": "string", "ip": "string", "mode": ["up", "draining", "down"], "unavailability": "Unavailability?",
        "agents": ["string"], "answers": ["InverseOfferAnswer"],
    },
    "InverseOfferAnswer": {
        "framework": "string", "framework_id": "string", "answer": ["accepted", "declined", "not answered"],
    },
    "Unavailability": {"since": "string", "until": "string?", "seconds": "number?"},
    "MaintenanceChanges": {"schema_version": 1, "kind": "maintenance.changes", "changes": ["MaintenanceChange"]},
    "MaintenanceChange": {
        "hostname": "string", "ip": "string", "done": ["scheduled", "cancelled", "down", "up"],
        "unavailability": "Unavailability?", "sent": "boolean", "confirmed": "boolean",
    },
    "TeardownDocument": {
        "schema_version": 1, "kind": "frameworks.teardown", "id": "string", "name": "string", "tasks": "integer",
        "used": "amounts", "confirmed": "boolean",
    },
    "WaitDocument": {"schema_version": 1, "kind": "wait", "conditions": ["ConditionState"]},
    "ConditionState": {"condition": "string", "holds": "boolean", "shows": "string"},
    "Error": {
        "kind": "string", "exit_status": "integer", "message": "string", "field": "string?", "rule": "string?",
        "hint": "string?", "status": "integer?",
    },
}  # fmt: skip


def shape(schema):
    """A JSON schema in the short notation above."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"]
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        [value] = [shape(part) for part in schema["anyOf"] if part != {"type": "null"}]
        return f"{value}?"
    if schema["type"] == "array":
        return [shape(schema["items"])]
    if schema["type"] == "object":
        value = schema["additionalProperties"]
        if value == {"type": "number"}:
            return "amounts"
        if value == {"type": "string"}:
            return "strings"
        if value == {"type": "integer"}:
            return "integers"
        return "amounts by name" if "type" in value else "attributes"
    return schema["type"]


def test_the_shapes_are_a_contract():
    found = {}
    for document in DOCUMENTS:
        schema = document.model_json_schema()
        for name, part in {document.__name__: schema, **schema.get("$defs", {})}.items():
            found[name] = {key: shape(value) for key, value in part["properties"].items()}
            assert part["additionalProperties"] is False
    assert found == SHAPES


@pytest.mark.parametrize("words", [["quota", "set", "a/b", "cpus:1"], ["quota", "show", "nobody"], ["bogus"]])
@pytest.mark.parametrize("form", [["-o", "json"], ["-ojson"], ["--output=json"], ["--output", "jsonl"]])
def test_every_error_is_such_a_document(run, words, form):
    ran = run(*words, *form)
    error = ErrorDocument.model_validate_json(ran.err).error
    assert error.exit_status == ran.status
    assert issubclass(getattr(errors, error.kind), errors.MesosctlError)
