"""The words and options that commands on rate limits share."""

import math
from typing import Annotated

import typer

from mesosctl.cli.files import read_text
from mesosctl.cli.session import Session
from mesosctl.core.errors import UsageError
from mesosctl.core.ratelimit import LARGEST_CAPACITY, RateLimit

ConfigFile = Annotated[
    str, typer.Argument(metavar="FILE", help="JSON as --rate_limits takes it; - is standard input.", show_default=False)
]
EditedFile = Annotated[
    str, typer.Option("--file", "-f", metavar="FILE", help="The file to edit; made if it is not there.")
]
Principal = Annotated[
    str, typer.Argument(metavar="PRINCIPAL", help="A principal, as in FrameworkInfo.principal.", show_default=False)
]
Qps = Annotated[
    float | None, typer.Option("--qps", metavar="NUMBER", help="Messages a second; never throttled without.")
]
Capacity = Annotated[
    int | None,
    typer.Option(
        "--capacity", metavar="NUMBER", min=0, max=LARGEST_CAPACITY, help="Messages that may wait; any number without."
    ),
]
Interval = Annotated[str, typer.Option("--interval", metavar="SPAN", help="Time between readings, such as 5s.")]


def read_config(session: Session, path: str) -> str:
    """The text of a configuration file.  Raises BadInput."""
    return read_text(path, "FILE", session.environment.stdin)


def limit_of(qps: float | None, capacity: int | None) -> RateLimit:
    """The limit that the options say.  Raises UsageError for a rate that no file can hold."""
    if qps is not None and not (qps > 0 and math.isfinite(qps)):
        raise UsageError(f"{qps:g} is not a rate: it must be above zero", field="--qps")
    return RateLimit(qps, capacity)
