"""`plan --save` and `apply --plan`: what was approved is what is made, or nothing."""

import json

import pytest

from mesosctl.apply import work as run_operations
from mesosctl.apply.saved_plan import checksum
from mesosctl.apply.work import perform
from tests.mesosctl.apply.conftest import WISHES, steps


@pytest.fixture
def saved(run, file, tmp_path):
    """A plan in a file."""
    plan = tmp_path / "plan.json"
    status, _, err = run("plan", "-f", file, "--save", plan)
    assert status == 0, err
    return plan


def content(plan):
    return json.loads(plan.read_text())


def test_a_plan_changes_nothing_and_is_what_is_then_made(run, file, saved):
    assert run("quota", "list", "-o", "name")[1] == ""
    kept = content(saved)
    assert (kept["schema_version"], kept["kind"], kept["wanted"]) == (2, "wanted.saved-plan", WISHES)
    assert kept["forecast"]["harmless"] is True
    file.unlink()  # the plan has everything
    status, out, err = run("apply", "--plan", saved, "-o", "json")
    assert status == 0, err
    made = json.loads(out)
    assert made["checksum"] == kept["checksum"]
    assert [(one["step"], one["of"]) for one in made["steps"]] == [(one["step"], one["of"]) for one in kept["steps"]]
    assert {done for *_, done in steps(out)} == {True}
    assert run("diff", "-f", "-", stdin=WISHES)[0] == 0


def test_the_checksum_is_shown_when_it_is_saved_and_when_it_is_applied(run, file, tmp_path):
    plan = tmp_path / "plan.json"
    status, out, err = run("plan", "-f", file, "--save", plan)
    line = f"checksum of the plan: {content(plan)['checksum']}"
    assert (status, line in out, content(plan)["checksum"] in err) == (0, True, True)
    assert line in run("apply", "--plan", plan, "--dry-run")[2]
    assert line in run("apply", "--plan", plan)[1]


def test_the_document_of_json_is_the_file(run, file):
    out = run("plan", "-f", file, "-o", "json")[1]
    assert run("apply", "--plan", "-", stdin=out)[0] == 0
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("quota set other cpus:1", "quota of other is cpus:1, and was none"),
        ("quota set web cpus:2", "quota of web is cpus:2, and was none"),
        ("weights set other=3", "weight of other is 3, and was none"),
        ("reserve agent-1 cpus:1 --role other", "agent "),
    ],
)
def test_it_is_refused_with_what_has_moved(run, file, saved, words, told):
    assert run(*words.split())[0] == 0
    before = run("export")[1]
    status, out, err = run("apply", "--plan", saved)
    assert (status, out) == (6, "")
    assert f"the cluster has moved since the plan was saved: {told}" in err
    assert run("export")[1] == before
    status, out, _ = run("apply", "--plan", saved, "--dry-run")
    assert status == 1
    assert "has moved since the plan was saved" in out


def test_what_it_does_not_rest_on_may_move(run, saved):
    assert run("reserve", "agent-2", "cpus:1", "--role", "other")[0] == 0
    assert run("apply", "--plan", saved)[0] == 0


def test_moved_and_moved_back_is_not_moved(run, saved):
    assert run("quota", "set", "other", "cpus:1")[0] == 0
    assert run("quota", "remove", "other")[0] == 0
    assert run("apply", "--plan", saved)[0] == 0


@pytest.mark.parametrize(
    "edit",
    [
        lambda plan: plan | {"wanted": plan["wanted"].replace("cpus:12", "cpus:13")},
        lambda plan: plan | {"steps": plan["steps"][:-1]},
        lambda plan: plan | {"rests_on": []},
        lambda plan: plan | {"forecast": plan["forecast"] | {"harmless": False}},
        lambda plan: plan | {"more": 1},
        lambda plan: {key: value for key, value in plan.items() if key != "checksum"},
        lambda plan: plan | {"checksum": "sha256:" + "0" * 64},
    ],
)
def test_an_edited_plan_is_refused(run, saved, edit):
    saved.write_text(json.dumps(edit(content(saved))))
    for more in ((), ("--dry-run",)):
        status, out, err = run("apply", "--plan", saved, *more)
        assert (status, out) == (3, "")
        assert "was changed after it was saved" in err


