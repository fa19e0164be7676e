"""Random histories of quota and weights, played step by step on the fake and on a real master.

After each step both must have answered alike and be in the same state.  Each history starts on two new masters, so
weights, which cannot be taken back, do not leak from one into the next.
"""

import json
from collections.abc import Mapping
from urllib.parse import quote

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.conformance.facts.cases import DRAWN
from tests.conformance.histories import payloads
from tests.conformance.histories.playing import play_histories, steps_beside
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.comparing import steady
from tests.conformance.scenarios.scenario import JSON
from tests.conformance.scenarios.setups import STANDARD

STEPS_IN_A_HISTORY = 50


# Two removals in three are of a quota that exists: which one, or None for a role that was drawn.
_KNOWN = st.one_of(st.none(), st.integers(0, 11), st.integers(0, 11))


class History(RuleBasedStateMachine):
    """One history: every rule sends one request to both masters."""

    def __init__(self, pool: Pool, real: Carrier, fake: Carrier) -> None:
        super().__init__()
        self.real = pool.start(real, STANDARD)
        self.fake = pool.start(fake, STANDARD)

    def teardown(self) -> None:
        self.real.stop()
        self.fake.stop()

    @rule(body=payloads.texts(payloads.quota_requests))
    def post_quota(self, body: str) -> None:
        self.play("POST", "/quota", body)

    @rule(role=payloads.roles, known=_KNOWN)
    def delete_quota(self, role: str, known: int | None) -> None:
        self.play("DELETE", f"/quota/{quote(self.choose(role, known), safe='/*')}")

    @rule(body=payloads.texts(payloads.quota_requests))
    def set_quota(self, body: str) -> None:
        self.call("SET_QUOTA", "set_quota", f'{{"quota_request":{body}}}')

    @rule(body=payloads.texts(payloads.quota_updates))
    def update_quota(self, body: str) -> None:
        self.call("UPDATE_QUOTA", "update_quota", body)

    @rule(role=payloads.roles, known=_KNOWN)
    def remove_quota(self, role: str, known: int | None) -> None:
        role = self.choose(role, known)
        if role in self.roles_with_quota():
            self.call("REMOVE_QUOTA", "remove_quota", json.dumps({"role": role}))
        else:  # the real master does not survive this one; the fake says no
            refusal = self.fake.call("REMOVE_QUOTA", remove_quota={"role": role})
            assert refusal.status == 400
            self.compare_states()

    @rule(body=payloads.texts(payloads.weight_lists))
    def put_weights(self, body: str) -> None:
        self.play("PUT", "/weights", body)

    @rule(body=payloads.texts(payloads.weight_lists))
    def update_weights(self, body: str) -> None:
        self.call("UPDATE_WEIGHTS", "update_weights", f'{{"weight_infos":{body}}}')

    @rule(names=st.lists(st.sampled_from(sorted(DRAWN)), min_size=3, max_size=6))
    def cases_of_facts(self, names: list[str]) -> None:
        """Facts that tell releases apart in every state."""
        for name in names:
            self.play_case(name)

    def play_case(self, name: str) -> None:
        for step in DRAWN[name]:
            self.play(step.method, step.path, step.content, step.headers)

    def roles_with_quota(self) -> list[str]:
        return sorted(entry["role"] for entry in self.real.read("/quota").get("infos", ()))

    def choose(self, role: str, known: int | None) -> str:
        """One of the roles that have quota, if `known` says so and there are any; else the given role."""
        roles = self.roles_with_quota()
        return role if known is None or not roles else roles[known % len(roles)]

    def call(self, name: str, key: str, body: str) -> None:
        """A v1 call whose body is this text, well-formed or not."""
        self.play("POST", "/api/v1", f'{{"type":"{name}","{key}":{body}}}', {"Content-Type": JSON})

    def play(
        self, method: str, path: str, body: str | bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send the request to both masters; they must agree on the answer and on the state that it leaves."""
        wanted, given = (
            master.request(method, path, content=master.fill(body), headers=headers)
            for master in (self.real, self.fake)
        )
        assert _outline(given) == _outline(wanted), f"the real master: {wanted}, the fake: {given}"
        self.compare_states()

    def compare_states(self) -> None:
        wanted, given = _state(self.real), _state(self.fake)
        assert given == wanted


def _outline(answer: Answer) -> tuple[int, str | None, bool]:
    """What must agree: the wording of an error need not."""
    return answer.status, answer.headers.get("Content-Type"), bool(answer.content)


def _state(master: Cluster) -> dict[str, object]:
    paths = {path: master.read(path) for path in ("/quota", "/roles", "/weights")}
    calls = {name: master.call(name).json() for name in ("GET_QUOTA", "GET_WEIGHTS", "GET_ROLES")}
    return {question: steady(answer) for question, answer in (paths | calls).items()}


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize(("real", "fake"), judged("1.11.0", "1.4.3", "1.8.1"), ids=str)
def test_random_histories_leave_both_masters_in_the_same_state(pool: Pool, real: Carrier, fake: Carrier) -> None:
    play_histories(lambda: History(pool, real, fake), STEPS_IN_A_HISTORY, steps_beside(real))
