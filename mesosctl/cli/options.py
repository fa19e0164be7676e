"""The global options, each declared once; every command takes them, before and after its words."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

import typer

OutputForm = Literal["table", "wide", "json", "jsonl", "csv", "name"]
Api = Literal["auto", "v0", "v1"]


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """What was said of each; None where nothing was."""

    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="ADDRESS",
            help="http://host:5050, several with commas, or fake:. Without a port, http:// means 80 and https:// 443, "
            "and a bare host 5050. [env: MESOSCTL_MASTER]",
        ),
    ] = None
    output: Annotated[
        OutputForm | None, typer.Option("--output", "-o", help="How data is written; table unless given.")
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline over all attempts; 30 unless given."),
    ] = None
    principal: Annotated[
        str | None, typer.Option("--principal", metavar="NAME", help="Who asks. [env: MESOSCTL_PRINCIPAL]")
    ] = None
    secret_file: Annotated[
        str | None,
        typer.Option(
            "--secret-file",
            metavar="FILE",
            help="Holds the principal's secret. [env: MESOSCTL_SECRET, the secret itself]",
        ),
    ] = None
    cacert: Annotated[
        str | None, typer.Option("--cacert", metavar="FILE", help="Authorities to trust instead of the system's.")
    ] = None
    cert: Annotated[str | None, typer.Option("--cert", metavar="FILE", help="Certificate of this client.")] = None
    key: Annotated[str | None, typer.Option("--key", metavar="FILE", help="Key of that certificate.")] = None
    api: Annotated[
        Api | None,
        typer.Option("--api", help="Which of the master's interfaces makes changes; auto unless given."),
    ] = None
    no_wait: Annotated[
        bool | None, typer.Option("--no-wait", help="Do not read an accepted change back.", show_default=False)
    ] = None
    yes: Annotated[bool | None, typer.Option("--yes", "-y", help="Answer yes to every question.")] = None
    quiet: Annotated[bool | None, typer.Option("--quiet", "-q", help="No notes, only data and errors.")] = None
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose", "-v", count=True, help="Show each exchange; -vv also where a bug arose.", show_default=False
        ),
    ] = 0

    def over(self, weaker: "GlobalOptions") -> "GlobalOptions":
        """These options, and those of `weaker` where these say nothing."""
        chosen = {}
        for option in fields(self):
            mine, theirs = getattr(self, option.name), getattr(weaker, option.name)
            chosen[option.name] = mine + theirs if option.name == "verbose" else theirs if mine is None else mine
        return GlobalOptions(**chosen)
