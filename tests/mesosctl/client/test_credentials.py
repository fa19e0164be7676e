"""The masters that credentials are sent to, seen from where they arrive."""

import base64
import contextlib
import ssl
from dataclasses import dataclass
from typing import NoReturn

import pytest
import trustme
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_master.http.request_response import Request
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings, Credentials, Tls, Token
from mesosctl.mesos.errors import MesosctlError
from tests.helpers.needs import needs
from tests.mesosctl.client.leader.ensemble import Server

BASIC = "Basic " + base64.b64encode(b"op:s3cret").decode()
SECRETS = (Credentials("op", "s3cret"), Token("t0ken"), Token("t0ken", "dcos"))
PLAIN, ENCRYPTED = range(4), range(4, 6)
"""Numbers of the servers that speak http, and https."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = trustme.CA()
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    made.cert_pem.write_to_path(path)
    return made, str(path)


def unasked(server: Server, request: Request) -> NoReturn:
    raise AssertionError("a test says how each server behaves")


@pytest.fixture(scope="module")
@needs("socket")
def servers(authority):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority[0].issue_cert("127.0.0.1", "localhost").configure_cert(context)
    started = [Server(unasked, None if number in PLAIN else context) for number in (*PLAIN, *ENCRYPTED)]
    yield started
    for server in started:
        server.stop()


@dataclass(frozen=True)
class Onward:
    """A redirect to a server, in one of the ways to write it."""

    to: int
    form: str

    def location(self, servers: list[Server], path: str) -> str:
        server = servers[self.to]
        return self.form.format(host=server.host, port=server.port, path=path.removeprefix("/master"))


FORMS = (
    "//{host}/master{path}",
    "http://{host}/master{path}",
    "https://{host}/master{path}",
    "//localhost:{port}/master{path}",
    "//op:s3cret@{host}/master{path}",
    "//{host}@localhost:{port}/master{path}",
    "//{host}",
    "/master{path}",
)
numbers = st.sampled_from([*PLAIN, *ENCRYPTED])
behaviours = st.one_of(st.just(200), st.just(503), st.builds(Onward, numbers, st.sampled_from(FORMS)))


@given(
    named=st.lists(numbers, min_size=1, max_size=3, unique=True),
    behaviours=st.tuples(*[behaviours] * 6),
    secret=st.sampled_from(SECRETS),
    changes=st.booleans(),
)
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_nobody_sees_them_who_was_not_named(authority, servers, named, behaviours, secret, changes):
    for server, behaviour in zip(servers, behaviours, strict=True):
        server.seen.clear()
        server.behaviour = behave(servers, behaviour)
    bases = [servers[number].base for number in named]
    how = ClientSettings(credentials=secret, tls=Tls(authority[1]), timeout=20, sleep=lambda _: None)
    with LeadingMaster(parse_address(",".join(bases)), how) as master, contextlib.suppress(MesosctlError):
        for _ in range(2):
            master.post("/quota", b"{}") if changes else master.get("/quota")
    for server in servers:
        for seen in server.seen:
            scheme = server.base.partition(":")[0]
            was_named = f"{scheme}://{seen.headers['host']}" in bases
            assert seen.authorization == (secret.header() if was_named else None)
    assert servers[named[0]].seen


def behave(servers, behaviour):
    def answer(_, path):
        if isinstance(behaviour, Onward):
            return 307, {"Location": behaviour.location(servers, path)}, b""
        if behaviour == 503:
            return 503, {"Content-Type": "text/plain"}, b"No leader elected"
        return 200, {"Content-Type": "application/json"}, b"{}"

    return answer


class TestWhatIsShown:
    """By the words and variables of the command line."""

    @pytest.fixture
    def shown(self, ensemble, type_words, tmp_path):
        (tmp_path / "token").write_text("from-file\n")
        (tmp_path / "secret").write_text("s3cret\n")

        def run(*words, **variables):
            given = [str(tmp_path / word[1:]) if word.startswith("@") else word for word in words]
            ran = type_words("quota", "list", "-vv", *given, MESOSCTL_MASTER=ensemble.address, **variables)
            assert ran.status == 0, ran.err
            for secret in ("from-file", "from-env", "s3cret", "b3A6czNjcmV0"):
                assert secret not in ran.err
            return {seen.authorization for seen in ensemble.masters[0].seen}

        return run

    def test_nothing(self, shown):
        assert shown() == {None}

    @pytest.mark.parametrize(
        ("words", "variables", "expected"),
        [
            ("--token-file @token", {}, "Bearer from-file"),
            ("--token-file @token --token-scheme dcos", {}, "token=from-file"),
            ("--token-file @token", {"MESOSCTL_TOKEN_SCHEME": "dcos"}, "token=from-file"),
            ("--token-file @token", {"MESOSCTL_TOKEN": "from-env"}, "Bearer from-file"),
            ("--token-file @token", {"MESOSCTL_SECRET": "s3cret"}, "Bearer from-file"),
            ("", {"MESOSCTL_TOKEN": " from-env\n"}, "Bearer from-env"),
            ("", {"MESOSCTL_PRINCIPAL": "op", "MESOSCTL_SECRET": "s3cret", "MESOSCTL_TOKEN": ""}, BASIC),
            ("--principal op", {"MESOSCTL_TOKEN": "from-env"}, "Bearer from-env"),
            ("--principal op --secret-file @secret", {}, BASIC),
            ("--principal op --secret-file @secret", {"MESOSCTL_TOKEN": "from-env"}, BASIC),
            ("", {"MESOSCTL_PRINCIPAL": "op", "MESOSCTL_SECRET": "s3cret"}, BASIC),
        ],
    )
    def test_one_of_them(self, shown, words, variables, expected):
        assert shown(*words.split(), **variables) == {expected}


@pytest.mark.parametrize(
    ("words", "variables", "status"),
    [
        ("--token-file @token --secret-file @token", {}, 2),
        ("--token-scheme dcos", {}, 2),
        ("", {"MESOSCTL_TOKEN": "t0ken", "MESOSCTL_SECRET": "s3cret"}, 2),
        ("--token-file @token", {"MESOSCTL_TOKEN_SCHEME": "basic"}, 3),
        ("--token-file @empty", {}, 3),
        ("--token-file @two", {}, 3),
        ("--token-file @nothing", {}, 3),
        ("", {"MESOSCTL_TOKEN": "Bearer t0ken"}, 3),
        ("", {"MESOSCTL_TOKEN": "t0\nken"}, 3),
    ],
)
def test_what_is_no_token(ensemble, type_words, tmp_path, words, variables, status):
    for name, text in (("token", "t0ken"), ("empty", "\n"), ("two", "t0ken\nt0ken\n")):
        (tmp_path / name).write_text(text)
    given_words = [str(tmp_path / word[1:]) if word.startswith("@") else word for word in words.split()]
    ran = type_words("quota", "list", *given_words, MESOSCTL_MASTER=ensemble.address, **variables)
    assert ran.status == status
    assert "t0ken" not in ran.err
    assert "s3cret" not in ran.err
    assert ensemble.masters[0].seen == []
