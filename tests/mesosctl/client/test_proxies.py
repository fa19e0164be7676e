"""Proxies between the client and masters: which one is used for whom, and what is said if it does not work."""

import socket
import threading
from typing import cast

import httpcore
import httpx
import pytest
from httpx._utils import get_environment_proxies  # the only place that says what httpx makes of them

from mesosctl.client.address import parse_address
from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.proxies import Proxy, is_loopback, proxies
from mesosctl.client.settings import ClientSettings, Tls
from mesosctl.client.transport import NetworkTransport, ProxiedTransport
from mesosctl.mesos.errors import Unreachable, UsageError
from tests.helpers.needs import needs
from tests.mesosctl.client.papers import Papers
from tests.mesosctl.client.scripted import Scripted, answer


@pytest.fixture
@needs("socket")
def serve():
    opened = []

    def start(*connections, tls=None):
        opened.append(Scripted(*connections, tls=tls))
        return opened[-1]

    yield start
    for server in opened:
        server.stop()


def ask(base, through, body=None, tls=None, path="/quota"):
    client = HttpClient(proxies=through, tls=tls or Tls())
    try:
        method = "GET" if body is None else "POST"
        return client.exchange(method, base, path, {"Accept": "application/json"}, body, Deadline(10, lambda: 0.0))
    finally:
        client.close()


VARIABLES = {
    "HTTP_PROXY": "http://one:3128",
    "https_proxy": "two:3129",
    "ALL_PROXY": "socks5://three:1080",
    "NO_PROXY": "m1.example, .inner.example,10.0.0.1,fd00::1,localhost",
}


