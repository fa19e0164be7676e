"""`mesosctl offers`: its verbs."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    Amounts,
    Every,
    LabelWords,
    names_argument,
    nothing_found,
    pairs,
    parse_amounts,
    role_option,
    selectors_of,
)
from mesosctl.cli.command import Command, Group, SingleChangeCommand, SingleCommand, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named, opened, read_text
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.files.writing import write_atomically
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import BadInput, Conflict, UsageError
from mesosctl.mesos.messages.offers import accept_call, read_offer
from mesosctl.mesos.names import agent_names
from mesosctl.mesos.rules.offers import offers
from mesosctl.mesos.rules.offers.offers import OfferOperation, OutstandingOffer, Reserver, check_offered
from mesosctl.offers.dominant_shares import offer_simulation
from mesosctl.offers.report import change_line, explanation_report, offer_call, offer_list, offer_taken
from mesosctl.offers.work import OFFER_KEYS, OfferSelection, select_offers, watch_offers
from mesosctl.reading.list_options import Count, OnAgentsWith, Watch, show_list, sort_option
from mesosctl.reading.offers_after_failover import recovery_if_shown
from mesosctl.reading.quotas import check_entries
from mesosctl.show.charts import chart
from mesosctl.show.output_formats import NARROW
from mesosctl.show.report import Report

app = typer.Typer(cls=Group, rich_markup_mode=None)

Framework = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="FRAMEWORK",
        autocompletion=completing.frameworks,
        help="Only offers to this framework, by id or name.",
    ),
]
OfRole = Annotated[str | None, role_option("Only offers in this role or in a role below it.")]
OfferNames = Annotated[list[str] | None, names_argument("OFFER", None, "Show only these: ids of offers.")]
SortOffers = Annotated[str | None, sort_option(OFFER_KEYS)]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="AGENT",
        autocompletion=completing.agents,
        help="Only offers of this agent: its id, the beginning or end of its id, or its host name.",
    ),
]
OfferFile = Annotated[
    str,
    typer.Option(
        "--offer",
        metavar="FILE",
        help="An Offer or an OFFERS event in JSON; - is standard input.",
        show_default=False,
    ),
]
OfferId = Annotated[
    str | None, typer.Option("--id", metavar="OFFER", help="The id of the offer, if the file has several.")
]
Owner = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="ROLE",
        autocompletion=completing.roles,
        help="The role that owns the reservation. The default is the offer's role.",
    ),
]
SubscribedRole = Annotated[str, role_option("The role to subscribe with.")]
Reserve = Annotated[
    list[str] | None,
    typer.Option("--reserve", metavar="RESOURCES", help="Reserve this for the role. Repeat for several."),
    Meaning.AMOUNTS,
]
Unreserve = Annotated[
    list[str] | None,
    typer.Option("--unreserve", metavar="RESOURCES", help="Unreserve this. Repeat for several."),
    Meaning.AMOUNTS,
]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("offers list", "every outstanding offer"),
        ("offers list --role ads -o wide", "the offers in one role, with ids"),
        ("offers list --attribute rack=r1 --sort cpus", "what a rack offers, the largest offer first"),
    ),
)
def list_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    names: OfferNames = None,
    *,
    framework: Framework = None,
    role: OfRole = None,
    agent: Agent = None,
    attribute: OnAgentsWith = None,
    sort: SortOffers = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List outstanding offers and the frameworks that hold them.

    mesosctl offers watch shows them one by one, as they come and go.
    """
    session: Session = ctx.obj
    wanted = OfferSelection(framework, role, agent, names or (), selectors_of(attribute), sort)
    said = {
        "--framework": framework,
        "--role": role,
        "--agent": agent,
        "--attribute": ",".join(attribute or ()) or None,
    }

    def read(master: LeadingMaster) -> Report:
        found, spelling = select_offers(master, wanted)
        recovering = "" if found else recovery_if_shown(master)
        empty = recovering or nothing_found("nothing is offered", said)
        return offer_list(found, empty=empty, sort=sort, spelling=spelling)

    show_list(session, read, watch=watch, every=every, count=count)


Changes = Annotated[
    int | None,
    typer.Option(
        "--changes", metavar="NUMBER", min=1, help="Stop after this many lines. The default is to run until Ctrl-C."
    ),
]