def test_other_spaces_and_another_order_are_the_same_plan(run, saved):
    saved.write_text(json.dumps(dict(reversed(content(saved).items()))))
    assert run("apply", "--plan", saved)[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not JSON"),
        ("[]", "is not a saved plan"),
        ('{"kind": "wanted.plan", "schema_version": 1}', "is not a saved plan"),
        ('{"kind": "wanted.saved-plan", "schema_version": 1}', "version 1, but this mesosctl reads version 2"),
        ('{"kind": "wanted.saved-plan", "schema_version": 2, "schema_version": 2}', "schema_version"),
    ],
)
def test_what_is_not_a_plan_is_refused(run, tmp_path, text, told):
    plan = tmp_path / "plan.json"
    plan.write_text(text)
    status, out, err = run("apply", "--plan", plan)
    assert (status, out) == (3, "")
    assert told in err


def test_a_whole_checksum_of_senseless_content_is_no_traceback(run, saved):
    for key, value in (("steps", [7]), ("rests_on", [{}]), ("steps", [{"change": {"kind": "x"}}]), ("steps", None)):
        plan = content(saved) | {key: value}
        plan["checksum"] = checksum(plan)
        status, _, err = run("apply", "--plan", "-", stdin=json.dumps(plan))
        assert (status, "is not a saved plan" in err) == (3, True), err


@pytest.mark.parametrize("part", ["of_kind", "name", "state", "id"])
@pytest.mark.parametrize("value", [5, [1], {}])
def test_parts_of_another_type_are_no_traceback(run, saved, part, value):
    plan = content(saved)
    plan["rests_on"][0][part] = value
    plan["checksum"] = checksum(plan)
    saved.write_text(json.dumps(plan))
    status, _, err = run("apply", "--plan", saved)
    assert (status, "is not a saved plan" in err) == (3, True)


def test_a_plan_replaces_a_plan_and_in_a_script_nothing_else(run, file, saved):
    before = file.read_text()
    assert run("plan", "-f", file, "--save", saved)[0] == 0
    status, _, err = run("plan", "-f", file, "--save", file)
    assert (status, file.read_text()) == (2, before)
    assert "has other content, which would be lost" in err


def test_a_plan_is_not_made_anew_by_applying_it(run, saved):
    status, _, err = run("apply", "--plan", saved, "--restart")
    assert (status, "--restart makes a new plan" in err) == (2, True)


def test_only_the_plan_with_that_checksum(run, saved):
    right = content(saved)["checksum"]
    status, _, err = run("apply", "--plan", saved, "--checksum", f"sha256:{'0' * 64}")
    assert (status, f"its checksum is {right}" in err) == (3, True)
    assert run("apply", "--plan", saved, "--checksum", right)[0] == 0


def test_a_checksum_may_lack_its_prefix_but_no_digit(run, saved):
    digits = content(saved)["checksum"].removeprefix("sha256:")
    for typed in (digits[:-1], f"sha1:{digits}", ""):
        status, _, err = run("apply", "--plan", saved, "--checksum", typed)
        assert (status, f"'{typed}' is not a checksum" in err) == (2, True), err
    assert run("apply", "--plan", saved, "--checksum", digits.upper())[0] == 0


@pytest.mark.parametrize(
    ("part", "value"),
    [("step", "set quota"), ("of", "other"), ("before", "cpus:99"), ("after", "cpus:99"), ("number", 7)],
)
def test_words_that_are_not_those_of_their_change_are_refused_whatever_the_checksum(run, saved, part, value):
    edited = content(saved)
    assert edited["steps"][-1][part] != value
    edited["steps"][-1][part] = value
    edited["checksum"] = checksum(edited)
    saved.write_text(json.dumps(edited))
    before = run("export")[1]
    status, _, err = run("apply", "--plan", saved, "--yes")
    assert (status, f"the words of step {len(edited['steps'])} are not" in err) == (3, True), err
    assert "by another version" in err
    assert run("export")[1] == before


