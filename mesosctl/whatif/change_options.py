"""Options of both `whatif` and `replay`: they name changes, and alternatives of changes."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mesosctl.cli.arguments import pairs
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.meanings import Meaning
from mesosctl.mesos.amounts.notation import parse_fraction
from mesosctl.mesos.cluster.selectors import is_selector, parse_selector
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.names import kind_of
from mesosctl.whatif.changes import Change, parse_change
from mesosctl.whatif.variants import Template, expand, parse_template
from mesosctl.whatif.work import named_changes

Several = tuple[tuple[str, Change], ...] | Template
"""The changes of --each, or the template of --find-largest."""

Lost = Annotated[
    list[str] | None,
    typer.Option(
        "--lose-agent",
        metavar="AGENT",
        autocompletion=completing.agents_or_attributes,
        help="Remove this agent, or every agent that is selected, as by rack=r1, 'rack in (r1,r2)' or '!gpu'. Repeat "
        "for several.",
    ),
]


def _fraction(text: str) -> float:
    """The value of --lose-fraction.  Raises UsageError."""
    part = parse_fraction(text)
    if not 0 < part <= 1:
        raise UsageError(
            f"--lose-fraction is '{text}': it must be above 0 and at most 1, or 100%",
            field="--lose-fraction",
            hint="write 0.2 or 20% for a fifth of the agents; to lose particular agents, use --lose-agent",
        )
    return part


Fraction = Annotated[
    float | None,
    typer.Option(
        "--lose-fraction",
        metavar="PART",
        parser=_fraction,
        help="Remove this fraction of all agents, such as 0.2 or 20% for a fifth, rounded up to whole agents. They are "
        "spread evenly over the sorted host names, so they are the same every time.",
        show_default=False,
    ),
]
Added = Annotated[
    list[str] | None,
    typer.Option("--add-agent", metavar="RESOURCES", help="Add an agent with these resources. Repeat for several."),
    Meaning.AMOUNTS,
]
Count = Annotated[
    int | None,
    typer.Option("--count", metavar="N", min=1, max=100_000, help="How many of each --add-agent. The default is 1."),
]
Attribute = Annotated[
    list[str] | None,
    typer.Option("--attribute", metavar="NAME=VALUE", help="An attribute of the added agents. Repeat for several."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Skip the checks of capacity and of what the role uses.", show_default=False)
]


def added_framework_option(since: str) -> typer.models.OptionInfo:
    """`--add-framework FRAMEWORK`; `since` says from when on it asks for tasks."""
    option: typer.models.OptionInfo = typer.Option(
        "--add-framework",
        metavar="FRAMEWORK",
        help=f"Add a framework that asks for tasks, {since}: "
        "'role=db;task=cpus:2;tasks=9;every=1m;lasts=1h'. Without tasks, it asks for one; without every, "
        "for all at once; without lasts, they run until the end. Repeat for several.",
    )
    return option


def each_option(doing: str) -> typer.models.OptionInfo:
    """`--each CHANGE`; `doing` says what is done with each of the changes."""
    sentence = f"{doing}: 'quota:web=cpus:{{8,12,16}}' or {{8..16..4}}. Repeat for several."
    option: typer.models.OptionInfo = typer.Option("--each", metavar="CHANGE", help=sentence)
    return option


def find_largest_option(harmless: str) -> typer.models.OptionInfo:
    """`--find-largest CHANGE`; `harmless` says which amounts count."""
    sentence = f"Find the largest amount for the ? that is accepted and {harmless}: 'quota:web=cpus:?;mem:6GiB'."
    option: typer.models.OptionInfo = typer.Option("--find-largest", metavar="CHANGE", help=sentence)
    return option


def wait_limit_option(when: str = "") -> typer.models.OptionInfo:
    """`--wait-limit SPAN`; `when` says when it counts."""
    sentence = f"The wait that is too long{when}. The default is 1h."
    option: typer.models.OptionInfo = typer.Option("--wait-limit", metavar="SPAN", help=sentence)
    return option


def read_changes(  # one parameter an option
    words: Sequence[str] = (),
    *,
    lose_agent: Sequence[str] | None,
    lose_fraction: float | None,
    add_agent: Sequence[str] | None,
    count: int | None,
    attribute: Sequence[str] | None,
    lose_framework: Sequence[str] | None = None,
) -> list[tuple[str, Change]]:
    """The changes with their names, in order: agents and frameworks that come and go, then those of `words`.

    Raises UsageError and RuleViolation.
    """
    unused = "--count" if count is not None else "--attribute"
    if not add_agent and (count is not None or attribute):
        raise UsageError(
            f"{unused} applies to added agents, but no agent is added",
            field=unused,
            hint="give --add-agent RESOURCES too",
        )
    for word in lose_agent or ():
        if is_selector(word) and kind_of(word)[0] is None:
            parse_selector(word, "--lose-agent")  # before a cluster is read
        elif "," in word:
            raise UsageError("--lose-agent is one agent", field="--lose-agent", hint="repeat the option for each")
    return named_changes(
        words,
        lose_agents=lose_agent or (),
        lose_fraction=lose_fraction or 0.0,
        lose_frameworks=lose_framework or (),
        add_agents=add_agent or (),
        count=count or 1,
        attributes=dict(pairs(attribute, "--attribute")),
    )


def read_several(each: Sequence[str] | None, find_largest: str | None, report: str | None) -> Several | None:
    """The changes of --each, or the template of --find-largest.  Raises UsageError."""
    if each and find_largest is not None:
        raise UsageError("--each and --find-largest cannot be used together", field="--each", hint="give one of them")
    if each and report is not None:
        raise UsageError(
            "--report writes one forecast, but --each makes several",
            field="--report",
            hint="choose one change, and give it as CHANGES with --report",
        )
    if find_largest is not None:
        return parse_template(find_largest)
    return tuple((word, parse_change(word)) for text in each or () for word in expand(text)) or None


def changes_of(several: Several | None) -> Sequence[tuple[str, Change]]:
    """The alternatives, or an example of the template with an amount.  Raises UsageError, RuleViolation."""
    if several is None or isinstance(several, tuple):
        return several or ()
    return [(several.word, parse_change(several.with_amount(1000)))]
