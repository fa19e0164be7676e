"""`mesosctl offers simulate`."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.files import named, opened
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.sharing import offer_simulation

Cluster = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A cluster file with [[frameworks]]; - is standard input.", show_default=False),
]
Steps = Annotated[int, typer.Option("--steps", metavar="NUMBER", min=1, help="Stop after so many offers taken.")]
Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Also draw dominant shares as a picture; - writes only that."),
]
EXAMPLES = (
    ("offers simulate cluster.toml", "who takes which offer, step by step"),
    ("offers simulate cluster.toml --svg shares.svg", "and as a picture"),
)


@verb(EXAMPLES)
def command(session: Session, cluster: Cluster, steps: Steps = 1000, svg: Svg = None) -> None:
    """Play a cluster file: who is chosen, shares, dominant shares and totals after each offer taken.

    No master is asked. Time is virtual, the allocator is the fake master's, and the lowest dominant
    share of a row is marked with an asterisk: whose it is, and has tasks to run, is served next. Where
    the file's flags give weights, a share counts divided by its role's weight, and guarantees come
    first; with the strict-priority allocator priority decides before that, and what was revoked before
    a step is shown.
    """
    from mesosctl.ops.offers.simulating import simulate

    with opened(cluster, "FILE", session.environment.stdin) as file:
        sharing = simulate(file, named(cluster), steps)
    instead = session.is_output(svg, "--svg")
    if not instead:
        session.emit(offer_simulation(sharing))
    if svg is not None:
        from mesosctl.ops.files import write_atomically
        from mesosctl.render.sharing_picture import picture

        if instead:
            session.emit_text(picture(sharing))
        else:
            write_atomically(svg, picture(sharing), field="--svg")