def test_the_own_effects_of_a_plan_have_not_moved(run, saved):
    assert run("apply", "--plan", saved)[0] == 0
    assert run("quota", "update", "db", "cpus:3", "--yes")[0] == 0
    status, _, err = run("apply", "--plan", saved)
    assert status == 6
    assert "was saved: quota of db is cpus:3, and was none\n" in err


def test_the_plan_and_its_page_are_two_files(run, file, tmp_path):
    same = tmp_path / "folder" / ".." / "plan.json"
    (tmp_path / "folder").mkdir()
    status, _, err = run("plan", "-f", file, "--save", tmp_path / "plan.json", "--report", same)
    assert (status, "--save and --report name the same file" in err) == (2, True)
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize(
    "words", [["-f", "x.toml"], ["x.toml"], ["--prune"], ["--allow-empty"], ["--allow-new-resource"]]
)
def test_the_plan_has_the_options_of_its_file(run, saved, words):
    status, _, err = run("apply", "--plan", saved, *words)
    assert (status, "has no effect with --plan" in err) == (2, True)
    assert run("apply", "-f", "x.toml", "--checksum", "x")[0] == 2


def test_the_plan_of_another_master_is_refused(run, saved):
    status, _, err = run("apply", "--plan", saved, master="fake:?version=documents")
    assert (status, "the plan was made for the master" in err) == (6, True), err


def interrupt(run, saved, monkeypatch, at):
    """Press Ctrl-C after the step with this number."""
    numbers = iter(range(1, 100))

    def stopping(*words):
        perform(*words)
        if next(numbers) == at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_operations, "perform", stopping)
        assert run("apply", "--plan", saved)[0] == 130


@pytest.mark.parametrize("at", [1, 3, 5])
def test_interrupted_it_goes_on(run, file, saved, monkeypatch, at):
    interrupt(run, saved, monkeypatch, at)
    status, out, err = run("apply", "--plan", saved, "-o", "json")
    assert status == 0, err
    assert {done for *_, done in steps(out)} == {True}
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.parametrize("words", ["quota set other cpus:1", "quota update db cpus:1 --yes"])
def test_interrupted_it_does_not_go_on_if_something_has_moved(run, saved, monkeypatch, words):
    interrupt(run, saved, monkeypatch, 2)
    status, _, err = run(*words.split())
    assert status == 0, err
    before = run("export")[1]
    assert run("apply", "--plan", saved)[0] == 6
    assert run("export")[1] == before


def test_a_plan_that_is_done_is_nothing_to_do(run, saved):
    assert run("apply", "--plan", saved)[0] == 0
    status, _, err = run("apply", "--plan", saved)
    assert (status, "every step of this plan was already done" in err) == (0, True)


def test_a_plan_without_steps(run, file, tmp_path):
    assert run("apply", "-f", file)[0] == 0
    plan = tmp_path / "nothing.json"
    assert run("plan", "-f", file, "--save", plan)[0] == 0
    assert content(plan)["steps"] == []
    assert run("apply", "--plan", plan)[0] == 0


def test_a_plan_that_starves_somebody_is_saved_with_status_1(run, tmp_path):
    plan = tmp_path / "plan.json"
    # What is reserved for another role counts as capacity, but is never offered to this one.
    status, _, err = run("plan", "-f", "-", "--save", plan, stdin='[quotas.web]\nguarantee = "cpus:26"\n')
    assert (status, content(plan)["forecast"]["harmless"]) == (1, False), err


def test_a_refused_wish_saves_nothing(run, tmp_path):
    plan = tmp_path / "plan.json"
    status, _, err = run("plan", "-f", "-", "--save", plan, stdin='[quotas.web]\nguarantee = "cpus:1000"\n')
    assert (status, plan.exists()) == (6, False), err


def test_save_has_no_standard_output(run, file):
    status, _, err = run("plan", "-f", file, "--save", "-")
    assert (status, "--save cannot be -: name a file" in err) == (2, True)
