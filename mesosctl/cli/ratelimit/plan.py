"""`mesosctl ratelimit plan`."""

from typing import Annotated

import typer

from mesosctl.cli.files import named
from mesosctl.cli.ratelimit.words import ConfigFile, read_config
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import ExitStatus

Memory = Annotated[
    str,
    typer.Option(
        "--memory", metavar="SIZE", help="What the master may use for queues: its limit less what it uses anyway."
    ),
]
MessageSize = Annotated[str, typer.Option("--message-size", metavar="SIZE", help="The average size of a message.")]

EXAMPLES = (
    ("ratelimit plan limits.json --memory 2GiB", "do full queues fit?"),
    ("ratelimit plan limits.json --memory 2GiB --message-size 4KiB", "with larger messages"),
)


@verb(EXAMPLES)
def command(session: Session, file: ConfigFile, memory: Memory, message_size: MessageSize = "1KiB") -> ExitStatus:
    """Sum up the capacities: the memory that full queues take, and what is left.

    The exit status is 1 where they do not fit, or where a queue has no end.
    """
    from mesosctl.core.ratelimit import check, plan_memory
    from mesosctl.core.sizes import parse_bytes
    from mesosctl.ops.ratelimit.config_file import parse
    from mesosctl.render.ratelimit import memory_plan

    limits = parse(read_config(session, file), named(file)).limits
    check(limits)
    plan = plan_memory(
        limits, memory=parse_bytes(memory, "--memory"), message_size=parse_bytes(message_size, "--message-size")
    )
    session.emit(memory_plan(plan))
    return ExitStatus.DONE if plan.fits else ExitStatus.ANSWER_IS_NO
