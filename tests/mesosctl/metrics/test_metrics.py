"""`mesosctl metrics`: what prometheus-client's own parsers read of it, and names as promtool wants them."""

import json
import re
import urllib.request
from datetime import UTC, datetime

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
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.history.records import MICROS
from mesosctl.metrics import report as shown
from mesosctl.metrics.command import is_reachable
from mesosctl.reading.overview import OverviewReader
from mesosctl.usage.cost import of_last_month
from mesosctl.usage.prices import load
from tests import ROOT
from tests.endurance.fuzz.hostile import EVIL, steering
from tests.helpers.lab import CommandLine, Lab
from tests.mesosctl.usage.priced import BEGIN, NOVEMBER, write_priced


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


@pytest.fixture
def priced(live, tmp_path, monkeypatch):
    """Metrics with the cost of a month, and further words."""
    monkeypatch.chdir(tmp_path)
    write_priced(tmp_path)

    def run(*words):
        ran = live.run("metrics", "--history", "h.sqlite", "--prices", "prices.toml", *words)
        assert ran.status == 0, ran.err
        return ran.out

    return run


def test_the_cost_of_a_role_since_the_month_began_is_that_of_usage(priced):
    found = samples(priced())
    cost = {key[1:]: value for key, value in found.items() if key[0] == "mesosctl_role_cost_month"}
    assert cost == {tuple(sorted((*key, "EUR"))): value for key, value in NOVEMBER.items()}
    in_service = 12 * (8 + 2 * 2 + 10) + 12 * 8 + 10 * 8 * 0.5
    assert found["mesosctl_cluster_idle_cost_month", "EUR"] == in_service - sum(NOVEMBER.values())
    assert found["mesosctl_cost_month_covered_ratio",] == 34 / 36
    assert found["mesosctl_cost_month_start_timestamp_seconds",] == BEGIN / MICROS + 12 * 3600
    assert found["mesosctl_cost_month_end_timestamp_seconds",] == BEGIN / MICROS + 48 * 3600


def test_a_month_that_began_before_the_recording_is_not_covered_before(priced):
    """In Kiritimati, November begins two hours before the recording."""
    found = samples(priced("--timezone", "Pacific/Kiritimati"))
    assert found["mesosctl_cost_month_covered_ratio",] == 46 / 50
    assert found["mesosctl_cost_month_start_timestamp_seconds",] == BEGIN / MICROS - 2 * 3600


def test_a_recording_that_ends_with_a_month_shows_that_month():
    prices = load('currency = "EUR"\n[[prices]]\ncpu_hour = 1\n', "prices.toml", UTC)
    begin, end = (round(datetime(2026, month, 1, tzinfo=UTC).timestamp()) * MICROS for month in (10, 11))
    for last, since in ((end, begin), (end + 1, end)):
        options = of_last_month(begin - 1, last, prices)
        assert (options.since, options.until, options.outside) == (since, last, ())


def test_names_follow_the_conventions(priced):
    """The rules of `promtool check metrics`."""
    text = priced()
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


@pytest.mark.process  # losses are forecast side by side
def test_alerts_name_metrics_that_there_are(priced):
    page = (ROOT / "docs/how-to/metrics.md").read_text(encoding="utf-8")
    (rules,) = re.findall(r'```yaml title="mesos.rules.yml"\n(.*?)```', page, re.DOTALL)
    alerts = yaml.safe_load(rules)["groups"][0]["rules"]
    known = {family.name for family in openmetrics(priced("--spare", "agent"))}
    assert len(alerts) == 5
    for alert in alerts:
        assert set(re.findall(r"mesosctl_\w+", alert["expr"])) <= known
        assert_joined_by_cluster(alert["expr"])


def assert_joined_by_cluster(expression):
    """Roles of several clusters have the same names, so metrics are joined, and added up, by the cluster too."""
    for labels in re.findall(r"\b(?:on|by|ignoring|without) *\((.*?)\)", expression):
        assert "instance" in [label.strip() for label in labels.split(",")], expression


def test_the_dashboard_shows_metrics_that_there_are(priced, live):
    dashboard = json.loads((ROOT / "docs/how-to/mesosctl-dashboard.json").read_text(encoding="utf-8"))
    families = [*openmetrics(priced()), *openmetrics(live.run("metrics").out)]
    known = {sample.name for family in families for sample in family.samples} | {family.name for family in families}
    labels = {sample.name: {"instance", *sample.labels} for family in families for sample in family.samples}
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"]) > 5
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            metrics = set(re.findall(r"mesosctl_\w+", target["expr"]))
            assert metrics <= known, panel["title"]
            for metric in metrics & labels.keys():  # the others have no value in this cluster
                assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= labels[metric] or len(metrics) > 1
            assert target["legendFormat"].startswith("{{instance}}")
            assert_joined_by_cluster(target["expr"])
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    for name in ("instance", "resource"):
        ((metric, label),) = re.findall(r"label_values\((\w+).*, (\w+)\)", variables[name]["query"]["query"])
        assert label in labels[metric]


def test_the_file_is_written_as_a_whole(live, tmp_path):
    ran = live.run("metrics", "-f", str(tmp_path / "mesos.prom"))
    assert (ran.status, ran.out) == (0, "")
    assert (tmp_path / "mesos.prom").read_text(encoding="utf-8").endswith("# EOF\n")


@pytest.mark.parametrize("place", ["9110", "localhost", "127.0.0.1:http", "127.0.0.1:99999"])
def test_a_place_that_is_none_is_refused(live, place):
    ran = live.run("metrics", "--listen", place)
    assert (ran.status, "is not HOST:PORT" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("address", "reachable"),
    [
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("::1", False),
        ("0.0.0.0", True),
        ("::", True),
        ("10.0.0.1", True),
        ("fe80::1%eth0", True),
    ],
)
def test_an_address_off_loopback_can_be_reached_by_others(address, reachable):
    assert is_reachable(address) == reachable


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metric", "/favicon.ico", "/metrics/x", "/..//metrics"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_the_metrics_are_at_one_path_and_no_cluster_is_read_for_another(path, method):
    def read():
        raise AssertionError("the cluster is read")

    told = []

    def start_response(status, _headers, _failure=None):
        told.append(status)
        return told.append

    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": ""}
    body = shown.application(shown.registry(read))(environ, start_response)
    assert (told, b"/metrics" in b"".join(body)) == (["404 Not Found"], True)


@pytest.mark.socket
def test_it_is_served_until_it_is_stopped(live):
    answers = iter([True, False])
    with LeadingMaster(parse_address("http://127.0.0.1:5050"), ClientSettings(), live) as master:
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
