"""The changes that a shell is offered."""

from collections.abc import Iterable

import typer

from mesosctl.cli.completion.callbacks import agents, begun, roles
from mesosctl.whatif.changes import RESTARTS, VERBS


def changes(ctx: typer.Context, incomplete: str) -> list[str]:
    """The kinds of changes that `whatif` knows; after one, the roles or agents that it may be of."""
    return _changes(ctx, incomplete, VERBS)


def replayed_changes(ctx: typer.Context, incomplete: str) -> list[str]:
    """The same for `replay`, which knows moments, but restarts no master."""
    return _changes(ctx, incomplete, ("at", *(verb for verb in VERBS if verb not in RESTARTS)))


def _changes(ctx: typer.Context, incomplete: str, verbs: Iterable[str]) -> list[str]:
    verb, colon, _ = incomplete.partition(":")
    if not colon:
        return list(begun(*(f"{verb}:" for verb in verbs)))
    if verb == "remove-quota":
        return [f"{verb}:{role}" for role in roles(ctx)]
    names = roles(ctx) if verb in _OF_ROLES else agents(ctx) if verb in _OF_AGENTS else []
    return list(begun(*(f"{verb}:{name}=" for name in names)))


_OF_ROLES = ("quota", "limit", "weight", "priority")


_OF_AGENTS = ("reserve", "unreserve", "create", "destroy")
