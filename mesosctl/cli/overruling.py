"""What an operator is told when another master is asked than the one the context names."""

from typing import Literal

from mesosctl.cli.settings import Settings
from mesosctl.core.errors import UsageError

Told = tuple[Literal["note", "warning"], str]


def refuse_two_clusters(settings: Settings) -> None:
    """Raises UsageError where the words name one cluster by its context, and the surroundings another.

    The variable would be the stronger of the two, and whoever has just typed the name of a context
    does not expect it.  A master that was typed as well has been thought of.
    """
    if settings.overruled is None or _kinds(settings) != ("flag", "environment"):
        return
    raise UsageError(
        f"--context {settings.context} means {_plain(settings.overruled.master)}, "
        f"and MESOSCTL_MASTER means {_plain(settings.options.master)}; which one?",
        field="--context",
        hint="unset MESOSCTL_MASTER, or say --master, which is stronger than both",
    )


def what_is_overruled(settings: Settings) -> Told | None:
    """How loudly, and in which words; None where nobody could be taken by surprise."""
    if settings.overruled is None:
        return None
    named = f"{settings.origin('master').name} names {_plain(settings.options.master)}"
    meant = f"context '{settings.context}' is for {_plain(settings.overruled.master)}"
    kept = ", ".join(settings.overruled.left_out)
    left_out = f": its {kept} {'is' if len(settings.overruled.left_out) == 1 else 'are'} left out" if kept else ""
    if _kinds(settings) in (("environment", "environment"), ("flag", "environment")):
        return "warning", f"{named}, and that is what is asked; {meant}{left_out}"
    return ("note", f"{named}, and {meant}{left_out}") if kept else None


def _kinds(settings: Settings) -> tuple[str, str]:
    """Where the context was named, and where the master."""
    return settings.origin("context").kind, settings.origin("master").kind


def _plain(address: str | None) -> str:
    from mesosctl.cli.configuration import without_password  # it has been read, or there is no context

    return f"'{without_password(address or '')}'"
