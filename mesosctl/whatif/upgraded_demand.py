"""Recorded demand under a master of another release, which has taken over the registry of the recorded one."""

import json
from dataclasses import replace

from mesosctl.mesos.door.replay import RecordedDemand, ReplayedSetting
from mesosctl.mesos.rules.upgrade import Read, quotas_read, why_it_does_not_start
from mesosctl.mesos.rules.version_profile import Profile


def on_release(demand: RecordedDemand, profile: Profile) -> RecordedDemand:
    """The demand under a master of another profile: its quotas mean what that master reads, or are set again there."""
    how = quotas_read(demand.profile, profile)
    roles = [setting.name for setting in demand.settings if setting.kind == "quota" and setting.value is not None]
    assumptions = demand.assumptions
    if roles and how == "not":
        why = why_it_does_not_start(roles, demand.profile, profile)
        lost = f"{profile} reads no quota that {demand.profile} keeps" if why is None else f"{profile} needs that"
        assumptions = (
            *assumptions,
            f"{lost}: quotas are removed before it starts, and guarantees are set again when it leads",
        )
    return replace(
        demand,
        version=profile.version,
        mesos_profile=profile.name,
        settings=[_meant(setting, how) for setting in demand.settings],
        assumptions=assumptions,
    )


def _meant(setting: ReplayedSetting, how: Read) -> ReplayedSetting:
    """A recorded setting as the other master has it."""
    if setting.kind != "quota" or setting.value is None or how == "as it is":
        return setting
    config = json.loads(setting.value)
    guarantees = config.get("guarantees", {})
    limits = guarantees if how == "with limits" else {}
    return setting._replace(value=json.dumps({**config, "guarantees": guarantees, "limits": limits}))
