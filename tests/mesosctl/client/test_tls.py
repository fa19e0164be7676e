"""A private authority, certificates of masters and of clients, and what goes wrong with them."""

import datetime as dt
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient
from mesosctl.client.settings import Tls
from mesosctl.mesos.errors import Unreachable
from tests.conformance.masters.processes import Process
from tests.helpers.needs import needs
from tests.mesosctl.client.leader.ensemble import Ensemble
from tests.mesosctl.client.papers import Papers
from tests.mesosctl.client.scripted import Scripted, answer

SET = ("quota", "set", "web", "cpus:2")
LONG_AGO = dt.datetime(2001, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def papers(tmp_path):
    return Papers(tmp_path)


@pytest.fixture
@needs("socket")
def serve() -> Iterator[Callable[[ssl.SSLContext], Ensemble]]:
    opened = []

    def start(context):
        opened.append(Ensemble(tls=context))
        return opened[-1]

    yield start
    for ensemble in opened:
        ensemble.stop()


def test_a_private_authority_is_trusted_where_it_is_named(papers, serve, type_words):
    masters = serve(papers.server())
    masters.leader = 2
    ran = type_words(*SET, "--cacert", papers.cacert, MESOSCTL_MASTER=masters.address)
    assert ran.status == 0, ran.err
    assert masters.changes == ["POST /quota"]


def failing(ran, words, hint):
    assert ran.status == 7, ran.err
    assert words in ran.err
    assert f"hint: {hint}" in ran.err
    assert "_ssl" not in ran.err
    assert "[SSL" not in ran.err


class TestTheMastersCertificate:
    @pytest.mark.parametrize("other", [False, True])
    def test_of_an_authority_that_is_not_trusted(self, papers, serve, type_words, tmp_path, other):
        masters = serve(papers.server())
        (tmp_path / "other").mkdir()
        words = ("--cacert", Papers(tmp_path / "other").cacert) if other else ()
        ran = type_words(*SET, *words, MESOSCTL_MASTER=masters.masters[0].base)
        failing(ran, "an authority that is not trusted here", "give its authority with --cacert FILE")
        assert masters.changes == []

    def test_that_has_expired(self, papers, serve, type_words):
        masters = serve(papers.server(not_before=LONG_AGO, not_after=LONG_AGO + dt.timedelta(days=9)))
        ran = type_words(*SET, "--cacert", papers.cacert, MESOSCTL_MASTER=masters.masters[0].base)
        failing(ran, "its certificate has expired", "renew it on the master")

    @pytest.mark.parametrize(
        ("names", "asked", "words"),
        [
            (("other.example.org",), "127.0.0.1", "does not name this IP address"),
            (("127.0.0.1",), "localhost", "is for another host"),
        ],
    )
    def test_for_another_host(self, papers, serve, type_words, names, asked, words):
        masters = serve(papers.server(*names))
        address = f"https://{asked}:{masters.masters[0].port}"
        ran = type_words(*SET, "--cacert", papers.cacert, MESOSCTL_MASTER=address)
        failing(ran, words, "name the master as its certificate does")

    def test_where_there_is_none(self, papers, ensemble, type_words):
        address = ensemble.masters[0].base.replace("http:", "https:")
        ran = type_words(*SET, "--cacert", papers.cacert, MESOSCTL_MASTER=address)
        failing(ran, "it does not speak TLS on this port", "write http://")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
class TestTheClientsCertificate:
    def test_is_shown(self, papers, serve, type_words, version):
        masters = serve(papers.server(wants_client=True, version=version))
        words = ("--cacert", papers.cacert, *papers.client())
        assert type_words(*SET, *words, MESOSCTL_MASTER=masters.address).status == 0

    @pytest.mark.parametrize("words", [SET, ("quota", "list")])
    def test_is_missing(self, papers, serve, type_words, version, words):
        masters = serve(papers.server(wants_client=True, version=version))
        ran = type_words(*words, "--cacert", papers.cacert, MESOSCTL_MASTER=masters.masters[0].base)
        failing(ran, "client", "give --cert, signed by")

    def test_is_of_an_authority_that_the_master_does_not_trust(self, papers, serve, type_words, tmp_path, version):
        masters = serve(papers.server(wants_client=True, version=version))
        (tmp_path / "other").mkdir()
        words = ("--cacert", papers.cacert, *Papers(tmp_path / "other").client())
        ran = type_words(*SET, *words, MESOSCTL_MASTER=masters.masters[0].base)
        failing(ran, "it does not trust the authority that signed the client certificate", "give --cert, signed by")

    def test_has_expired(self, papers, serve, type_words, version):
        masters = serve(papers.server(wants_client=True, version=version))
        expired = papers.client(not_before=LONG_AGO, not_after=LONG_AGO + dt.timedelta(days=9))
        ran = type_words(*SET, "--cacert", papers.cacert, *expired, MESOSCTL_MASTER=masters.masters[0].base)
        failing(ran, "the client certificate has expired", "renew it")


def test_files_for_a_master_that_is_spoken_to_in_clear_are_warned_of(papers, ensemble, type_words):
    ran = type_words("quota", "list", "-q", "--cacert", papers.cacert, MESOSCTL_MASTER=ensemble.address)
    assert ran.status == 0
    assert "write https://" in ran.err


def test_no_context_is_made_for_a_master_that_is_spoken_to_in_clear(ensemble, type_words, monkeypatch):
    def made(*_, **__):
        raise AssertionError("a context")

    monkeypatch.setattr(ssl.SSLContext, "__new__", made)
    assert type_words("quota", "list", MESOSCTL_MASTER=ensemble.address).status == 0


@pytest.mark.socket
class TestHttpsWhereHttpIsSpoken:
    """By a server that answers in clear, and by one that hangs up."""

    @pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
    def test_is_said_in_words(self, type_words, said):
        server = Scripted([said])
        address = server.base.replace("http:", "https:")
        ran = type_words(*SET, MESOSCTL_MASTER=address)
        server.stop()
        failing(ran, "it does not speak TLS on this port; it may speak http", f"write {server.base} if you mean http")
        assert "no change was sent" in ran.err


class TestFiles:
    @pytest.fixture
    def refused(self, type_words):
        def run(*words):
            ran = type_words("quota", "list", *words, MESOSCTL_MASTER="https://127.0.0.1:1")
            assert ran.status == 3, ran.err
            return ran.err

        return run

    def test_that_are_not_there(self, refused, papers):
        assert "/nowhere/ca.pem cannot be used: No such file" in refused("--cacert", "/nowhere/ca.pem")
        assert "/nowhere/c.pem cannot be used: No such file" in refused("--cert", "/nowhere/c.pem")
        key = papers.client()[2:]
        assert "/nowhere/c.pem cannot be used: No such file" in refused("--cert", "/nowhere/c.pem", *key)

    def test_that_hold_something_else(self, refused, papers, tmp_path):
        (tmp_path / "text").write_text("hello")
        for option in ("--cacert", "--cert"):
            assert "no PEM data of the right kind" in refused(option, str(tmp_path / "text"))

    def test_that_do_not_belong_together(self, refused, papers):
        cert, key = papers.client("one"), papers.client("two")
        assert "the key does not belong to the certificate" in refused(*cert[:2], *key[2:])

    def test_a_key_behind_a_pass_phrase_asks_nobody(self, refused, papers, tmp_path):
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

        cert = papers.client()
        key = serialization.load_pem_private_key((tmp_path / "client.key").read_bytes(), None)
        form, shape = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        (tmp_path / "locked").write_bytes(
            key.private_bytes(form, shape, serialization.BestAvailableEncryption(b"phrase"))
        )
        assert "the key is encrypted" in refused(*cert[:2], "--key", str(tmp_path / "locked"))


class TestWhereTheConnectionBreaks:
    """A word about certificates where the handshake may have failed, and nowhere else."""

    @pytest.fixture
    @needs("socket")
    def broken(self, papers):
        opened = []

        def run(*answers):
            opened.append(Scripted(answers, tls=papers.server()))
            headers: dict[str, str] = {}
            ask = ("GET", opened[-1].base, "/quota", headers, None, Deadline(60, lambda: 0.0))
            with closing(HttpClient(tls=Tls(ca_file=papers.cacert))) as client:
                for _ in answers[1:]:
                    client.exchange(*ask)
                with pytest.raises(Unreachable) as failed:
                    client.exchange(*ask)
            return failed.value

        yield run
        for server in opened:
            server.stop()

    def test_before_anything_was_answered(self, broken):
        assert "give --cert and --key" in broken(b"").hint

    @pytest.mark.parametrize(
        "begun", [b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"]
    )
    def test_within_an_answer(self, broken, begun):
        error = broken(begun)
        assert (error.may_have_happened, error.hint) == (True, None)

    def test_after_one_that_was_whole(self, broken):
        assert broken(answer(b"1"), b"").hint is None


class TestTheFakeMasterOnASocket:
    @pytest.fixture
    @needs("process", "socket")
    def start(self, papers, tmp_path):
        made = papers.authority.issue_cert("127.0.0.1")
        made.private_key_and_cert_chain_pem.write_to_path(tmp_path / "master.pem")
        started = []

        def run(*words):
            command = [sys.executable, "-m", "fake_master", "--port", "0", "--agent", "cpus:12", *words]
            started.append(Process(command, tmp_path / "log"))
            return started[-1]

        yield run
        for process in started:
            process.stop()

    def test_speaks_it_too(self, start, papers, tmp_path, type_words):
        words = ("--ssl-cert-file", str(tmp_path / "master.pem"), "--ssl-ca-file", papers.cacert)
        address = start(*words, "--ssl-require-client-cert").first_line()
        assert address.startswith("https://")
        trusting = ("--cacert", papers.cacert)
        # asyncio ends such a handshake without a word.
        failing(type_words(*SET, *trusting, MESOSCTL_MASTER=address), "broke", "it may require a client certificate")
        assert type_words(*SET, *trusting, *papers.client(), MESOSCTL_MASTER=address).status == 0

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("--ssl-key-file master.pem", "needs a certificate"),
            ("--ssl-cert-file master.pem --ssl-require-client-cert", "need an authority"),
            ("--ssl-cert-file nowhere", "No such file"),
        ],
    )
    def test_says_what_it_lacks(self, start, tmp_path, words, said):
        process = start(*[str(tmp_path / word) if not word.startswith("--") else word for word in words.split()])
        assert process.first_line() == ""
        told = process.last_words()
        assert said in told
        assert told.startswith("exit status 3")
