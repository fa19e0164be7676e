"""`mesosctl weights` as it is typed: the checks, the proof, the dry run and the forms of every other change."""

import json

import pytest

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from tests.helpers.lab import CommandLine, Lab


@pytest.fixture
def live():
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=(SimulatedFrameworkSpec("shop", ("web",), answer="hold"),))
    commands = CommandLine(lab)
    lab.wait(2.0)
    return commands


def weights(live):
    return {one["role"]: one["weight"] for one in live.lab.read("/weights")}


def test_weights_are_set_all_at_once_and_read_back(live):
    ran = live.run("weights", "set", "web=2", "batch=0.5", "-o", "json")
    assert ran.status == 0
    assert ran.json["changes"] == [
        {"role": "web", "before": 1.0, "after": 2.0, "confirmed": True},
        {"role": "batch", "before": 1.0, "after": 0.5, "confirmed": True},
    ]
    assert weights(live) == {"web": 2.0, "batch": 0.5}
    assert live.changes == ["PUT /weights"]
    assert live.asked.index("PUT /weights") < len(live.asked) - 1 - live.asked[::-1].index("GET /weights")


def test_no_verb_is_the_list(live):
    live.run("weights", "set", "web=2")
    assert live.run("weights", "-o", "csv").out == "role,weight\nweb,2\n"
    assert live.run("weights").out == live.run("weights", "list").out
    assert live.run("-o", "name", "weights").out == "web\n"


def test_a_weight_that_is_so_already_is_not_sent(live):
    live.run("weights", "set", "web=2")
    ran = live.run("weights", "set", "web=2", "other=1", "-o", "json")
    assert (ran.status, ran.json["changes"]) == (0, [])
    assert live.changes == ["PUT /weights"]


def test_a_role_that_may_be_mistyped_is_named(live):
    ran = live.run("weights", "set", "web=2", "wbe=2", "batch=2")
    assert ran.status == 0
    (note,) = ran.err.splitlines()
    assert "role 'wbe'; did you mean web?" in note


def test_v1_is_another_way(live):
    assert live.run("weights", "set", "web=2", "--api", "v1").status == 0
    assert live.changes == ["POST /api/v1 UPDATE_WEIGHTS"]


@pytest.mark.parametrize(
    "payload",
    [
        [{"role": "web", "weight": 3}],
        {"type": "UPDATE_WEIGHTS", "update_weights": {"weight_infos": [{"role": "web", "weight": 3.0}]}},
    ],
)
def test_the_documented_json_can_be_given(live, payload):
    assert live.run("weights", "set", "-f", "-", stdin=json.dumps(payload)).status == 0
    assert weights(live) == {"web": 3.0}


@pytest.mark.parametrize("api", ["v0", "v1"])
@pytest.mark.parametrize("words", ["web=Infinity", "-f -"])
def test_a_weight_may_be_infinity(live, api, words):
    stdin = '[{"role": "web", "weight": "Infinity"}]' if words == "-f -" else ""
    ran = live.run("--api", api, "weights", "set", *words.split(), "-o", "json", stdin=stdin)
    assert ran.status == 0, ran.err
    assert ran.json["changes"] == [{"role": "web", "before": 1.0, "after": "Infinity", "confirmed": True}]
    assert weights(live) == {"web": "Infinity"}


def test_a_dry_run_sends_nothing(live):
    ran = live.run("weights", "set", "web=2", "--dry-run", "-o", "json")
    assert ran.status == 0
    assert live.changes == []
    assert weights(live) == {}


@pytest.mark.parametrize(
    ("words", "stdin", "status", "told"),
    [
        ("set", "", 2, "for example, mesosctl weights set web=2"),
        ("set web", "", 2, "'web' is not a weight"),
        ("set web=", "", 2, "'web=' is not a weight"),
        ("set =2", "", 2, "'=2' is not a weight"),
        ("set web=2 web=3", "", 2, "two weights"),
        ("set web=0", "", 3, "is not above zero"),
        ("set web=-1", "", 3, "weight: -1 has a sign"),
        ("set web=+2 ads=3", "", 3, "for the sum, use mesosctl weights set web=3 ads=3"),
        ("set web=nan", "", 3, "is not a finite number"),
        ("set web=inf", "", 3, "a master takes only Infinity"),
        ("set web=1e400", "", 3, "is not a finite number"),
        ("set web=-Infinity", "", 3, "is not a finite number"),
        ("set -f -", '[{"role": "web", "weight": "inf"}]', 3, "it should be a number"),
        ("set we/b/=2", "", 3, "cannot end with a slash"),
        ("set web=2 -f -", "[]", 2, "cannot be used together"),
        ("set -f -", '[{"role": "web", "wieght": 2}]', 3, "did you mean weight?"),
        ("set -f -", '[{"role": "web", "weight": 2}, {"role": "web", "weight": 3}]', 3, "two weights"),
        ("sett web=2", "", 5, "no weight is set for 'sett'"),
        ("update web=2", "", 5, "did you mean the verb 'set'?"),
    ],
)
def test_mistakes_send_nothing(live, words, stdin, status, told):
    ran = live.run("weights", *words.split(), stdin=stdin)
    assert (ran.status, told in ran.err) == (status, True), ran.err
    assert live.changes == []


def test_what_may_not_be_changed_is_denied():
    acls = '{"update_weights": [{"principals": {"type": "NONE"}, "roles": {"type": "ANY"}}]}'
    live = CommandLine(Lab("cpus:4;mem:4096", version="1.11", flags={"acls": acls}))
    assert live.run("weights", "set", "web=2").status == 4
