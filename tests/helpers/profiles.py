"""How many examples hypothesis tries: a third of them in the profile `dev`, all of them in `ci`."""

import os

from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine alone.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("ci", _ANY_MACHINE, max_examples=100)
settings.register_profile("dev", _ANY_MACHINE, max_examples=33)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


def examples(number: int) -> int:
    """Return `number` in CI and with ``--hypothesis-profile=ci``, else a third of it."""
    return number if settings.get_current_profile_name() == "ci" else max(1, number // 3)
