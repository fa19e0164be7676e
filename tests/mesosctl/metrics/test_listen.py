"""`mesosctl metrics --listen`: a process that serves the cluster's present moment, and that of no master."""

import os
import re
import signal
import socket
import sys
import urllib.error
import urllib.request

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics

from tests.conformance.masters.processes import Process
from tests.helpers.waiting import PATIENCE, wait_until
from tests.mesosctl.usage.priced import NOVEMBER, write_priced

pytestmark = [pytest.mark.socket, pytest.mark.process, pytest.mark.slow]


def test_metrics_are_served_with_and_without_a_master_until_sigterm(tmp_path):
    master = Process([sys.executable, "-m", "fake_master", "--port", "0"], tmp_path / "master.log")
    server = None
    try:
        write_priced(tmp_path)
        words = ["--master", master.first_line(), "--timeout", "5", "metrics", "--listen", "127.0.0.1:0"]
        words += ["--history", str(tmp_path / "h.sqlite"), "--prices", str(tmp_path / "prices.toml")]
        server = Process([sys.executable, "-m", "mesosctl", *words], tmp_path / "metrics.log")
        wait_until(lambda: "serving" in server.last_words(), server.last_words)
        ((address, host, port),) = re.findall(r"(http://(127\.0\.0\.1):([0-9]+)/metrics)", server.last_words())

        def up():
            request = urllib.request.Request(address, headers={"Accept": "application/openmetrics-text"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                families = {one.name: one for one in openmetrics(answer.read().decode())}
            costs = [sample.value for sample in families["mesosctl_role_cost_month"].samples]
            assert sum(costs) == sum(NOVEMBER.values())  # with a master and without one
            return families["mesosctl_master_up"].samples[0].value, len(families)

        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address.replace("/metrics", "/"), timeout=PATIENCE)
        assert "WARNING" not in server.last_words()
        value, count = up()
        assert value == 1
        assert count > 10
        silent = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(100)]
        assert up() == (value, count)  # while they are open, and say nothing
        for connection in silent:
            connection.close()
        master.kill()
        assert up() == (0, 1 + 5)
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: not server.running())
        assert "Traceback" not in server.last_words()
    finally:
        for one in (server, master):
            if one is not None:
                one.stop()