@app.command(
    "watch",
    cls=SingleCommand,
    epilog=examples(
        ("offers watch", "what is offered now, and every change"),
        ("offers watch -o jsonl --role ads", "the offers of one role, as JSON lines"),
    ),
)
def watch(
    ctx: typer.Context,
    framework: Framework = None,
    role: OfRole = None,
    agent: Agent = None,
    every: Every = 1.0,
    changes: Changes = None,
) -> None:
    """Show offers as they come (+) and go (-), one line each.

    A master does not announce offers to operators, so mesosctl polls it, and misses offers that come and go between two
    readings. If the master cannot be reached, mesosctl waits for it.
    """
    session: Session = ctx.obj
    wanted = OfferSelection(framework, role, agent)
    with session.open_master() as master:
        for number, change in enumerate(watch_offers(master, wanted, every, session.note), 1):
            line = change_line(change.what, change.offer, session.form, change.agent)
            session.emit_line(line, "gained" if change.what == "offered" else "lost")
            if number == changes:
                return


Target = Annotated[
    str,
    typer.Argument(
        metavar="ROLE|FRAMEWORK",
        autocompletion=completing.roles_and_frameworks,
        help="A role, or a framework by id or name.",
        show_default=False,
    ),
]


@app.command(
    "explain",
    cls=Command,
    epilog=examples(
        ("offers explain ads", "every framework of a role"),
        ("offers explain marathon -o json", "every role of a framework, for a program"),
    ),
)
def explain(ctx: typer.Context, target: Target) -> None:
    """Explain why a role or framework is offered nothing.

    The allocator runs on a snapshot of the cluster and accounts for the resources of every agent: what others hold,
    what is reserved, what is kept for guarantees, what lies beyond a limit, and what the framework itself rules out.
    The answer also names what a master does not show, such as declined offers. Many alike frameworks are added up; -o
    wide shows each of them, and every agent. Nothing is changed.
    """
    from mesosctl.offers.explanation import explain

    session: Session = ctx.obj
    with session.open_master() as master:
        with session.waiting() as tell:
            explanations = explain(master, target, tell)
        session.emit(explanation_report(explanations, each=session.form not in NARROW))


Cluster = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A cluster file, or a snapshot; - is standard input.", show_default=False),
]
Steps = Annotated[int, typer.Option("--steps", metavar="NUMBER", min=1, help="Stop after this many accepted offers.")]
Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Also draw the dominant shares as SVG; - writes only the drawing."),
]


@app.command(
    "simulate",
    cls=SingleCommand,
    epilog=examples(
        ("offers simulate cluster.toml", "show who takes which offer, step by step"),
        ("offers simulate cluster.toml --svg shares.svg", "also draw the shares"),
    ),
)
def simulate(ctx: typer.Context, cluster: Cluster, steps: Steps = 1000, svg: Svg = None) -> None:
    """Simulate a cluster file or snapshot, offer by offer.

    It shows shares, dominant shares and totals after each accepted offer. No master is contacted, time is virtual, and
    the allocator is the fake master's. An asterisk marks each row's lowest dominant share: its framework is served
    next, if it has tasks to run. A share is divided by the weight of its role, guarantees come first, and a parent's
    share is that of everything that the roles below it hold. With the strict priority allocator, priority comes
    before all of that, and each step shows what was revoked before it.

    Frameworks of a snapshot launch more tasks of the average size of their running tasks. export --cluster writes a
    file in which you can change that.
    """
    from mesosctl.offers.work import simulate

    session: Session = ctx.obj
    with opened(cluster, "FILE", session.environment.stdin) as file:
        sharing = simulate(file, named(cluster), steps)
    instead = session.is_output(svg, "--svg")
    if not instead:
        session.emit(offer_simulation(sharing))
    if svg is not None:
        if instead:
            session.emit_text(chart(sharing))
        else:
            write_atomically(svg, chart(sharing), field="--svg")


