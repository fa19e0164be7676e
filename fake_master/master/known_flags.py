"""Which flags a master has, under the names that Mesos gives them, and their defaults.

The defaults are those that a 1.11.0 master shows; one that is not set and has no default is not shown.
"""

from mesosctl.core import master_flags

DEFAULTS = {
    **master_flags.DEFAULTS,
    "agent_ping_timeout": "15secs",
    "agent_reregister_timeout": "10mins",
    "allocation_interval": "1secs",
    "allocator": "hierarchical",
    "authenticate_agents": "false",
    "authenticate_frameworks": "false",
    "authenticate_http_frameworks": "false",
    "authenticate_http_readonly": "false",
    "authenticate_http_readwrite": "false",
    "authentication_v0_timeout": "15secs",
    "authenticators": "crammd5",
    "authorizers": "local",
    "framework_sorter": "drf",
    "help": "false",
    "hostname_lookup": "false",
    "http_authenticators": "basic",
    "initialize_driver_logging": "true",
    "log_auto_initialize": "true",
    "logbufsecs": "0",
    "logging_level": "INFO",
    "max_agent_ping_timeouts": "5",
    "max_completed_frameworks": "50",
    "max_completed_tasks_per_framework": "1000",
    "max_operator_event_stream_subscribers": "1000",
    "max_unreachable_tasks_per_framework": "1000",
    "memory_profiling": "false",
    "port": "5050",
    "publish_per_framework_metrics": "true",
    "quiet": "false",
    "recovery_agent_removal_limit": "100%",
    "registry": "in_memory",
    "registry_fetch_timeout": "1mins",
    "registry_gc_interval": "15mins",
    "registry_max_agent_age": "2weeks",
    "registry_max_agent_count": "102400",
    "registry_store_timeout": "20secs",
    "registry_strict": "false",
    "require_agent_domain": "false",
    "role_sorter": "drf",
    "root_submissions": "true",
    "version": "false",
    "webui_dir": "/usr/share/mesos/webui",
    "work_dir": "/var/lib/mesos",
    "zk_session_timeout": "10secs",
}
# Of lending idle reservations (spec/oversubscription.md), which no Mesos has; off unless given.
LENDING = ("oversubscribe_reservations", "lendable_names")
# Flags that a master has and does not show until they are given.
UNSET = (
    "acls",
    "cluster",
    "credentials",
    "domain",
    "fair_sharing_excluded_resource_names",
    "offer_timeout",
    "rate_limits",
    "roles",
    "weights",
    *LENDING,
)
# Switches of this fake master that no Mesos has; never shown.
OWN = ("rate_limit_http",)
# Flags of the strict priority allocator, and their defaults; shown with that allocator alone.
STRICT_PRIORITY = {"preemption": "false", "priorities": "", "revocation_grace_period": "5secs"}
# "HierarchicalDRF" is the real master's second name for its own.
ALLOCATORS = ("hierarchical", "HierarchicalDRF", master_flags.STRICT_PRIORITY_ALLOCATOR)
