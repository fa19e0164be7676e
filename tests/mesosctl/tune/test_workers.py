"""`tune --workers`: a real Dask scheduler and two workers on loopback, and what is told without them."""

import json
import os
import signal
from contextlib import contextmanager

import dask
import pytest
import trustme

from mesosctl import __version__
from mesosctl.__main__ import main
from mesosctl.mesos.errors import BadInput, Unreachable
from mesosctl.tune.dask_workers import CONNECTING, OnDask
from mesosctl.tune.work import play_candidate
from tests.helpers.dask_cluster import cluster, worker
from tests.helpers.surroundings import InMemory, Ran
from tests.helpers.waiting import wait_until
from tests.mesosctl.tune.test_tune import GOALS, LOG, NODES, OPTIONS, SMALL

pytestmark = [pytest.mark.socket, pytest.mark.process, pytest.mark.slow]


@contextmanager
def playing_on(address, timeout=CONNECTING):
    """Players of SMALL on a Dask cluster."""
    with OnDask(address, timeout) as dask_cluster, dask_cluster.playing(SMALL, OPTIONS) as players:
        yield players


def play(players, every):
    """Play several candidates at once, and yield places and evidence as they end."""
    for place, words in enumerate(every):
        players.start(place, words)
    for _ in every:
        yield players.next_ended()


def test_workers_give_the_same_bytes_and_a_lost_one_costs_its_variant_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("log.csv", LOG), ("nodes.csv", NODES), ("goals.toml", GOALS)):
        (tmp_path / name).write_text(text, encoding="utf-8")

    def typed(state, *words):
        environment = InMemory(variables={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / state)})
        return Ran(main(words, environment), environment.out, environment.err)

    assert typed("s", *"history import log.csv --format csv --agents nodes.csv --history h.sqlite".split()).status == 0
    here = typed("here", "tune", "goals.toml", "--replay", "h.sqlite", "-o", "json")
    with cluster(tmp_path, 2) as (address, started):
        there = typed("there", "tune", "goals.toml", "--replay", "h.sqlite", "-o", "json", "--workers", address)
        assert (there.status, there.out) == (here.status, here.out), there.err
        words = [[], ["weight:a=2"], ["weight:b=2"], ["quota:a=cpus:1"]] * 3
        with playing_on(address) as players:
            shown = play(players, words)
            found = [next(shown)]
            os.kill(started[1].pid, signal.SIGKILL)
            found += shown
        assert sorted(place for place, _ in found) == list(range(len(words)))
        expected = {str(one): play_candidate(SMALL, one, OPTIONS) for one in words[:4]}
        assert all(evidence == expected[str(words[place])] for place, evidence in found)


def test_if_all_workers_are_lost_the_rest_is_sent_again_to_others(tmp_path):
    words = [[], ["weight:a=2"], ["weight:b=2"], ["quota:a=cpus:1"]] * 3
    with cluster(tmp_path, 1) as (address, started), playing_on(address) as players:
        shown = play(players, words)
        found = [next(shown)]
        os.kill(started[1].pid, signal.SIGKILL)  # and the demand is lost with it
        other = worker(tmp_path, address, 1)
        try:
            found += shown
        finally:
            other.stop()
    expected = {str(one): play_candidate(SMALL, one, OPTIONS) for one in words[:4]}
    assert sorted(place for place, _ in found) == list(range(len(words)))
    assert all(evidence == expected[str(words[place])] for place, evidence in found)


def test_a_lost_scheduler_is_told(tmp_path):
    with cluster(tmp_path, 1) as (address, started), playing_on(address, timeout=0.5) as players:
        shown = play(players, [[], ["weight:a=2"]] * 20)
        next(shown)
        os.kill(started[0].pid, signal.SIGKILL)
        with pytest.raises(Unreachable, match="is lost"):
            list(shown)


