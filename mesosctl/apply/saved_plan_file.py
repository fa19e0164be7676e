"""`apply --plan`: a saved plan is read from its file, and applied only while what it rests on has not moved."""

from collections.abc import Mapping, Sequence
from typing import Any

from mesosctl.apply.comparison import make_plan, read_actual
from mesosctl.apply.journal import Journal, JournalEntry, step_from_json
from mesosctl.apply.plan import Step, describe
from mesosctl.apply.saved_plan import (
    KIND,
    SCHEMA_VERSION,
    PlanFile,
    Premise,
    checksum,
    facts,
    moved,
    without_subjects_of,
)
from mesosctl.apply.work import resume, undone
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.files.desired_state import load
from mesosctl.mesos.amounts.notation import FEW, listed
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.errors import BadInput, Conflict, MesosctlError
from mesosctl.mesos.messages.strict.reading import MOST_OF_PROGRAMS, read_json
from mesosctl.mesos.rules.version_profile import Profile
from mesosctl.reservations.work import requester
from mesosctl.suggestion import command


def read_saved_plan(text: str, where: str) -> PlanFile:
    """The plan in the text of a file that `plan --save` wrote.

    Raises BadInput if it is something else, or was changed after it was saved.
    """
    content = read_json(text, where, MOST_OF_PROGRAMS)
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise BadInput(
            f"{where} is not a saved plan", field="--plan", hint=f"{command('plan', f='FILE', save='PLAN')} makes one"
        )
    if content.get("schema_version") != SCHEMA_VERSION:
        raise BadInput(
            f"{where} is a plan of version {content.get('schema_version')}, but this mesosctl reads version "
            f"{SCHEMA_VERSION}",
            field="--plan",
            hint="save it again with this version",
        )
    if content.get("checksum") != checksum(content):
        raise BadInput(
            f"{where} was changed after it was saved: its checksum does not match its content",
            field="--plan",
            rule="plan.checksum",
            hint="get the file as it was approved, or save a new plan",
        )
    try:
        plan = _saved_plan(content)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, MesosctlError) as error:
        raise BadInput(f"{where} is not a saved plan: {type(error).__name__}: {error}", field="--plan") from None
    _check_words(content, plan.steps, where)
    return plan


def _saved_plan(content: Mapping[str, Any]) -> PlanFile:
    """The plan, each part of its type: a checksum only says that the file is as it was written.

    Raises TypeError and LookupError.
    """
    return PlanFile(
        master=_checked(content["master"], str),
        file=_checked(content["file"], str),
        wanted=_checked(content["wanted"], str),
        prune=_checked(content["prune"], bool),
        allow_new_resource=_checked(content["allow_new_resource"], bool),
        rests_on=[
            Premise(
                _checked(fact["of_kind"], str),
                _checked(fact["name"], str),
                _checked(fact["state"], str | None),
                _checked(fact["id"], str | None),
            )
            for fact in content["rests_on"]
        ],
        steps=[step_from_json(step["change"]) for step in content["steps"]],
        checksum=_checked(content["checksum"], str),
        upgrade_to=_checked(content.get("upgrade_to"), str | None),
    )


def _check_words(content: Mapping[str, Any], steps: Sequence[Step], where: str) -> None:
    """Raise BadInput if the words of a step, which somebody has approved, are not those of its change."""
    for number, (saved, step) in enumerate(zip(content["steps"], steps, strict=True), 1):
        words = {"number": number, **describe(step)._asdict()}
        if any(name not in saved or saved[name] != text for name, text in words.items()):
            raise BadInput(
                f"{where} was edited, or saved by another version of mesosctl: "
                f"the words of step {number} are not those of its change",
                field="--plan",
                rule="plan.checksum",
                hint="get the file as it was approved, or save a new plan",
            )


def _checked(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is of another type")
    return value


def read_facts(master: LeadingMaster, desired: DesiredState, steps: list[Step]) -> list[Premise]:
    """Read what these steps rest on from the master.  Raises the errors of `LeadingMaster`."""
    return facts(desired, read_actual(master, desired), steps, requester(master).principal)


class ReadyPlan:
    """A saved plan, ready to be applied by its journal."""

    def __init__(self, saved: PlanFile) -> None:
        self.saved = saved
        self.desired = load(saved.wanted, saved.file)

    def check_master(self, identity: str) -> None:
        """Raise Conflict if the plan was made for another master."""
        if identity != self.saved.master:
            raise Conflict(
                f"the plan was made for the master {self.saved.master}, but this one is {identity}",
                field="--master",
                rule="plan.master",
                hint="name the master of the plan with --master or --context",
            )

    def check_release(self, profile: Profile) -> None:
        """Raise Conflict if the plan is for the master after an upgrade, and another release leads."""
        if self.saved.upgrade_to not in (None, profile.name):
            raise Conflict(
                f"the plan is for a master of Mesos {self.saved.upgrade_to}, but {profile} leads",
                field="--plan",
                rule="plan.release",
                hint=f"apply it when Mesos {self.saved.upgrade_to} leads",
            )

    def steps(self, master: LeadingMaster) -> list[Step]:
        """The steps as they were saved.  Raises Conflict, with what has moved, if they may not be made any more."""
        self._check_unmoved(master, [])
        now = make_plan(master, self.desired, prune=self.saved.prune, allow_new_resource=self.saved.allow_new_resource)
        if now != list(self.saved.steps):
            raise self._outdated("other steps would be needed now")
        return list(self.saved.steps)

    def begun(self, master: LeadingMaster, journal: Journal) -> JournalEntry | None:
        """The steps that an interrupted apply of this plan left, or all of them if they were completed.

        Raises Conflict if something else has moved.
        """
        left = resume(master, journal, self.saved.checksum)
        if left is None and self.saved.steps and not undone(master, self.saved.steps):
            left = JournalEntry(self.saved.checksum, self.saved.steps, len(self.saved.steps))
            master.notice("every step of this plan was already done")
        if left is not None:
            self._check_unmoved(master, left.steps[: left.done])
        return left

    def _check_unmoved(self, master: LeadingMaster, done: Sequence[Step]) -> None:
        """Raise Conflict with what has moved, apart from what the steps `done` have changed.

        An earlier apply of this plan may have made other steps that the master shows: their effects are named only if
        nothing else has moved.
        """
        now = read_facts(master, self.desired, list(self.saved.steps))
        found = moved(self.saved.rests_on, now, done)
        if found:
            steps = self.saved.steps
            shown = without_subjects_of(steps, undone(master, steps))
            others = moved(self.saved.rests_on, now, [*done, *shown])
            raise self._outdated(listed([move.sentence() for move in others or found], FEW))

    def _outdated(self, why: str) -> Conflict:
        again = command("plan", f=self.saved.file, prune=self.saved.prune or None, save="plan.json")
        return Conflict(
            f"the cluster has moved since the plan was saved: {why}",
            rule="apply.unchanged",
            hint=f"make a new plan, and have it approved: {again}",
        )
