"""How many examples hypothesis tries, and how a failure is repeated.

The profile `dev` is that of the default check. `ci` is that of ``check --all`` and of ``tests/scripts/days``: it tries
five times as many where a test does not set its own number, which means that it is quick, and three times elsewhere.
Each day has other examples in ``.ci/run``, so one run need not try more. `mutants` is `dev` where tests are meant to
fail.

The seed decides which examples are tried, on every machine: hypothesis alone would ignore it where CI is set.
"""

import os
import shlex
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, Phase, settings

# How long an example takes says something of the machine alone.
_ANY_MACHINE = settings(deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("dev", _ANY_MACHINE, max_examples=33)
settings.register_profile("ci", _ANY_MACHINE, max_examples=5 * 33)
# That a test fails is enough: the smallest example is not looked for.
settings.register_profile(
    "mutants", _ANY_MACHINE, max_examples=33, database=None, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


def examples(number: int) -> int:
    """Return `number`, the number of a test that takes long; a third of it in the profile `dev`."""
    return max(1, number // 3) if settings.get_current_profile_name() in ("dev", "mutants") else number


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name the command that repeats a failed random test."""
    report = yield
    seed = item.config.getoption("--hypothesis-seed", None)
    if report.failed and seed is not None and item.get_closest_marker("hypothesis") is not None:
        words = ("python", "-m", "pytest", item.nodeid, f"--hypothesis-seed={seed}")
        profile = f"--hypothesis-profile={settings.get_current_profile_name()}"
        report.sections.append(
            ("repeat it", f"{shlex.join((*words, profile))}\nThen keep the example that it prints: @example(…)")
        )
    return report
