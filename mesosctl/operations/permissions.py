"""Asking a master for a permission, without changing anything.

A read is sent.  A change is sent as a call that a master authorizes and then cannot carry out: about an agent that does
not exist, or a resource that no agent has.  403 means no, and the refusal that follows the authorization means yes.
docs/reference/permissions.md lists the commands for which there is such a call.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import NamedTuple

from mesosctl.client.leading_master import Master
from mesosctl.model.acls import Acls
from mesosctl.model.command_permissions import Permission, Question, judge
from mesosctl.model.errors import Forbidden
from mesosctl.model.quantities import Quantities
from mesosctl.model.resource import Disk, Labels, Reservation, Resource

NOTHING = "mesosctl-can-i"
"""The name of an agent, a resource and a volume that no cluster has."""
_LABELS = Labels([(NOTHING, "")])
"""With it, a reservation differs from all others, so that no offer is rescinded to make room."""

_READS: Mapping[str, tuple[str, ...]] = {
    "agents list": ("/slaves?slave_id=none",),
    "frameworks list": ("/frameworks?framework_id=none",),
    "maintenance list": ("/maintenance/schedule", "/maintenance/status"),
    "quota list": ("/quota",),
    "ratelimit show": ("/flags",),
    "reservations": ("/slaves?slave_id=none",),
    "roles list": ("/roles",),
    "tasks list": ("/tasks?limit=1",),
    "volumes list": ("/slaves?slave_id=none",),
    "weights list": ("/weights",),
}
"""The paths that are read to try a command that only reads."""


class Trial(NamedTuple):
    """A call that no master can carry out, and the HTTP status with which a master refuses it once it is authorized."""

    call: bytes
    refused_with: int


class PermissionsOfMaster:
    """The permissions of the principal whose credentials a master gets.

    What cannot be tried is answered by `acls`, if there are any.
    """

    def __init__(
        self, master: Master, acls: Acls | None = None, progress: Callable[..., None] = lambda *_: None
    ) -> None:
        self._master = master
        self._acls = acls
        self._progress = progress

    @property
    def principal(self) -> str | None:
        """The principal of the credentials; None without any."""
        credentials = self._master.settings.credentials
        return None if credentials is None else credentials.principal

    def ask(self, question: Question) -> Permission:
        """The answer to a question.  Raises what `client.Master` raises, but not Forbidden."""
        found = self._tried(question)
        if found.known or self._acls is None:
            return found
        return judge(question, self._acls, self.principal)

    def _tried(self, question: Question) -> Permission:
        verb, name = question
        if not verb.changes:
            return self._read(question)
        if verb.command not in _TRIALS:
            return Permission(question, None, "a master answers this only by making the change")
        if verb.of and name is None:
            return Permission(question, None, f"a master answers this only about one {verb.of}: {verb.usage}")
        trial = _TRIALS[verb.command](self, name or "")
        if isinstance(trial, str):
            return Permission(question, None, trial)
        refused = self._master.refusal_of(trial.call)
        if isinstance(refused, Forbidden):
            return Permission(question, False, refused.message, "master")
        if refused.status == trial.refused_with:
            return Permission(question, True, "the master authorized a request that it cannot carry out", "master")
        return Permission(question, None, refused.message)

    def _read(self, question: Question) -> Permission:
        try:
            for path in _READS[question.verb.command]:
                self._master.get(path)
        except Forbidden as refused:
            return Permission(question, False, refused.message, "master")
        if question.name is not None:
            return Permission(question, None, "a master leaves out what this principal may not see")
        sees = "the master answers"
        if question.verb.actions and question.verb.of:
            sees += ", and leaves out what this principal may not see"
        return Permission(question, True, sees, "master")

    # --- Trials: each returns why there is none as a sentence ------------------------------------

    def _agent_call(self, _name: str, call: str) -> Trial | str:
        from mesosctl.api import agent_calls

        if call != "gone" and "AGENT_DRAINING" not in self._master.profile.master_capabilities:
            return "this master is too old for it: Mesos 1.9 or later has it"
        calls: Mapping[str, tuple[Callable[[], bytes], int]] = {
            "drain": (lambda: agent_calls.DrainAgentCall.of(NOTHING, None, mark_gone=False).body(), 400),
            "deactivate": (lambda: agent_calls.DeactivateAgentCall.of(NOTHING).body(), 400),
            "reactivate": (lambda: agent_calls.ReactivateAgentCall.of(NOTHING).body(), 400),
            "gone": (lambda: agent_calls.MarkAgentGoneCall.of(NOTHING).body(), 404),
        }
        make, refused_with = calls[call]
        return Trial(make(), refused_with)

    def _quota(self, role: str) -> Trial:
        """More than any cluster has, of a resource that none has; without force, so that the capacity is checked.

        A role that already has quota is refused before the authorization.
        """
        from mesosctl.api.quota.calls import SetQuota, SetQuotaCall
        from mesosctl.api.quota.request import QuotaRequest

        request = QuotaRequest.of(role, Quantities({NOTHING: 10**9}), force=False)
        return Trial(SetQuotaCall(set_quota=SetQuota(quota_request=request)).body(), 409)

    def _reserve(self, role: str) -> Trial | str:
        from mesosctl.api.agent_operations import ReserveResources

        wanted = self._reserved(role, self.principal)
        return self._on_agent(lambda agent: ReserveResources.of(agent, [wanted], None).call().body())

    def _unreserve(self, reserver: str) -> Trial | str:
        from mesosctl.api.agent_operations import UnreserveResources

        wanted = self._reserved(NOTHING, reserver)
        return self._on_agent(lambda agent: UnreserveResources.of(agent, [wanted]).call().body())

    def _create(self, role: str) -> Trial | str:
        from mesosctl.api.agent_operations import CreateVolumes

        disk = Disk(NOTHING, principal=self.principal, container_path=NOTHING, mode="RW")
        reservation = Reservation("DYNAMIC", role, self.principal, _LABELS)
        volume = Resource("disk", 1000, (reservation,), disk=disk)
        return self._on_agent(lambda agent: CreateVolumes.of(agent, [volume]).call().body())

    @staticmethod
    def _reserved(role: str, principal: str | None) -> Resource:
        return Resource(NOTHING, 1000, (Reservation("DYNAMIC", role, principal, _LABELS),))

    def _on_agent(self, call: Callable[[str], bytes]) -> Trial | str:
        if self._an_agent is None:
            return "a master answers this only about a registered agent, and there is none"
        return Trial(call(self._an_agent), 409)

    @cached_property
    def _an_agent(self) -> str | None:
        """The id of a registered agent; None if there is none."""
        from mesosctl.operations.reservations.targets import read_agents

        return next((agent.id for agent in read_agents(self._master, self._progress)), None)


_TRIALS: Mapping[str, Callable[[PermissionsOfMaster, str], Trial | str]] = {
    **{
        f"agents {call}": partial(PermissionsOfMaster._agent_call, call=call)
        for call in ("deactivate", "drain", "gone", "reactivate")
    },
    "quota remove": PermissionsOfMaster._quota,
    "quota set": PermissionsOfMaster._quota,
    "quota update": PermissionsOfMaster._quota,
    "reserve": PermissionsOfMaster._reserve,
    "unreserve": PermissionsOfMaster._unreserve,
    "volumes create": PermissionsOfMaster._create,
}
"""The call that tries a change, by the command."""
CAN_BE_TRIED = frozenset({*_READS, *_TRIALS})
"""The commands that are tried on a master."""
