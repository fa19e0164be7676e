"""Commands for what the release of a master lacks are refused before anything is sent; what it has is not refused."""

import json

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.helpers.lab import CommandLine, Lab, Scheduler

CONFIGS = [{"role": role, "guarantees": {"cpus": {"value": 1}}} for role in ("a", "b")]
SEVERAL = json.dumps({"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": CONFIGS}})
SINCE = {
    "agents gone agent-1 --yes": "1.5.3",
    "frameworks teardown @F --api v1 --yes": "1.5.3",
    "agents drain agent-1 --yes": "1.9.0",
    "agents deactivate agent-1": "1.9.0",
    "agents reactivate agent-1": "1.9.0",
    "wait agent/agent-1=drained --timeout 1s": "1.9.0",
    "wait agent/agent-1=deactivated --timeout 1s": "1.9.0",
    "quota set web cpus:1 --limit cpus:2": "1.9.0",
    "quota set web --limit cpus:2": "1.9.0",
    "quota update -f - --create --yes": "1.9.0",
    "quota set * cpus:1": "1.10.0",
    "can-i quota set *": "1.10.0",
}
"""Commands, each with the first release that does not refuse it for its age."""


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("words", SINCE)
def test_what_a_release_lacks_is_refused_before_anything_is_sent(release: str, words: str) -> None:
    lab = Lab("cpus:4;mem:2048", version=release)
    framework = Scheduler(lab)
    line = CommandLine(lab)
    ran = line.run(*words.replace("@F", framework.id).split(), stdin=SEVERAL)
    first = SINCE[words]
    if has(release, first):
        assert (ran.status != 3, "or newer" in ran.err) == (True, False), ran.err
    else:
        refusal = f"needs Mesos {first.rpartition('.')[0]} or newer; this master is {release}"
        assert (ran.status, refusal in ran.err, line.changes) == (3, True, []), ran.err