@app.command(
    "take",
    cls=SingleChangeCommand,
    epilog=examples(
        ("offers take --role ads --reserve cpus:2 --reserve mem:1GiB", "reserve for ads on any agent"),
        ("offers take --role ads --unreserve cpus:2 --timeout 120", "unreserve 2 cpus, within two minutes"),
    ),
)
def take(
    ctx: typer.Context,
    role: SubscribedRole,
    reserve: Reserve = None,
    unreserve: Unreserve = None,
    agent: Agent = None,
    label: LabelWords = None,
) -> None:
    """Reserve or unreserve as a framework does.

    mesosctl subscribes a framework, which waits for an offer that fits, uses it and leaves. The framework declines all
    other offers, and is always torn down at the end.
    """
    session: Session = ctx.obj
    if bool(reserve) == bool(unreserve):
        raise UsageError("give either --reserve or --unreserve", field="--reserve", hint="give one of them")
    from mesosctl.offers.work import agents_meant, take

    wanted = parse_amounts(reserve or unreserve or ())
    owner = _reserver(session, label)

    with session.open_master() as master:
        # Otherwise every offer would be declined until the deadline, for no visible reason.
        meant = None if agent is None else agents_meant(master, agent)
        seen: dict[str, str] = {}

        def attempt(offer: OutstandingOffer) -> OfferOperation:
            if agent is not None:
                seen[offer.agent_id] = offer.hostname
                known = meant if meant is not None else agent_names(seen).every(agent, "--agent")
                if offer.agent_id not in known:
                    raise Conflict(f"{offer.hostname} is not {agent}")
            return offers.reserve(wanted, offer, owner) if reserve else offers.unreserve(wanted, offer)

        check_entries(master, wanted)
        with session.waiting() as tell:
            taken = take(master, role, owner.principal, attempt, tell)
        session.emit(offer_taken(taken))


def _reserver(session: Session, labels: list[str] | None) -> Reserver:
    """The principal of the settings, and the labels of --label."""
    principal = session.options.principal or session.environment.variables.get("MESOSCTL_PRINCIPAL")
    return Reserver(principal, dict(pairs(labels, "--label")))


def _read_offer(session: Session, file: str, offer_id: str | None, wanted: list[Resource]) -> OutstandingOffer:
    """The offer of --offer, in which every name of `wanted` is known.  Raises BadInput and RuleViolation."""
    text = read_text(file, "--offer", session.environment.stdin)
    try:
        received = read_offer(text, named(file), offer_id)
    except BadInput as error:
        if error.rule == "offer.one":
            error.field = "--offer"
        raise
    check_offered(wanted, received)
    return received


@app.command(
    "reserve",
    cls=SingleCommand,
    epilog=examples(
        (
            "offers reserve --offer offer.json cpus:2 mem:1GiB --principal web",
            "a call that reserves resources of this offer",
        ),
        ("offers reserve --offer offer.json 'cpus(ads):2' --for ads/web", "a call that refines a reservation"),
    ),
)
def reserve(
    ctx: typer.Context,
    resources: Amounts,
    offer: OfferFile,
    offer_id: OfferId = None,
    owner: Owner = None,
    label: LabelWords = None,
) -> None:
    """Build the ACCEPT call that reserves resources of an offer.

    The call is checked, but not sent. It uses the offer's format: role and reservation, or the reservation stack
    for a framework with RESERVATION_REFINEMENT.
    """
    session: Session = ctx.obj
    wanted = parse_amounts(resources)
    received = _read_offer(session, offer, offer_id, wanted)
    operation = offers.reserve(wanted, received, _reserver(session, label), role=owner)
    session.emit(offer_call(accept_call([received], operation).content()))


@app.command(
    "unreserve",
    cls=SingleCommand,
    epilog=examples(
        ("offers unreserve --offer offer.json cpus:2", "a call that unreserves 2 cpus"),
    ),
)
def unreserve(
    ctx: typer.Context, resources: Amounts, offer: OfferFile, offer_id: OfferId = None, owner: Owner = None
) -> None:
    """Build the ACCEPT call that unreserves resources of an offer.

    The call is checked, but not sent. It names the reserved resources, entry by entry, in the offer's own format.
    """
    session: Session = ctx.obj
    wanted = parse_amounts(resources)
    received = _read_offer(session, offer, offer_id, wanted)
    session.emit(offer_call(accept_call([received], offers.unreserve(wanted, received, role=owner)).content()))
