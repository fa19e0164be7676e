"""The words that a shell is offered for options and arguments: callbacks for typer's `autocompletion=`.

Options are declared with these callbacks, so they do not depend on settings or masters: the names come from the
function that the environment provides (`cli.completion.answer`).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from mesosctl.shells.scripts import GOES_ON

if TYPE_CHECKING:
    from mesosctl.cli.environment import Environment, Kind


def roles(ctx: typer.Context) -> list[str]:
    """The names of roles."""
    return _names(ctx, "role")


def weights(ctx: typer.Context) -> list[str]:
    """The names of roles, each followed by the equals sign of its weight."""
    return list(begun(*(f"{role}=" for role in roles(ctx))))


def agents(ctx: typer.Context) -> list[str]:
    """Host names and ids of agents."""
    return _names(ctx, "agent")


def attributes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Attributes of agents: their names, and once one is typed with its sign, its values."""
    negated, end = "!" * incomplete.startswith("!"), incomplete.find("=")
    known = [pair.partition("=") for pair in _names(ctx, "attribute")]
    if negated or end < 0:
        names = dict.fromkeys(f"{negated}{name}" for name, _, _ in known)
        return [*names] if negated else list(begun(*(f"{name}=" for name in names)))
    sign = "!=" if incomplete[:end].endswith("!") else "="
    return [f"{name}{sign}{value}" for name, _, value in known]


def agents_or_attributes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Agents, and attributes by which they are selected."""
    return [*agents(ctx), *attributes(ctx, incomplete)]


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
    """The names of roles, and names and ids of frameworks; with the kind in front if one is called like another."""
    from mesosctl.mesos.names import spelled, with_kind

    of_roles, of_frameworks = roles(ctx), frameworks(ctx)
    shared = set(of_roles).intersection(of_frameworks)
    return [
        *(with_kind("role", role) if role in shared else spelled("role", role) for role in of_roles),
        # No role is called like an id, which is spelled with its kind if it could be the name of a framework.
        *(with_kind("name", framework) if framework in shared else framework for framework in of_frameworks),
    ]


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


def begun(*words: str) -> Iterator[str]:
    """Words that go on, so that no space follows them."""
    return (f"{word}{GOES_ON}" for word in words)


def _names(ctx: typer.Context, kind: "Kind") -> list[str]:
    environment: Environment = ctx.find_root().obj
    return environment.find_names(ctx, kind)
