"""What a master that lends tells beside what Mesos tells, so that a picture can be made of it.

    agent      "lending": {"guests": [{"framework_id", "task_id", "standing": "running" | "waiting" | "ending"}],
                           "debts": [{"framework_id", "role", "resources": [Resource]}],
                           "stop_seconds": 2.0}
    framework  "refusals": [{"agent_id", "role", "resources": [Resource], "seconds": 3600.0}]

Guests are the tasks that the agent has heard of, those that have started in the order of their start.
"""

from typing import TYPE_CHECKING, Any

from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.wire.resources import list_to_json

if TYPE_CHECKING:
    from fake_master.master.agents import Agent
    from fake_master.master.frameworks import Framework
    from fake_master.master.master import Master


def agent(master: "Master", of: "Agent") -> dict[str, Any]:
    """What is added to an agent; nothing on a master that does not lend."""
    if master.lending is None or master.tenancy is None:
        return {}
    debts = master.lending.lent.agent(of.id).debt
    guests = master.tenancy.guests(of.id)
    return {
        "lending": {
            "guests": [
                {"framework_id": {"value": framework.id}, "task_id": {"value": task.id}, "standing": standing}
                for framework, task, standing in guests
            ],
            "debts": [
                {
                    "framework_id": {"value": tenant.framework},
                    "role": tenant.role.name,
                    "resources": list_to_json(
                        Resources(Resource(name, milli, revocable=True) for name, milli in sorted(amounts.items())),
                        "POST",
                    ),
                }
                for tenant, amounts in debts.items()
            ],
            "stop_seconds": master.task_fate.stop_seconds,
        }
    }


def framework(master: "Master", of: "Framework") -> dict[str, Any]:
    """What is added to a framework."""
    if master.lending is None or of.id not in master.frameworks:
        return {}
    return {
        "refusals": [
            {
                "agent_id": {"value": agent_id},
                "role": role,
                "resources": list_to_json(refused, "POST"),
                "seconds": seconds,
            }
            for agent_id, role, refused, seconds in master.lending.refusals(of.id)
        ]
    }
