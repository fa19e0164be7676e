"""Conditions of a cluster that somebody waits for, as people write them, and whether they hold."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, cast

from mesosctl.mesos.amounts.notation import parse_of_agents
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.roles import check_role, did_you_mean

Subject = Literal["agent", "role", "master", "offers", "reserved"]
AGENT_STATUSES = ("active", "deactivated", "draining", "drained")
"""The statuses of an agent that an operator brings about."""
FORMS: dict[Subject, str] = {
    "agent": f"agent/AGENT={'|'.join(AGENT_STATUSES)}",
    "role": "role/ROLE=met",
    "master": "master=recovered",
    "offers": "offers/ROLE",
    "reserved": "reserved/AGENT/ROLE=RESOURCES|none",
}
_FIELD = "CONDITION"


class Condition(NamedTuple):
    """One condition.

    An agent has a status, the guarantee of a role is met, a master waits for no agents after a failover, a role is
    offered something, or a role has resources of an agent reserved.
    """

    text: str
    """As it was written."""
    subject: Subject
    agent: str = ""
    role: str = ""
    status: str = ""
    """The wanted status, of an agent."""
    resources: Sequence[Resource] = ()
    """Reserved: exactly so much of each resource that is named; empty means that nothing is."""


class CheckedCondition(NamedTuple):
    """Whether a condition holds, and what the master shows."""

    condition: str
    holds: bool
    shows: str


def parse_condition(text: str) -> Condition:
    """Read a condition such as `agent/agent-1=drained`.

    Raises UsageError, and RuleViolation for wrong resources and for an invalid role.
    """
    subject, slash, rest = text.partition("/")
    if not slash:
        subject, _, rest = text.partition("=")
    read = _READERS.get(subject)
    if read is None:
        raise _no_condition(text, did_you_mean(subject, list(FORMS), f"a condition is {', '.join(FORMS.values())}"))
    if bool(slash) == (subject == "master"):
        raise _malformed(text, cast("Subject", subject))
    return read(text, rest)


def _agent(text: str, rest: str) -> Condition:
    agent, status = _in_two(text, "agent", rest)
    if status not in AGENT_STATUSES:
        raise UsageError(
            f"'{status}' is not a status of an agent that can be waited for",
            field=_FIELD,
            hint=did_you_mean(status, AGENT_STATUSES, f"write {FORMS['agent']}"),
        )
    return Condition(text, "agent", agent=agent, status=status)


def _role(text: str, rest: str) -> Condition:
    role, status = _in_two(text, "role", rest)
    if status != "met":
        raise _malformed(text, "role")
    return Condition(text, "role", role=check_role(role, _FIELD))


def _master(text: str, rest: str) -> Condition:
    if rest != "recovered":
        raise _malformed(text, "master")
    return Condition(text, "master")


def _offers(text: str, rest: str) -> Condition:
    if not rest:
        raise _malformed(text, "offers")
    return Condition(text, "offers", role=check_role(rest, _FIELD))


def _reserved(text: str, rest: str) -> Condition:
    place, amounts = _in_two(text, "reserved", rest)
    agent, _, role = place.partition("/")
    if not agent or not role:
        raise _malformed(text, "reserved")
    resources = [] if amounts == "none" else parse_of_agents(amounts)
    return Condition(text, "reserved", agent=agent, role=check_role(role, _FIELD), resources=resources)


_READERS: dict[str, Callable[[str, str], Condition]] = {
    "agent": _agent,
    "role": _role,
    "master": _master,
    "offers": _offers,
    "reserved": _reserved,
}


def _in_two(text: str, subject: Subject, rest: str) -> tuple[str, str]:
    """The parts before and after the last equals sign, as a role may contain others."""
    name, _, wanted = rest.rpartition("=")
    if not name or not wanted:
        raise _malformed(text, subject)
    return name, wanted


def _malformed(text: str, subject: Subject) -> UsageError:
    return _no_condition(text, f"write {FORMS[subject]}")


def _no_condition(text: str, hint: str) -> UsageError:
    return UsageError(f"'{text}' is not a condition", field=_FIELD, hint=hint)