@pytest.mark.parametrize("variables", [VARIABLES, {**VARIABLES, "HTTPS_PROXY": "http://never:1"}])
def test_variables_mean_what_they_mean_for_httpx(variables, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ours = {pattern: proxy and proxy.url for pattern, proxy in proxies(None, variables).items()}
    assert ours == get_environment_proxies()
    everything = {**variables, "NO_PROXY": "m1, *"}
    assert proxies(None, everything) == {}
    assert proxies(None, {"NO_PROXY": "m1"}) == {}


def test_the_proxy_that_is_set_comes_before_variables():
    said = Proxy("socks5://four:1080", "MESOSCTL_PROXY")
    assert proxies(said, VARIABLES) == {"all://": said}


@pytest.mark.parametrize("text", ["ftp://p:1", "http://", "http://p:99999", "http://a b", "socks4://p", "http://p:0"])
@pytest.mark.parametrize("is_set", [True, False])
def test_what_is_no_url_of_a_proxy(text, is_set):
    place = "--proxy" if is_set else "HTTP_PROXY"
    with pytest.raises(UsageError, match=f"{place} is not the URL of a proxy"):
        proxies(Proxy(text) if is_set else None, {"HTTP_PROXY": text})


def test_a_password_is_not_shown():
    proxy = Proxy("http://ops:s3cret@p:3128")
    assert (str(proxy), "s3cret" in repr(proxy)) == ("http://p:3128", False)
    with pytest.raises(UsageError) as wrong:
        proxies(Proxy("ftp://ops:s3cret@p:3128"), {})
    assert "s3cret" not in f"{wrong.value.message} {wrong.value.hint}"


@pytest.mark.parametrize(
    ("host", "answer"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("LOCALHOST.", True), ("m.localhost", True), ("10.0.0.1", False), ("localhost.example", False),
     ("example", False), ("::2", False)],
)  # fmt: skip
def test_which_hosts_are_this_machine(host, answer):
    assert is_loopback(host) is answer


class Network:
    """A way to masters that only notes through which proxy it is used."""

    def __init__(self):
        self.proxies = []

    def handle_request(self, request, proxy=None):
        self.proxies.append(proxy)
        return httpx.Response(200, request=request)


@pytest.mark.parametrize(
    ("url", "direct"),
    [
        ("http://127.0.0.1:5050/", True),
        ("https://[::1]:5050/", True),
        ("http://localhost/", True),
        ("http://m/", False),
    ],
)
def test_only_masters_elsewhere_are_reached_through_it(url, direct):
    network, proxy = Network(), Proxy("http://p:3128")
    ProxiedTransport(cast("NetworkTransport", network), proxy).handle_request(httpx.Request("GET", url))
    assert network.proxies == [None if direct else proxy]


def test_the_target_is_part_of_the_address_alone(monkeypatch):
    """An extension of that name would replace the whole address that a proxy is sent."""
    sent = []

    class Pool:
        def handle_request(self, request):
            sent.append(request)
            raise httpcore.ConnectError("nobody is there")

    transport = NetworkTransport(Tls())
    monkeypatch.setattr(transport, "_pool", lambda *_: Pool())
    request = httpx.Request("GET", "http://m/a%2Fb", extensions={"target": b"/a%2Fb?c", "timeout": {}})
    with pytest.raises(httpx.ConnectError):
        transport.handle_request(request)
    assert (bytes(sent[0].url), sent[0].extensions) == (b"http://m/a%2Fb?c", {"timeout": {}})


@pytest.mark.parametrize("body", [None, b"{}"])
@pytest.mark.parametrize("path", ["/quota", "/quota/a%2Fb", "/slaves?slave_id=x%20y"])
def test_a_proxy_gets_the_whole_address(serve, body, path):
    proxy = serve([answer(b"1"), answer(b"2")])
    through = proxies(None, {"HTTP_PROXY": proxy.base})
    assert ask("http://m.example:5050", through, body, path=path).body == b"1"
    first = proxy.requests[0][1].partition(b"\r\n")[0].decode()
    assert first == f"{'GET' if body is None else 'POST'} http://m.example:5050{path} HTTP/1.1"


def test_a_proxy_gets_its_own_credentials(serve):
    proxy = serve([answer(b"1")])
    ask("http://m.example:5050", proxies(Proxy(proxy.base.replace("//", "//ops:s3%40cret@")), {}))
    sent = proxy.requests[0][1].decode().lower()
    assert f"proxy-authorization: {httpx.BasicAuth('ops', 's3@cret')._auth_header}".lower() in sent
    assert "\r\nauthorization:" not in sent


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("said", [True, False])
def test_a_master_on_this_machine_is_reached_without_one(serve, address, said):
    master = serve([answer(b"1")])
    dead = "http://proxy.invalid:3128"
    through = proxies(Proxy(dead) if said else None, {"HTTP_PROXY": dead, "ALL_PROXY": dead})
    assert ask(master.base.replace("127.0.0.1", address), through).body == b"1"
    assert master.requests[0][1].startswith(b"GET /quota HTTP/1.1")


@pytest.mark.parametrize(
    ("excepted", "direct"),
    [("m.example", True), ("example", True), (".example", True), ("m.example:5050", True), ("*", True),
     ("other.example", False), ("http://m.example", True), ("https://m.example", False), ("", False)],
)  # fmt: skip
def test_no_proxy_names_masters_that_are_reached_without_one(serve, monkeypatch, excepted, direct):
    server = serve([answer(b"1")])
    port = int(server.base.rpartition(":")[2])
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    ask("http://m.example:5050", proxies(None, {"HTTP_PROXY": "http://proxy.example:3128", "NO_PROXY": excepted}))
    assert server.requests[0][1].startswith(b"GET /quota" if direct else b"GET http://m.example:5050/quota")


class Tunnel:
    """A proxy that passes on what comes after CONNECT to one server, whatever is asked for."""

    def __init__(self, server, status=b"200 OK"):
        self.asked = []
        self._to, self._status = server, status
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(60)
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        near, _ = self._socket.accept()
        near.settimeout(60)
        with near:
            self.asked.append(near.recv(65536).partition(b"\r\n")[0])
            near.sendall(b"HTTP/1.1 " + self._status + b"\r\n\r\n")
            if not self._status.startswith(b"2"):
                return
            port = int(self._to.base.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=60) as far:
                back = threading.Thread(target=_pass_on, args=(far, near))
                back.start()
                _pass_on(near, far)
                back.join()

    def stop(self):
        self._thread.join()
        self._socket.close()


def _pass_on(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


def test_https_goes_through_a_tunnel(serve, tmp_path):
    papers = Papers(tmp_path)
    master = serve([answer(b"1")], tls=papers.server("m.example"))
    tunnel = Tunnel(master)
    try:
        through = proxies(None, {"HTTPS_PROXY": tunnel.base})
        assert ask("https://m.example:5050", through, tls=Tls(papers.cacert)).body == b"1"
    finally:
        tunnel.stop()
    assert tunnel.asked == [b"CONNECT m.example:5050 HTTP/1.1"]
    assert master.requests[0][1].startswith(b"GET /quota HTTP/1.1")


@pytest.mark.socket
def test_a_refusal_names_the_proxy(serve):
    tunnel = Tunnel(None, b"403 Forbidden by policy")
    try:
        with pytest.raises(Unreachable) as refused:
            ask("https://m.example:5050", proxies(None, {"HTTPS_PROXY": tunnel.base}), b"{}")
    finally:
        tunnel.stop()
    assert refused.value.message.endswith(f"the proxy {tunnel.base} refused: 403 Forbidden by policy")
    assert not refused.value.may_have_happened
    proxy = serve([answer(b"sign in", status=b"407 Proxy Authentication Required")])
    with pytest.raises(Unreachable, match="refused: 407"):
        ask("http://m.example:5050", proxies(Proxy(proxy.base), {}), b"{}")


@pytest.mark.socket
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_does_not_answer_is_named_with_where_it_was_written(scheme):
    variables = {f"{scheme.upper()}_PROXY": "http://127.0.0.1:9"}
    settings = ClientSettings(timeout=5, proxies=proxies(None, variables))
    with (
        LeadingMaster(parse_address(f"{scheme}://m.example:5050"), settings) as master,
        pytest.raises(Unreachable) as dead,
    ):
        master.get("/quota")
    assert "the proxy http://127.0.0.1:9 does not answer" in dead.value.message


@pytest.mark.socket
def test_the_command_line_uses_the_proxy_of_option_variable_or_context(serve, type_words, tmp_path):
    master = "http://m.example:5050"
    words = ("quota", "list", "--master", master)
    file = {"MESOSCTL_CONFIG": str(tmp_path / "config.toml")}
    dead = {"HTTP_PROXY": "http://127.0.0.1:9"}

    def asked(*typed, kept="", **variables):
        proxy = serve([answer(b"", status=b"401 Unauthorized")])
        context = f'current = "prod"\n[contexts.prod]\nmaster = "{master}"\n{kept}'.replace("PROXY", proxy.base)
        (tmp_path / "config.toml").write_text(context, encoding="utf-8")
        given = {name: text.replace("PROXY", proxy.base) for name, text in variables.items()}
        assert type_words(*(word.replace("PROXY", proxy.base) for word in typed), **given).status == 4
        return proxy.requests[0][1].startswith(b"GET http://m.example:5050/quota")

    assert asked(*words, "--proxy", "PROXY", **dead)
    assert asked(*words, MESOSCTL_PROXY="PROXY", **dead)
    assert asked("quota", "list", kept='proxy = "PROXY"', **file, **dead)
    other = type_words("quota", "list", "--master", "http://n.example:5050", **dead, **file)
    assert other.status == 7
    assert "the proxy http://127.0.0.1:9" in other.err
    assert "check HTTP_PROXY" in other.err
    shown = type_words(*words, "--proxy", "http://ops:s3cret@127.0.0.1:9")
    assert "hint: check --proxy" in shown.err
    assert "MESOSCTL_PROXY" in shown.err  # everybody can see the password of the option
    assert "s3cret" not in shown.err
    assert type_words(*words, "--proxy", "ftp://x").status == 2
