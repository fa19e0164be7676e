"""Names in tables, csv and -o name are in the order of people; JSON has the order of characters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import natural
from tests.mesosctl.program.mistakes.mistake import typed

CLUSTER = "".join(f'[[agents]]\nhostname = "agent-{number}"\nresources = "cpus:4;mem:1024"\n' for number in (10, 2, 1))


@given(st.lists(st.integers(0, 10**30)))
def test_numbers_sort_by_their_values(numbers):
    names = sorted((f"agent-{number}.dc1" for number in numbers), key=natural)
    assert names == [f"agent-{number}.dc1" for number in sorted(numbers)]


@given(st.lists(st.text()))
def test_any_names_have_an_order(names):
    assert sorted(sorted(names, key=natural, reverse=True), key=natural) == sorted(names, key=natural)


def test_of_equal_numbers_the_text_decides():
    assert sorted(["a01", "a1", "a001"], key=natural) == ["a001", "a01", "a1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    for agent in ("agent-1", "agent-2", "agent-10"):
        assert typed(f"reserve {agent} cpus:1 --role web", tmp_path, "fake:c.toml").status == 0
    return tmp_path


@pytest.mark.parametrize("words", ["agents", "reservations"])
def test_lists_are_in_natural_order_and_json_is_not(folder, words):
    table = typed(words, folder, "fake:c.toml").out.splitlines()[1:]
    assert [line.split()[0] for line in table] == ["agent-1", "agent-2", "agent-10"]
    rows = typed(f"{words} -o csv", folder, "fake:c.toml").out.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["agent-1", "agent-2", "agent-10"]
    document = typed(f"{words} -o json", folder, "fake:c.toml").out
    assert re.findall(r'"hostname": "([^"]*)"', document) == ["agent-1", "agent-10", "agent-2"]


@pytest.mark.parametrize("words", ["weights", "roles"])
def test_roles_that_are_sorted_by_name_are_in_natural_order_for_scripts_too(folder, words):
    assert typed("weights set role-10=2 role-2=3", folder, "fake:c.toml").status == 0
    document = typed(f"{words} --sort role -o json", folder, "fake:c.toml").out
    assert re.findall(r'"(?:role|name)": "(role-[0-9]+)"', document) == ["role-2", "role-10"]


def test_a_column_that_was_chosen_decides(folder):
    assert typed("reserve agent-10 cpus:1 --role web", folder, "fake:c.toml").status == 0
    shown = typed("agents --sort -agent", folder, "fake:c.toml").out.splitlines()[1:]
    assert [line.split()[0] for line in shown] == ["agent-10", "agent-2", "agent-1"]
