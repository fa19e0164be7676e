"""The conditions that a shell is offered."""

import typer

from mesosctl.cli.completion.callbacks import agents, begun, roles
from mesosctl.wait.conditions import AGENT_STATUSES


def conditions(ctx: typer.Context, incomplete: str) -> list[str]:
    """The conditions that can be waited for, with the agents and roles that they may be about."""
    subject, slash, rest = incomplete.partition("/")
    if not slash:
        return ["master=recovered", *begun("agent/", "role/", "offers/", "reserved/")]
    if subject == "agent":
        return [f"agent/{name}={status}" for name in agents(ctx) for status in AGENT_STATUSES]
    if subject == "role":
        return [f"role/{name}=met" for name in roles(ctx)]
    if subject == "offers":
        return [f"offers/{name}" for name in roles(ctx)]
    agent, has_role, _ = rest.partition("/")
    if has_role:
        return list(begun(*(f"reserved/{agent}/{name}=" for name in roles(ctx))))
    return list(begun(*(f"reserved/{name}/" for name in agents(ctx))))
