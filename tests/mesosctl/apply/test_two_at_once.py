"""Two applies of different files at once: each step is made by one of them, and none is lost without a word."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mesosctl.apply import work as run_operations
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

ROLES = ("a", "b", "c")
WISHES = st.dictionaries(st.sampled_from(ROLES), st.integers(1, 3), min_size=1)


def text(wishes: dict[str, int]) -> str:
    """Weights and quotas, so that the steps are several."""
    quotas = "".join(f'[quotas.{role}]\nguarantee = "cpus:{cpus}"\n' for role, cpus in sorted(wishes.items()))
    return f"{quotas}[weights]\n" + "".join(f"{role} = {cpus + 1}.0\n" for role, cpus in sorted(wishes.items()))


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=WISHES, other=WISHES, at=st.integers(1, 4))
def test_either_both_are_as_wanted_or_one_is_told_of_the_other(
    one: dict[str, int], other: dict[str, int], at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other apply runs as a whole when the step `at` of the first one was checked, and before it is made."""
    assume(one != other)  # the same content is refused, whatever the file is called
    # A journal that an earlier example left behind would be gone on with.
    monkeypatch.setenv("XDG_STATE_HOME", mkdtemp(dir=tmp_path))
    lab = Lab("cpus:40;mem:40960")
    (tmp_path / "one.toml").write_text(text(one))
    (tmp_path / "other.toml").write_text(text(other))
    first, second = CommandLine(lab), CommandLine(lab)
    second_ran: list[Any] = []
    perform, steps = run_operations.perform, [0]

    def performing(*words: Any) -> None:
        steps[0] += 1
        if steps[0] == at and not second_ran:
            second_ran.append(None)
            second_ran[0] = second.run("apply", "-f", str(tmp_path / "other.toml"), "--yes")
        perform(*words)

    with monkeypatch.context() as patched:
        patched.setattr(run_operations, "perform", performing)
        ran = first.run("apply", "-f", str(tmp_path / "one.toml"), "--yes")
    assert ran.status in (0, 6), ran.err
    if not second_ran:
        assert (ran.status, first.run("diff", "-f", str(tmp_path / "one.toml")).status) == (0, 0)
        return
    assert second_ran[0].status == 0, second_ran[0].err
    shown = {name: first.run("diff", "-f", str(tmp_path / f"{name}.toml")).status for name in ("one", "other")}
    agree = all(one[role] == other[role] for role in one.keys() & other.keys())
    if ran.status == 0:
        assert shown["one"] == 0  # it is proved at the end
    else:
        assert "the cluster has changed" in ran.err or "differs from the file" in ran.err, ran.err
    assert not agree or ran.status == 6 or shown == {"one": 0, "other": 0}
