"""Frameworks that are active, connected, away or gone, several beside each other: every answer shows the same."""

from typing import NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.helpers.lab import Lab, Scheduler
from tests.helpers.profiles import examples


class Shown(NamedTuple):
    """What answers show of a framework's state."""

    active: bool
    connected: bool
    recovered: bool


EXPECTED = {
    "there": Shown(active=True, connected=True, recovered=False),
    "gave up": Shown(active=False, connected=True, recovered=False),
    "away": Shown(active=False, connected=False, recovered=False),
    "back": Shown(active=True, connected=True, recovered=False),
    "back after it gave up": Shown(active=True, connected=True, recovered=False),
    "gone": Shown(active=False, connected=False, recovered=False),
}


def made(lab: Lab, number: int, course: str) -> Scheduler:
    framework = Scheduler(lab, name=f"f{number}", roles=["r"])
    if course.endswith("gave up"):  # which only a driver says, and only its connection lasts
        lab.master.subscriptions.deactivate(lab.master.state.frameworks[framework.id])
    if course in ("away", "back"):
        framework.stream.abandon()
        lab.wait(0)
    if course.startswith("back"):
        framework.subscribe()
    if course == "gone":
        framework.ask("TEARDOWN")
    return framework


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(sorted(EXPECTED)), min_size=1, max_size=5))
@example(sorted(EXPECTED))
def test_every_answer_tells_the_same_of_each_framework(courses: list[str]) -> None:
    lab = Lab()
    frameworks = {made(lab, number, course).id: EXPECTED[course] for number, course in enumerate(courses)}
    gone = {one for one, course in zip(frameworks, courses, strict=True) if course == "gone"}
    present = {one: shown for one, shown in frameworks.items() if one not in gone}

    def by_id(listed: object) -> dict[str, Shown]:
        assert isinstance(listed, list)
        return {one["id"]: Shown(*(one[name] for name in Shown._fields)) for one in listed}

    for path in ("/state", "/frameworks"):
        answer = lab.read(path)
        assert by_id(answer["frameworks"]) == present, path
        assert set(by_id(answer["completed_frameworks"])) == gone, path
    assert by_id(lab.read("/state-summary")["frameworks"]) == present
    for answer in (lab.call("GET_FRAMEWORKS"), lab.call("GET_STATE")["get_frameworks"]):
        listed = {
            one["framework_info"]["id"]["value"]: Shown(*(one.get(name, False) for name in Shown._fields))
            for one in answer.get("frameworks", [])
        }
        assert listed == present
    active, connected = (sum(shown[at] for shown in present.values()) for at in (0, 1))
    assert (lab.metric("frameworks_active"), lab.metric("frameworks_inactive")) == (active, len(present) - active)
    assert (lab.metric("frameworks_connected"), lab.metric("frameworks_disconnected")) == (
        connected,
        len(present) - connected,
    )
    # And whoever is not active is offered nothing.
    lab.wait(2)
    holders = {offer.framework_id for offer in lab.master.state.offers}
    assert holders <= {one for one, shown in present.items() if shown.active}
