"""The work of `can-i` and `who-can`: what a master allows to whom, without changing anything.

A read is sent.  A change is sent as a call that a master authorizes and then cannot carry out: about an agent that does
not exist, or a resource that no agent has.  403 means no, and the refusal that follows the authorization means yes.
docs/reference/permissions.md lists the commands for which there is such a call.  Everything else is judged by the ACLs
that the master shows in its flags.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

from mesosctl.can_i.command_permissions import LOCAL, CommandPermission, PermissionQuestion, Verb, judge
from mesosctl.can_i.questions import TypedCommand, Values
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Disk, Labels, Reservation, Resource
from mesosctl.mesos.errors import Forbidden, MesosctlError, NotFound
from mesosctl.mesos.messages import operator_calls, responses
from mesosctl.mesos.messages.acls import acls_of_master
from mesosctl.mesos.messages.agent_operations import CreateVolumes, ReserveResources, UnreserveResources
from mesosctl.mesos.messages.frameworks import listed_frameworks
from mesosctl.mesos.messages.quota.calls import SetQuota, SetQuotaCall
from mesosctl.mesos.messages.quota.request import QuotaRequest
from mesosctl.mesos.names import kind_of
from mesosctl.mesos.rules.acls import Acls
from mesosctl.mesos.rules.quota.rules import check_not_default_role
from mesosctl.reading.lists import find_framework
from mesosctl.reading.targets import find_agent, read_agents

NOTHING = "mesosctl-can-i"
"""The name of an agent, a resource and a volume that no cluster has."""
_LABELS = Labels([(NOTHING, "")])
"""With it, a reservation differs from all others, so that no offer is rescinded to make room."""

_READ_BY_ACTION: Mapping[str, str] = {
    "get_maintenance_schedules": "/maintenance/schedule",
    "get_maintenance_statuses": "/maintenance/status",
    "get_quotas": "/quota",
    "view_flags": "/flags",
    "view_frameworks": "/frameworks?framework_id=none",
    "view_roles": "/roles",
    "view_tasks": "/tasks?limit=1",
}
"""The paths that are read to try a command that only reads, by what it needs."""
_OF_AGENTS = "/slaves?slave_id=none"


class Trial(NamedTuple):
    """A call that no master can carry out, and the HTTP status with which a master refuses it once it is authorized."""

    call: bytes
    refused_with: int


class PermissionsOfMaster:
    """The permissions of the principal whose credentials a master gets.

    What cannot be tried is answered by `acls`, if there are any.
    """

    def __init__(
        self, master: LeadingMaster, acls: Acls | None = None, progress: Callable[..., None] = lambda *_: None
    ) -> None:
        self._master = master
        self._acls = acls
        self._progress = progress
        self._refusals: dict[bytes, MesosctlError] = {}
        """By the trial that a master has refused; several commands need the same permission."""
        self._answers: dict[str, Any] = {}
        """The answer of a master, or its Forbidden, by the path that was read."""

    @property
    def principal(self) -> str | None:
        """The principal of the credentials; None without any."""
        credentials = self._master.settings.credentials
        return None if credentials is None else credentials.principal

    def ask(self, question: PermissionQuestion) -> CommandPermission:
        """The answer to a question.  Raises what `client.Master` raises, but not Forbidden."""
        found = self._tried(question)
        if found.known:
            return found
        if self._acls is not None:
            return judge(question, self._acls, self.principal)
        if self._shown is None:
            return found
        acls, flags = self._shown
        realm = "readwrite" if question.verb.changes else "readonly"
        # A master that does not authenticate ignores credentials; a framework names its principal itself.
        is_known = flags.get(f"authenticate_http_{realm}") == "true" or "register_frameworks" in question.verb.actions
        return judge(question, acls, self.principal if is_known else None, "master")

    @cached_property
    def _shown(self) -> tuple[Acls, Mapping[str, str]] | None:
        """The ACLs that the master shows, and its flags; None if this principal may not see them."""
        try:
            answer = self._read_once("/flags")
            acls = acls_of_master(answer)
        except Forbidden:
            return None
        return None if acls is None else (acls, responses.flags(answer))

    @property
    def sees_acls(self) -> bool:
        """Whether the master shows its ACLs to this principal."""
        return self._shown is not None

    def acls(self) -> Acls:
        """The ACLs of the master, if it shows them.  Raises Forbidden."""
        if self._shown is None:
            raise Forbidden("the master does not show its ACLs to this principal", hint="give their file: --acls FILE")
        return self._shown[0]

    def questions(self, typed: TypedCommand) -> list[PermissionQuestion]:
        """The questions about a command, with the principal of what it names on the cluster.

        Raises what looking it up raises.
        """
        if typed.verb.of != "principal" or (typed.names and typed.values is not None):
            return typed.questions
        if typed.verb.command == "frameworks teardown":
            words = list(typed.names[:1] or (typed.values or {}).get("framework") or ())
            found = [name for word in words for name in self._of_framework(word, or_principal=bool(typed.names))]
            names = tuple(dict.fromkeys(found))
        elif typed.values is None:
            return typed.questions
        else:
            names = self._of_reserved(typed.verb, typed.values)
        return [PermissionQuestion(typed.verb, name) for name in names] or typed.questions

    def _of_framework(self, word: str, *, or_principal: bool) -> tuple[str, ...]:
        """The principal of the framework that a word means; if there is none, the word may be a principal itself."""
        everybody = listed_frameworks(self._master.ask("GET_FRAMEWORKS"))
        try:
            meant = find_framework({framework.id: framework.name for framework in everybody}, word, "COMMAND")
        except NotFound:
            if or_principal:
                return (word,)
            raise
        return tuple(
            framework.principal for framework in everybody if framework.id == meant and framework.principal is not None
        )

    def _of_reserved(self, verb: Verb, values: Values) -> tuple[str, ...]:
        """The principals of the reservations or the volumes on the agent that a command names."""
        words = list(values.get("words") or ()) if verb.command == "unreserve" else [values["agent"]]
        if not words or not isinstance(words[0], str):
            return ()
        agent, role = find_agent(read_agents(self._master, self._progress), words[0], "COMMAND"), values.get("role")
        entries = [entry for entry in agent.total if entry.is_reserved and role in (None, entry.role)]
        if verb.command == "unreserve":
            found = [entry.reservations[-1].principal for entry in entries if entry.is_dynamically_reserved]
        else:
            wanted = kind_of(str(values["volume"]))[1]
            volumes = [entry.disk for entry in entries if entry.disk is not None]
            found = [disk.principal for disk in volumes if disk.persistence_id == wanted]
        return tuple(sorted({principal for principal in found if principal is not None}))

    def _tried(self, question: PermissionQuestion) -> CommandPermission:
        verb, name = question
        if verb.command in LOCAL:
            return judge(question, Acls(), None)
        if not verb.changes:
            return self._read(question)
        if verb.command not in _TRIALS:
            return CommandPermission(question, None, "a master answers this only by making the change")
        if verb.of and name is None:
            return CommandPermission(question, None, f"a master answers this only about one {verb.of}: {verb.usage}")
        trial = _TRIALS[verb.command](self, name or "")
        if isinstance(trial, str):
            return CommandPermission(question, None, trial)
        if trial.call not in self._refusals:
            self._refusals[trial.call] = self._master.refusal_of(trial.call)
        refused = self._refusals[trial.call]
        if isinstance(refused, Forbidden):
            return CommandPermission(question, False, refused.message, "master")
        if refused.status == trial.refused_with:
            return CommandPermission(
                question, True, "the master authorized a request that it cannot carry out", "master"
            )
        return CommandPermission(question, None, refused.message)

    def _read(self, question: PermissionQuestion) -> CommandPermission:
        try:
            for path in [_READ_BY_ACTION[action] for action in question.verb.actions] or [_OF_AGENTS]:
                self._read_once(path)
        except Forbidden as refused:
            return CommandPermission(question, False, refused.message, "master")
        if question.name is not None:
            return CommandPermission(question, None, "a master leaves out what this principal may not see")
        sees = "the master answers"
        if question.verb.actions and question.verb.of:
            sees += ", and leaves out what this principal may not see"
        return CommandPermission(question, True, sees, "master")

    def _read_once(self, path: str) -> Any:
        """The answer of a path.  Raises Forbidden, also if it was read before."""
        if path not in self._answers:
            try:
                self._answers[path] = self._master.get(path)
            except Forbidden as refused:
                self._answers[path] = refused
        if isinstance(self._answers[path], Forbidden):
            raise self._answers[path]
        return self._answers[path]

    # --- Trials: each returns why there is none as a sentence ------------------------------------

    def _agent_call(self, _name: str, call: str) -> Trial | str:
        kind = {"drain": "DRAIN_AGENT", "gone": "MARK_AGENT_GONE"}.get(call, f"{call.upper()}_AGENT")
        if (lacking := self._master.lacking(kind)) is not None:
            return lacking
        calls: Mapping[str, tuple[Callable[[], bytes], int]] = {
            "drain": (lambda: operator_calls.drain_agent(NOTHING, None, mark_gone=False).body(), 400),
            "deactivate": (lambda: operator_calls.agent_call("DEACTIVATE_AGENT", NOTHING).body(), 400),
            "reactivate": (lambda: operator_calls.agent_call("REACTIVATE_AGENT", NOTHING).body(), 400),
            "gone": (lambda: operator_calls.agent_call("MARK_AGENT_GONE", NOTHING).body(), 404),
        }
        make, refused_with = calls[call]
        return Trial(make(), refused_with)

    def _quota(self, role: str) -> Trial:
        """More than any cluster has, of a resource that none has; without force, so that the capacity is checked.

        A role that already has quota is refused before the authorization.  Raises RuleViolation for the default role,
        if the release gives it none.
        """
        check_not_default_role(role, self._master.profile)
        request = QuotaRequest.of(role, Quantities({NOTHING: 10**9}), force=False)
        return Trial(SetQuotaCall(set_quota=SetQuota(quota_request=request)).body(), 409)

    def _reserve(self, role: str) -> Trial | str:
        wanted = self._reserved(role, self.principal)
        return self._on_agent(lambda agent: ReserveResources(agent, resources=[wanted]).call().body())

    def _unreserve(self, reserver: str) -> Trial | str:
        wanted = self._reserved(NOTHING, reserver)
        return self._on_agent(lambda agent: UnreserveResources(agent, resources=[wanted]).call().body())

    def _create(self, role: str) -> Trial | str:
        disk = Disk(NOTHING, principal=self.principal, container_path=NOTHING, mode="RW")
        reservation = Reservation("DYNAMIC", role, self.principal, _LABELS)
        volume = Resource("disk", 1000, (reservation,), disk=disk)
        return self._on_agent(lambda agent: CreateVolumes(agent, volumes=[volume]).call().body())

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
CAN_BE_TRIED = frozenset(_TRIALS)
"""The changes that are tried on a master."""
