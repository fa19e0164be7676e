"""`ratelimit validate`: everything that stops a master's start, and everything unwise."""

from mesosctl.client.master import Master
from mesosctl.core import ratelimit
from mesosctl.core.ratelimit_standing import FileCheck
from mesosctl.ops.ratelimit.config_file import parse
from mesosctl.ops.ratelimit.state import principals_if_allowed


def validate(text: str, name: str, where: str, master: Master | None = None) -> FileCheck:
    """Check a configuration; with a master also against the principals of its frameworks.

    `name` is the file as it was typed, and `where` what errors call it.
    Raises BadInput for what is not JSON or not as documented.
    """
    limits = parse(text, where).limits
    used = None if master is None else principals_if_allowed(master)
    return FileCheck(name, limits, (*ratelimit.errors(limits), *ratelimit.warnings(limits, used)))
