"""The laboratory: a fake master without a carrier, in virtual time, and frameworks upon it.

Lab        one master after another, and their clock, which moves when a test says so
Scheduler  a framework that hears everything, and launches what it is told to

Its words are those of `tests.conformance`, where the same is done on every carrier: `read` a path, `call` and `ask`,
`subscribe`, `accept`, `wait`.
"""

from .master import AGENT, JSON, PINGS, Lab, lasting
from .scheduler import Scheduler, scalar

__all__ = ["AGENT", "JSON", "PINGS", "Lab", "Scheduler", "lasting", "scalar"]
