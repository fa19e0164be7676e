"""A fake master for the tests of other programs, and its pytest plugin."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fake_master.testing.fake import FakeMaster as FakeMaster
    from fake_master.testing.values import Agent as Agent
    from fake_master.testing.values import AgentConfig as AgentConfig
    from fake_master.testing.values import Framework as Framework
    from fake_master.testing.values import FrameworkConfig as FrameworkConfig
    from fake_master.testing.values import Offer as Offer
    from fake_master.testing.values import QuotaConfig as QuotaConfig
    from fake_master.testing.values import Role as Role
    from fake_master.testing.values import Task as Task
    from fake_master.testing.values import TaskConfig as TaskConfig

DEFAULT_AGENT = "cpus:4;mem:8GiB;disk:10GiB;ports:[31000-32000]"
"""The resources of an agent of which nothing is said."""
_VALUES = (
    "Agent",
    "AgentConfig",
    "Framework",
    "FrameworkConfig",
    "Offer",
    "QuotaConfig",
    "Role",
    "Task",
    "TaskConfig",
)


def __getattr__(name: str) -> Any:
    """Load a public name of `fake_master` when it is first asked for."""
    if name == "FakeMaster":
        from fake_master.testing.fake import FakeMaster

        return FakeMaster
    if name not in _VALUES:  # also of a module of this package that is being imported
        raise AttributeError(f"module 'fake_master.testing' has no attribute '{name}'")
    from fake_master.testing import values

    return getattr(values, name)
