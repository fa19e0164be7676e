"""The messages of the scheduler API (Mesos documentation, "Scheduler HTTP API")."""

from mesosctl.api.protobuf_json.messages import Field, Message, one_of
from mesosctl.api.protobuf_json.resource_messages import LABELS
from mesosctl.api.resources import RESOURCE, SCALAR

ID = Message("ID", {"value": Field("string", "required")})
_IDS = Field(ID, "repeated")
FILTERS = Message("Filters", {"refuse_seconds": Field("double")})
_QUANTITIES = Message("OfferFilters.ResourceQuantities", {"quantities": Field(SCALAR, entry=True)})
_OFFER_FILTERS = Message(
    "OfferFilters",
    {
        "min_allocatable_resources": Field(
            Message("OfferFilters.MinAllocatableResources", {"quantities": Field(_QUANTITIES, "repeated")})
        )
    },
)
_CAPABILITY = Message(
    "FrameworkInfo.Capability",
    {
        "type": Field(
            one_of(
                "FrameworkInfo.Capability.Type",
                "UNKNOWN",
                "REVOCABLE_RESOURCES",
                "TASK_KILLING_STATE",
                "GPU_RESOURCES",
                "SHARED_RESOURCES",
                "PARTITION_AWARE",
                "MULTI_ROLE",
                "RESERVATION_REFINEMENT",
                "REGION_AWARE",
            )
        )
    },
)
FRAMEWORK_INFO = Message(
    "FrameworkInfo",
    {
        "user": Field("string", "required"),
        "name": Field("string", "required"),
        "id": Field(ID),
        "failover_timeout": Field("double"),
        "checkpoint": Field("bool"),
        "role": Field("string"),
        "roles": Field("string", "repeated"),
        "hostname": Field("string"),
        "principal": Field("string"),
        "webui_url": Field("string"),
        "capabilities": Field(_CAPABILITY, "repeated"),
        "labels": Field(LABELS),
        "offer_filters": Field(_OFFER_FILTERS, entry=True),
    },
)
_EXECUTOR = Message(
    "ExecutorInfo",
    {
        "executor_id": Field(ID, "required"),
        "type": Field(one_of("ExecutorInfo.Type", "UNKNOWN", "DEFAULT", "CUSTOM")),
        "framework_id": Field(ID),
        "command": Field("json"),
        "container": Field("json"),
        "resources": Field(RESOURCE, "repeated"),
        "name": Field("string"),
        "source": Field("string"),
        "data": Field("bytes"),
        "discovery": Field("json"),
        "labels": Field(LABELS),
    },
)
TASK_INFO = Message(
    "TaskInfo",
    {
        "name": Field("string", "required"),
        "task_id": Field(ID, "required"),
        "agent_id": Field(ID, "required"),
        "resources": Field(RESOURCE, "repeated"),
        "limits": Field(SCALAR, entry=True),
        "executor": Field(_EXECUTOR),
        "command": Field("json"),
        "container": Field("json"),
        "data": Field("bytes"),
        "health_check": Field("json"),
        "check": Field("json"),
        "kill_policy": Field("json"),
        "labels": Field(LABELS),
        "discovery": Field("json"),
    },
)
_RESOURCES = Field(RESOURCE, "repeated")
OPERATION = Message(
    "Offer.Operation",
    {
        "type": Field(
            one_of(
                "Offer.Operation.Type",
                "UNKNOWN",
                "LAUNCH",
                "LAUNCH_GROUP",
                "RESERVE",
                "UNRESERVE",
                "CREATE",
                "DESTROY",
                "GROW_VOLUME",
                "SHRINK_VOLUME",
                "CREATE_DISK",
                "DESTROY_DISK",
            ),
        ),
        "id": Field(ID),
        "launch": Field(Message("Launch", {"task_infos": Field(TASK_INFO, "repeated")})),
        "launch_group": Field(
            Message(
                "LaunchGroup",
                {
                    "executor": Field(_EXECUTOR, "required"),
                    "task_group": Field(Message("TaskGroupInfo", {"tasks": Field(TASK_INFO, "repeated")}), "required"),
                },
            )
        ),
        "reserve": Field(Message("Reserve", {"source": _RESOURCES, "resources": _RESOURCES})),
        "unreserve": Field(Message("Unreserve", {"resources": _RESOURCES})),
        "create": Field(Message("Create", {"volumes": _RESOURCES})),
        "destroy": Field(Message("Destroy", {"volumes": _RESOURCES})),
        "grow_volume": Field(
            Message("GrowVolume", {"volume": Field(RESOURCE, "required"), "addition": Field(RESOURCE, "required")})
        ),
        "shrink_volume": Field(
            Message("ShrinkVolume", {"volume": Field(RESOURCE, "required"), "subtract": Field(SCALAR, "required")})
        ),
    },
)
_TEXT = Field(Message("AttributeConstraint.Predicate.Text", {"value": Field("string")}))
_REGEX = Field(Message("AttributeConstraint.Predicate.Regex", {"regex": Field("string")}))
_PRESENCE = Field(Message("AttributeConstraint.Predicate.Presence", {}))
_ATTRIBUTE_CONSTRAINT = Message(
    "AttributeConstraint",
    {
        "selector": Field(
            Message(
                "AttributeConstraint.Selector",
                {
                    "attribute_name": Field("string"),
                    "pseudoattribute_type": Field(
                        one_of(
                            "AttributeConstraint.Selector.PseudoattributeType", "UNKNOWN", "HOSTNAME", "REGION", "ZONE"
                        )
                    ),
                },
            )
        ),
        "predicate": Field(
            Message(
                "AttributeConstraint.Predicate",
                {
                    "exists": _PRESENCE,
                    "not_exists": _PRESENCE,
                    "text_equals": _TEXT,
                    "text_not_equals": _TEXT,
                    "text_matches": _REGEX,
                    "text_not_matches": _REGEX,
                },
            )
        ),
    },
)
_GROUP = Message("RoleConstraints.Group", {"attribute_constraints": Field(_ATTRIBUTE_CONSTRAINT, "repeated")})
_OFFER_CONSTRAINTS = Message(
    "OfferConstraints",
    {
        "role_constraints": Field(
            Message("OfferConstraints.RoleConstraints", {"groups": Field(_GROUP, "repeated")}), entry=True
        )
    },
)
_ROLES = Message("Roles", {"roles": Field("string", "repeated")})
_SUBSCRIPTION = {
    "framework_info": Field(FRAMEWORK_INFO, "required"),
    "suppressed_roles": Field("string", "repeated"),
    "offer_constraints": Field(_OFFER_CONSTRAINTS),
}
# Call type → the message it carries; None if it needs none.
BODIES: dict[str, Message | None] = {
    "SUBSCRIBE": Message("Call.Subscribe", {**_SUBSCRIPTION, "force": Field("bool")}),
    "TEARDOWN": None,
    "ACCEPT": Message(
        "Call.Accept",
        {"offer_ids": _IDS, "operations": Field(OPERATION, "repeated"), "filters": Field(FILTERS)},
    ),
    "DECLINE": Message("Call.Decline", {"offer_ids": _IDS, "filters": Field(FILTERS)}),
    "ACCEPT_INVERSE_OFFERS": Message(
        "Call.AcceptInverseOffers", {"inverse_offer_ids": _IDS, "filters": Field(FILTERS)}
    ),
    "DECLINE_INVERSE_OFFERS": Message(
        "Call.DeclineInverseOffers", {"inverse_offer_ids": _IDS, "filters": Field(FILTERS)}
    ),
    "REVIVE": _ROLES,
    "SUPPRESS": _ROLES,
    "KILL": Message(
        "Call.Kill", {"task_id": Field(ID, "required"), "agent_id": Field(ID), "kill_policy": Field("json")}
    ),
    "SHUTDOWN": Message("Call.Shutdown", {"executor_id": Field(ID, "required"), "agent_id": Field(ID, "required")}),
    "ACKNOWLEDGE": Message(
        "Call.Acknowledge",
        {"agent_id": Field(ID, "required"), "task_id": Field(ID, "required"), "uuid": Field("bytes", "required")},
    ),
    "ACKNOWLEDGE_OPERATION_STATUS": Message(
        "Call.AcknowledgeOperationStatus",
        {
            "agent_id": Field(ID),
            "resource_provider_id": Field(ID),
            "uuid": Field("bytes", "required"),
            "operation_id": Field(ID, "required"),
        },
    ),
    "RECONCILE": Message(
        "Call.Reconcile",
        {
            "tasks": Field(
                Message("Call.Reconcile.Task", {"task_id": Field(ID, "required"), "agent_id": Field(ID)}), "repeated"
            )
        },
    ),
    "RECONCILE_OPERATIONS": Message(
        "Call.ReconcileOperations",
        {
            "operations": Field(
                Message(
                    "Call.ReconcileOperations.Operation",
                    {
                        "operation_id": Field(ID, "required"),
                        "agent_id": Field(ID),
                        "resource_provider_id": Field(ID),
                    },
                ),
                "repeated",
            )
        },
    ),
    "MESSAGE": Message(
        "Call.Message",
        {"agent_id": Field(ID, "required"), "executor_id": Field(ID, "required"), "data": Field("bytes", "required")},
    ),
    "REQUEST": Message(
        "Call.Request",
        {"requests": Field(Message("Request", {"agent_id": Field(ID), "resources": _RESOURCES}), "repeated")},
    ),
    "UPDATE_FRAMEWORK": Message("Call.UpdateFramework", _SUBSCRIPTION),
}
# These are complete without their message.
BODY_OPTIONAL = frozenset({"TEARDOWN", "REVIVE", "SUPPRESS"})
CALL = Message(
    "Call",
    {
        "type": Field(one_of("Call.Type", "UNKNOWN", *BODIES)),
        "framework_id": Field(ID),
        **{name.lower(): Field(body) for name, body in BODIES.items() if body is not None},
    },
)
