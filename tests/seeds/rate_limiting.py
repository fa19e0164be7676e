"""Mesos's document "Framework Rate Limiting": its sentences by their opening words, its sample, and small limits."""

from collections.abc import Callable, Iterable

CONFIGURATION = (
    "Framework rate limiting is a feature introduced in Mesos 0.20.0.",
    "In a multi-framework environment, this feature aims to protect",
    "To throttle messages from a framework, the Mesos cluster operator sets a qps",
    "The master then promises not to process messages from that framework at a rate above qps.",
    "The outstanding messages are stored in memory on the master.",
    "The following is a sample config file (in JSON format)",
    "In this example, framework foo is throttled",
    "If there is a fourth framework qux or a framework without a principal",
    "principal: (Required) uniquely identifies the entity",
    "It should match the framework's FrameworkInfo.principal",
    "You can have multiple frameworks use the same principal",
    "qps: (Optional) queries per second, i.e., the rate.",
    "Once set, the master guarantees that it does not process messages from this principal higher",
    "However the master could be slower than this rate",
    "To explicitly give a framework unlimited rate",
    "capacity: (Optional) The number of outstanding messages",
    "If not specified, this principal is given unlimited capacity.",
    "Note that it is possible the queued messages use too much memory",
    "NOTE: If qps is not specified, capacity is ignored.",
    "Use aggregate_default_qps and aggregate_default_capacity to safeguard the master",
    "All the frameworks not specified in limits get this default rate and capacity.",
    "The rate and capacity are aggregate values for all of them",
    "Same as above, if aggregate_default_qps is not specified",
    "If these fields are not present, the unspecified frameworks are not throttled.",
    "This is an implicit way of giving frameworks unlimited rate",
    "We recommend using the explicit option",
)
OPERATION = (
    "While a framework is registered with the master, the master exposes counters",
    "For instance, framework foo has two message counters",
    "Without framework rate limiting the two numbers should differ by little or none",
    "By continuously monitoring the counters, you can derive the rate",
    "This should depict the characteristics of the framework in terms of network traffic.",
    "Since the goal for framework rate limiting is to prevent low-SLA frameworks",
    "The fact that they are throttled (regardless of the configured qps)",
    "To calculate how much capacity the master can handle",
    "However since this kind of calculation is imprecise, you should start with small values",
)
EXCEEDING = (
    "When a framework exceeds the capacity, a FrameworkErrorMessage is sent back",
    "It doesn't kill any tasks or the scheduler itself.",
    "The framework developer can choose to restart or failover the scheduler instance",
    "After version 0.20.0 we are going to iterate on this feature",
    "The scheduler can react by throttling itself",
    "Before the early alerting is implemented we don't recommend",
    "Of course it's OK to use it to protect production frameworks",
)

# The sample with the braces that it lost on its way into the document's text.
SAMPLE = {
    "limits": [
        {"principal": "foo", "qps": 55.5, "capacity": 100000},
        {"principal": "bar", "qps": 300},
        {"principal": "baz"},
    ],
    "aggregate_default_qps": 333,
    "aggregate_default_capacity": 1000000,
}
BROKEN = """\
  "limits": [
      "principal": "foo",
      "qps": 55.5
      "capacity": 100000
      "principal": "bar",
      "qps": 300
      "principal": "baz",
  "aggregate_default_qps": 333,
  "aggregate_default_capacity": 1000000
"""

P_1 = {"limits": [{"principal": "p", "qps": 1}]}
P_1_2 = {"limits": [{"principal": "p", "qps": 1, "capacity": 2}]}
NUMBERED = tuple(f"t{number}" for number in range(10))


class Sentences:
    """Which of these a test is about, said above it; and those that none is about."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.untested = set(sentences)

    def __call__(self, opening: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
        self.untested.remove(opening)
        return lambda test: test
