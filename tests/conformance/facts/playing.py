"""A fake master that behaves as a profile says, also as one that no release has."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from unittest.mock import patch

from fake_master.extensions import bundled_allocators
from fake_master.registry.sqlite import open_registry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec, register_agent
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.rules.version_profile import DOCUMENTS, Profile
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.fakes import in_process


@dataclass(frozen=True, slots=True)
class _SpecOfProfile(ClusterSpec):
    """A specification that has a profile instead of a version."""

    of: Profile = DOCUMENTS

    @property
    def profile(self) -> Profile:
        return self.of


@contextmanager
def shuffling(seed: int) -> Iterator[None]:
    """Until the end, allocators that start visit agents in random orders, as those of real masters do."""
    plain = bundled_allocators._options
    shuffle = Random(seed).shuffle
    with patch.object(bundled_allocators, "_options", lambda *of: replace(plain(*of), shuffle=shuffle)):
        yield


def start(profile: Profile, setup: Setup, folder: Path) -> Cluster:
    """A master in process, which can lose agents."""
    spec = _SpecOfProfile(agents=tuple(map(AgentSpec, setup.agents)), flags=setup.all_flags(folder), of=profile)
    clock = VirtualClock()
    master = spec.start(open_registry(spec.flags), clock=clock, takes_over=True)

    def lose_agent(resources: str) -> None:
        with master.transaction():
            register_agent(master, AgentSpec(resources), len(master.state.agents))
            *_, agent = master.state.agents.values()
            master.agent_removal.disconnect(agent)

    cluster = in_process(master, clock, setup)
    cluster.lose_agent = lose_agent
    return cluster
