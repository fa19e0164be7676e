"""The laboratory: a fake master without a carrier, in virtual time, and frameworks upon it.

Lab          one master after another, and their clock, which moves when a test says so
Scheduler    a framework that hears everything, and launches what it is told to
CommandLine  commands that somebody types at the master

Its words are those of `tests.conformance`, where the same is done on every carrier: `read` a path, `call` and `ask`,
`subscribe`, `accept`, `wait`.
"""

from tests.helpers.lab.command_line import CommandLine
from tests.helpers.lab.master import AGENT, JSON, PINGS, Lab, lasting
from tests.helpers.lab.scheduler import Scheduler, scalar

__all__ = ["AGENT", "JSON", "PINGS", "CommandLine", "Lab", "Scheduler", "lasting", "scalar"]
