"""The words that context commands share, and reading the file for them."""

from collections.abc import Mapping
from typing import Annotated

import typer

from mesosctl.cli.configuration import Configuration, read
from mesosctl.cli.names import forget, keep_contexts
from mesosctl.cli.session import Session
from mesosctl.cli.settings import existing_configuration

Name = Annotated[str, typer.Argument(metavar="CONTEXT", help="The name of a context.", show_default=False)]


def read_configuration(session: Session) -> Configuration | None:
    """The file, None where there is none."""
    variables = session.environment.variables
    path = existing_configuration(variables)
    configuration = read(path) if path is not None else None
    keep_contexts(sorted(configuration.contexts) if configuration else (), variables)
    return configuration


def tell_completions(configuration: Configuration, variables: Mapping[str, str]) -> None:
    """Names that were kept for a context may be another cluster's now."""
    forget(variables)
    keep_contexts(sorted(configuration.contexts), variables)
