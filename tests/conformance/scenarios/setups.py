"""The clusters that the rows are played on."""

from tests.conformance.masters.cluster import Setup

A1 = "cpus:12;mem:6144;disk:1000;ports:[31000-32000]"
A2 = "cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500;ports:[31000-31100]"

STANDARD = Setup(agents=(A1, A2))
WITH_A_SET = Setup(agents=("cpus:1;mem:1024;disk:100;ports:[31000-31001];zones:{c,a,b,d}",))
NO_AGENTS = Setup()
ALL_RESERVED = Setup(agents=("cpus(other):1;mem(other):512;disk:100;ports:[31000-31001]",))
NESTED_RESERVATION = Setup(agents=("cpus(ancestor/child):1;mem(ancestor/child):10;disk:100;ports:[31000-31001]",))
WHITELIST_R1 = Setup(agents=(A1, A2), flags={"roles": "r1"})
WHITELIST_TWO = Setup(flags={"roles": "role1,role2"})
WHITELIST_WEIGHTED = Setup(flags={"roles": "role1,role2", "weights": "role1=5"})
AUTHENTICATED = Setup(agents=(A1, A2), flags={"authenticate_http_readwrite": "true"}, principals=("op",))


def _acl(object_name: str, principal: str, *values: str) -> dict[str, object]:
    objects = {"values": list(values)} if values else {"type": "ANY"}
    return {"principals": {"values": [principal]}, object_name: objects}


OPERATORS = Setup(
    agents=(A1,),
    flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
    principals=("op", "dev"),
    acls={
        "permissive": False,
        "register_agents": [{"principals": {"type": "ANY"}, "agents": {"type": "ANY"}}],
        "update_quotas": [_acl("roles", "op"), _acl("roles", "dev", "dev")],
        "get_quotas": [_acl("roles", "op"), _acl("roles", "dev", "dev")],
        "update_weights": [_acl("roles", "op")],
        "view_roles": [_acl("roles", "op")],
    },
)
"""op may do everything; dev may see and change the quota of the role dev and nothing else."""

RESERVERS = Setup(
    agents=(A1,),
    flags={"authenticate_http_readwrite": "true"},
    principals=("op", "dev"),
    acls={
        "permissive": False,
        "register_agents": [{"principals": {"type": "ANY"}, "agents": {"type": "ANY"}}],
        "get_quotas": [_acl("roles", "op")],
        "reserve_resources": [_acl("roles", "op"), _acl("roles", "dev", "dev")],
        "unreserve_resources": [_acl("reserver_principals", "op"), _acl("reserver_principals", "dev", "dev")],
        "create_volumes": [_acl("roles", "op"), _acl("roles", "dev", "dev")],
        "destroy_volumes": [_acl("creator_principals", "op"), _acl("creator_principals", "dev", "dev")],
        "view_roles": [_acl("roles", "op")],
    },
)
"""op may reserve and undo everything; dev only for the role dev, and undo only its own."""

UNRESERVABLE = Setup(
    agents=(A1,), acls={"reserve_resources": [{"principals": {"type": "ANY"}, "roles": {"type": "NONE"}}]}
)

UNDOES_ONE = Setup(
    agents=(A1,),
    acls={
        "unreserve_resources": [
            {"principals": {"type": "ANY"}, "reserver_principals": {"values": ["one"]}},
            {"principals": {"type": "ANY"}, "reserver_principals": {"type": "NONE"}},
        ]
    },
)
"""A master without authentication whose ACLs let everyone unreserve what the principal one reserved, only that."""

MAINTAINERS = Setup(
    agents=(A1,),
    flags={"authenticate_http_readwrite": "true"},
    principals=("op", "dev"),
    acls={
        "permissive": False,
        "register_agents": [{"principals": {"type": "ANY"}, "agents": {"type": "ANY"}}],
        "get_quotas": [_acl("roles", "op")],
        **{
            action: [_acl("machines", "op")]
            for action in (
                "update_maintenance_schedules",
                "get_maintenance_schedules",
                "start_maintenances",
                "stop_maintenances",
                "get_maintenance_statuses",
            )
        },
        **{
            action: [_acl("agents", "op")]
            for action in ("mark_agents_gone", "drain_agents", "deactivate_agents", "reactivate_agents")
        },
    },
)
"""op may do everything about machines and agents; dev nothing."""

ONE_SEES_LITTLE = Setup(
    agents=(A1, A2),
    flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
    principals=("op", "dev"),
    acls={
        "view_roles": [
            _acl("roles", "op"),
            _acl("roles", "dev", "dev", "dev/%"),
            {"principals": {"type": "ANY"}, "roles": {"type": "NONE"}},
        ]
    },
)
"""op may see every role; dev only dev and what is below it."""
