"""The attributes that the agents of a machine had when it was scheduled or taken down.

A master knows the attributes of registered agents alone, and those of a machine that is down are not registered.  They
are in the answers that the audit file keeps of this user's commands.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from mesosctl.audit.work import read_audit
from mesosctl.changes.audited_commands import AuditFilter
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.maintenance import AgentAttributes, Key, Machine

_KIND = "maintenance.changes"


def recorded_attributes(path: Path, master: str) -> dict[Key, Sequence[AgentAttributes]]:
    """Return the attributes of the agents of machines that were changed on this master, by machine.

    `master` is the address as commands name it.  What cannot be read is not known.
    """
    found: dict[Key, Sequence[AgentAttributes]] = {}
    try:
        commands = read_audit(path, AuditFilter(words=("maintenance",))).commands
    except BadInput:
        return found
    for audited in commands:
        answer = audited.answer or {}
        if answer.get("kind") == _KIND and _address(audited.author.master) == _address(master):
            for change in answer.get("changes", ()):
                if change.get("agent_attributes"):
                    found[_machine(change).key] = change["agent_attributes"]
    return found


def _machine(change: Mapping[str, object]) -> Machine:
    return Machine(str(change.get("hostname") or ""), str(change.get("ip") or ""))


def _address(master: str) -> str:
    """The address without what a `fake:` one asks for once, such as `?advance=60s`."""
    return master.partition("?")[0] if master.startswith("fake:") else master
