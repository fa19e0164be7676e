"""A `fake:` address answers the same whether its master has started or not."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.registry.interface import MemoryRegistry, RegistryFailure
from fake_master.state.streams import EventStream
from fake_master.transports.address import open_on_call
from fake_master.transports.connections import DirectConnection, LazyConnection
from mesosctl.mesos.errors import BadInput
from tests.helpers.lab import Scheduler, lasting
from tests.helpers.profiles import examples


def quota_of(carrier):
    """What GET /quota says."""
    try:
        return carrier.answer("GET", "/quota", {}, b"").body
    finally:
        carrier.close()


ROLES = st.sampled_from(["a", "b", "c/d"])
AMOUNT = st.sampled_from([0.1, 1, 2.5])
CHANGES = st.lists(st.one_of(st.tuples(st.just("POST"), ROLES, AMOUNT), st.tuples(st.just("DELETE"), ROLES, AMOUNT)))


@given(CHANGES, st.sampled_from(["documents", "1.11"]))
@settings(max_examples=examples(15), deadline=None)
def test_quota_is_the_same_whether_the_master_has_started_or_not(changes, version):
    with TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", home)
        address = f"fake:?version={version}"
        open_on_call(f"{address}&fresh").close()
        for method, role, amount in changes:
            guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": amount}}]
            body = json.dumps({"role": role, "guarantee": guarantee})
            carrier = open_on_call(address)
            carrier.answer(method, "/quota" if method == "POST" else f"/quota/{role}", {}, body.encode())
            carrier.close()
        started = open_on_call(address)
        started.answer("GET", "/version", {}, b"")
        assert quota_of(open_on_call(address)) == quota_of(started)


def test_who_closes_it_ends_its_master_which_keeps_what_it_has_not_yet(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        carrier = LazyConnection(lambda: DirectConnection(here.master), here.master.registry, None, nullcontext)
        assert carrier.answer("GET", "/version", {}, b"").status == 200
        scheduler.run("a")
        carrier.close()
        here.start(here.spec)
        scheduler.subscribe()
        assert scheduler.told() == []


def test_a_master_that_cannot_start_for_a_stream_is_explained() -> None:
    @contextmanager
    def explained() -> Iterator[None]:
        try:
            yield
        except RegistryFailure as failure:
            raise BadInput(str(failure)) from failure

    def start() -> DirectConnection:
        raise RegistryFailure("the file is gone")

    with pytest.raises(BadInput, match="the file is gone"):
        LazyConnection(start, MemoryRegistry(), None, explained).events(EventStream(), None)
