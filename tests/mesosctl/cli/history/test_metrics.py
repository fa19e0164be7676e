"""`mesosctl metrics`: what prometheus-client's own parsers read of it, and names as promtool wants them."""

import re
import urllib.request

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import Master
from mesosctl.client.settings import ClientSettings
from mesosctl.operations.top import OverviewReader
from mesosctl.output import metrics as shown
from tests import ROOT
from tests.fuzz.hostile import EVIL, steering
from tests.helpers.lab import CommandLine, Lab


@pytest.fixture
def live():
    frameworks = (
        SimulatedFrameworkSpec("shop", ("web",), answer="hold", principal="ops"),
        SimulatedFrameworkSpec("idle", ("quiet",), answer="decline"),
    )
    lab = Lab("cpus:4;mem:4096", "cpus(ads):2;cpus:2;mem:1024", version="1.11", frameworks=frameworks)
    commands = CommandLine(lab)
    commands.run("quota", "set", "web", "cpus:20", "mem:1GiB", "--force", "--limit", "cpus:40")
    lab.wait(3.0)
    return commands


def samples(text):
    return {
        (one.name, *sorted(one.labels.values())): one.value for family in openmetrics(text) for one in family.samples
    }


def test_the_present_moment(live):
    ran = live.run("metrics")
    assert ran.status == 0, ran.err
    found = samples(ran.out)
    assert found["mesosctl_master_up",] == 1
    assert found["mesosctl_cluster_resources", "core", "cpus"] == 8
    assert found["mesosctl_cluster_resources", "byte", "mem"] == 5120 * 2**20
    assert found["mesosctl_role_guarantee", "core", "cpus", "web"] == 20
    assert found["mesosctl_role_limit", "core", "cpus", "web"] == 40
    assert found["mesosctl_role_guarantee_unmet", "core", "cpus", "web"] > 0
    assert found["mesosctl_role_wanting", "web"] == 1
    assert found["mesosctl_agents", "active"] == 2
    assert any(key[0] == "mesosctl_offers_outstanding" for key in found)


def test_names_follow_the_conventions(live):
    """The rules of `promtool check metrics`."""
    text = live.run("metrics").out
    assert text.endswith("# EOF\n")
    for family in openmetrics(text):
        assert family.documentation, family.name
        assert re.fullmatch(r"mesosctl_[a-z_]+", family.name)
        assert not re.search(r"_(total|count|sum|bucket|gauge|counter|info)$", family.name), family.name
        assert not re.search(r"(milli|kilo|mebi|minutes|hours|percent)", family.name), family.name
        for sample in family.samples:
            assert sample.name.endswith("_total") == (family.type == "counter")
    assert {family.name for family in classic(text)}


NAMES = st.one_of(st.text(st.characters(), max_size=8), st.sampled_from(EVIL), st.from_regex(r"\\?\\(x1b|u202e)"))


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_a_label_controls_no_terminal_and_no_two_names_are_one(names):
    """Surrogates too, which JSON can bring and UTF-8 cannot write."""

    def read():
        gauge = GaugeMetricFamily("mesosctl_test", "A test.", labels=("name",))
        for name in names:
            gauge.add_metric([name], 1)
        yield gauge

    written = shown.text(read)
    assert not steering(written)
    (family,) = openmetrics(written)
    read_back = [sample.labels["name"] for sample in family.samples]
    assert len(set(read_back)) == len(names)
    assert [back for name, back in zip(names, read_back, strict=True) if name.isalnum()] == [
        name for name in names if name.isalnum()
    ]


def test_alerts_name_metrics_that_there_are(live):
    page = (ROOT / "docs/how-to/metrics.md").read_text(encoding="utf-8")
    (rules,) = re.findall(r'```yaml title="mesos.rules.yml"\n(.*?)```', page, re.DOTALL)
    alerts = yaml.safe_load(rules)["groups"][0]["rules"]
    known = {family.name for family in openmetrics(live.run("metrics").out)}
    assert len(alerts) == 3
    for alert in alerts:
        assert set(re.findall(r"mesosctl_\w+", alert["expr"])) <= known


def test_the_file_is_written_as_a_whole(live, tmp_path):
    ran = live.run("metrics", "-f", str(tmp_path / "mesos.prom"))
    assert (ran.status, ran.out) == (0, "")
    assert (tmp_path / "mesos.prom").read_text(encoding="utf-8").endswith("# EOF\n")


@pytest.mark.parametrize("place", ["9110", "localhost", "127.0.0.1:http", "127.0.0.1:99999"])
def test_a_place_that_is_none_is_refused(live, place):
    ran = live.run("metrics", "--listen", place)
    assert (ran.status, "is not HOST:PORT" in ran.err) == (2, True)


@pytest.mark.socket
def test_it_is_served_until_it_is_stopped(live):
    answers = iter([True, False])
    with Master(parse_address("http://127.0.0.1:5050"), ClientSettings(), live) as master:
        reader = OverviewReader(master)

        def read():
            return shown.families(reader.read(), reader.messages()) if next(answers) else shown.no_master()

        server, thread = start_http_server(0, "127.0.0.1", shown.registry(read))
        try:
            for up in (1, 0):
                with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics", timeout=60) as answer:
                    found = {one.name: one.samples[0].value for one in classic(answer.read().decode()) if one.samples}
                assert found["mesosctl_master_up"] == up
        finally:
            server.shutdown()
            server.server_close()
            thread.join(60)