def test_a_scheduler_that_is_lost_before_anything_is_played_is_told(tmp_path):
    """Dask's client knows the workers of a moment before."""
    with cluster(tmp_path, 1) as (address, started), playing_on(address, timeout=0.5) as players:
        assert players.at_once == 1
        os.kill(started[0].pid, signal.SIGKILL)
        with pytest.raises(Unreachable, match="is lost"):
            assert players.at_once


@pytest.fixture
def of_another_version(tmp_path):
    """The option of a worker by which its mesosctl says that it is 0.0.9."""
    (tmp_path / "older.py").write_text("import mesosctl\nmesosctl.__version__ = '0.0.9'\n", encoding="utf-8")
    return "--preload", str(tmp_path / "older.py")


def test_a_worker_with_another_version_is_told_before_a_recording_is_read(tmp_path, of_another_version):
    goals, recording = tmp_path / "goals.toml", tmp_path / "is-not-there.sqlite"
    goals.write_text(GOALS, encoding="utf-8")
    with cluster(tmp_path, 1, worker_options=of_another_version) as (address, _):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        words = "tune", str(goals), "--replay", str(recording), "--workers", address, "-o", "json"
        assert main(words, environment) == 3
    assert f"mesosctl 0.0.9 instead of {__version__}" in json.loads(environment.err)["error"]["message"]


def test_a_worker_that_joins_later_with_another_version_is_told(tmp_path, of_another_version):
    with cluster(tmp_path, 1) as (address, started), playing_on(address) as players:
        other = worker(tmp_path, address, 1, *of_another_version)
        try:
            wait_until(lambda: players.at_once == 2, other.last_words)
            os.kill(started[1].pid, signal.SIGKILL)
            with pytest.raises(BadInput, match=r"a worker that has joined has mesosctl 0\.0\.9 instead of"):
                list(play(players, [[]]))
        finally:
            other.stop()


def test_a_scheduler_without_workers_is_told(tmp_path):
    with (
        cluster(tmp_path, 0) as (address, _),
        pytest.raises(Unreachable, match="has no workers"),
        playing_on(address),
    ):
        pass


@contextmanager
def certificates_of_dask(folder, authority):
    """Dask's own settings, as `DASK_DISTRIBUTED__COMM__TLS__CA_FILE` and such set them."""
    names = {"ca-file": "ca.pem", "client.cert": "client.pem"}
    authority.cert_pem.write_to_path(folder / names["ca-file"])
    authority.issue_cert("ops@example.org").private_key_and_cert_chain_pem.write_to_path(folder / names["client.cert"])
    with dask.config.set({f"distributed.comm.tls.{key}": str(folder / name) for key, name in names.items()}):
        yield


def test_over_tls_with_the_certificates_of_dask_s_settings(tmp_path):
    authority, other = trustme.CA(), trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = ("--tls-ca-file", str(tmp_path / "ca.pem"), "--tls-cert", str(tmp_path / "server.pem"))
    with cluster(tmp_path, 1, *tls) as (address, _):
        assert address.startswith("tls://")
        with certificates_of_dask(tmp_path, authority), playing_on(address) as players:
            (found,) = play(players, [["weight:a=2"]])
        assert found == (0, play_candidate(SMALL, ["weight:a=2"], OPTIONS))
        (tmp_path / "other").mkdir()
        with (
            certificates_of_dask(tmp_path / "other", other),
            pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"),
            playing_on(address, timeout=1.0),
        ):
            pass


def test_tls_without_certificates_is_told():
    with pytest.raises(BadInput, match="needs certificates") as refused, OnDask("tls://127.0.0.1:9"):
        pass
    variables = ("DASK_DISTRIBUTED__COMM__TLS__CA_FILE", "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT")
    assert refused.value.hint == f"set {' and '.join(variables)}"


def test_an_address_without_a_scheduler_is_told():
    with (
        pytest.raises(Unreachable, match="no Dask scheduler answered") as refused,
        OnDask("tcp://127.0.0.1:9", timeout=0.5),
    ):
        pass
    assert "--timeout" in str(refused.value.hint)
    with pytest.raises(BadInput, match="cannot be used"), OnDask("nonsense://x"):
        pass
