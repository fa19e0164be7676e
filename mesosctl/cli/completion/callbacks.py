"""The words that a shell is offered for options and arguments: callbacks for typer's `autocompletion=`.

Options are declared with these callbacks, so they do not depend on settings or masters: the names come from the
function that the environment provides (`cli.completion.answer`).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from mesosctl.cli.environment import Environment, Kind

ASKS = "_MESOSCTL_COMPLETE"
"""The variable in which typer's scripts pass their request."""


def is_asked(environment: "Environment") -> bool:
    """Whether a shell has started the program to complete a word."""
    return environment.variables.get(ASKS, "").startswith("complete_")


def roles(ctx: typer.Context) -> list[str]:
    """The names of roles."""
    return _names(ctx, "role")


def weights(ctx: typer.Context) -> list[str]:
    """The names of roles, each followed by the equals sign of its weight."""
    return list(begun(*(f"{role}=" for role in roles(ctx))))


def agents(ctx: typer.Context) -> list[str]:
    """Host names and ids of agents."""
    return _names(ctx, "agent")


def first_agent(ctx: typer.Context) -> list[str]:
    """The same for an argument whose first word is an agent."""
    return [] if ctx.params.get("words") else agents(ctx)


def frameworks(ctx: typer.Context) -> list[str]:
    """Names and ids of frameworks."""
    return _names(ctx, "framework")


def tasks(ctx: typer.Context) -> list[str]:
    """Ids of tasks, as far as a master lists them briefly."""
    return _names(ctx, "task")


def roles_and_frameworks(ctx: typer.Context) -> list[str]:
    """The names of roles, and names and ids of frameworks."""
    return [*roles(ctx), *frameworks(ctx)]


def contexts(ctx: typer.Context) -> list[str]:
    """The names of contexts."""
    return _names(ctx, "context")


def several_contexts(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of contexts, separated by commas."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in contexts(ctx) if name not in before.split(",")]


def addresses() -> list[str]:
    """The ways to name a master."""
    return ["fake:", *begun("http://", "https://", "zk://", "file:///")]


def changes(ctx: typer.Context, incomplete: str) -> list[str]:
    """The kinds of changes that `whatif` knows; after one, the roles or agents that it may be of."""
    from mesosctl.planning.whatif_changes import VERBS

    verb, colon, _ = incomplete.partition(":")
    if not colon:
        return list(begun(*(f"{verb}:" for verb in VERBS)))
    if verb == "remove-quota":
        return [f"{verb}:{role}" for role in roles(ctx)]
    names = roles(ctx) if verb in _OF_ROLES else agents(ctx) if verb in _OF_AGENTS else []
    return list(begun(*(f"{verb}:{name}=" for name in names)))


_OF_ROLES = ("quota", "limit", "weight", "priority")
_OF_AGENTS = ("reserve", "unreserve", "create", "destroy")


def conditions(ctx: typer.Context, incomplete: str) -> list[str]:
    """The conditions that can be waited for, with the agents and roles that they may be about."""
    from mesosctl.model.conditions import AGENT_STATUSES

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


def permissions(ctx: typer.Context) -> list[str]:
    """The next word of a command about which can-i knows, and then the role that it is about."""
    from mesosctl.model.command_permissions import VERBS

    typed = " ".join(ctx.params.get("words") or ())
    if typed in VERBS:
        return roles(ctx) if VERBS[typed].of == "role" else []
    start = f"{typed} " if typed else ""
    return list(dict.fromkeys(name[len(start) :].split()[0] for name in VERBS if name.startswith(start)))


def begun(*words: str) -> Iterator[str]:
    """Words that continue: shells add a space to a single match, so each has two."""
    for word in words:
        yield from (word, f"{word}…")


def _names(ctx: typer.Context, kind: "Kind") -> list[str]:
    environment: Environment = ctx.find_root().obj
    return environment.find_names(ctx, kind)
