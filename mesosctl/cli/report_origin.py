"""The origin of an HTML report: the command that makes it, and the master that the command asked."""

from typing import TYPE_CHECKING

from mesosctl.cli.session import Session

if TYPE_CHECKING:
    from mesosctl.show.html_page import ReportOrigin


def origin(session: Session, source: str | None, recorded: str | None = None) -> "ReportOrigin":
    """The origin of a page, which may contain secrets; they are removed from the whole page.

    `source` names the file that was read instead of a live master, and `recorded` the master that a recording is of.
    """
    import shlex
    import time

    from mesosctl import __version__
    from mesosctl.show.html_page import ReportOrigin

    live = source is None
    return ReportOrigin(
        command=shlex.join(("mesosctl", *session.environment.words)),
        version=__version__,
        at=time.time(),
        master=session.options.master if live else recorded,
        file=source,
        context=session.settings.context_of_master if live else None,
        principal=session.options.principal if live else None,
    )
