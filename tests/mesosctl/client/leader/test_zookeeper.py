"""Masters found through a real ZooKeeper server."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from kazoo.security import CREATOR_ALL_ACL

from mesosctl.client.address import ZooKeeper, parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response import Trace
from mesosctl.client.settings import ClientSettings, Credentials, Tls
from mesosctl.client.zookeeper import read_masters
from mesosctl.mesos.errors import NoLeader, NoZooKeeper, UnexpectedAnswer
from tests.conformance.masters import real
from tests.conformance.masters.cluster import Setup
from tests.conformance.masters.processes import hold_port
from tests.mesosctl.client.leader.ensemble import Ensemble, Server
from tests.mesosctl.client.leader.zookeeper_server import Election, ZooKeeperServer, connect, leave
from tests.mesosctl.client.papers import Papers

pytestmark = [pytest.mark.zookeeper, pytest.mark.process, pytest.mark.socket]
SET = ("quota", "set", "web", "cpus:2")


@pytest.fixture(scope="module")
def port() -> Iterator[Callable[[], int]]:
    """Ports where nobody listens but whoever asks for them by their number."""
    with contextlib.ExitStack() as held:
        yield lambda: held.enter_context(hold_port()).getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory, port) -> Iterator[ZooKeeperServer]:
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"), port())
    yield server
    server.stop()


@pytest.fixture
def election(server) -> Iterator[Election]:
    held = Election(server, f"/election{time.monotonic_ns()}/mesos")
    yield held
    held.close()


def hosts(where, seconds=30.0):
    return [master.hosts[0] for master in read_masters(where, seconds)]


class TestReading:
    def test_the_lowest_number_leads(self, election):
        for name in ("one:1", "two:2", "three:3"):
            election.register(name)
        election.admin.create(f"{election.path}/log_replicas")
        assert hosts(election.where) == ["one:1", "two:2", "three:3"]

    def test_numbers_are_no_text(self, election):
        for number in ("json.info_10000000000", "json.info_9999999999"):
            content = {"address": {"hostname": number[-4:], "port": 1}}
            election.admin.create(f"{election.path}/{number}", json.dumps(content).encode())
        assert hosts(election.where) == ["9999:1", "0000:1"]

    def test_when_the_leaders_session_ends_the_next_one_leads(self, election):
        first = election.register("one:1")
        election.register("two:2")
        assert hosts(election.where) == ["one:1", "two:2"]
        leave(first)
        assert hosts(election.where) == ["two:2"]

    @pytest.mark.parametrize(
        ("info", "expected"),
        [
            ({}, ("one:1", "127.0.0.1:1")),
            ({"address": {"ip": "10.0.0.7", "port": 9}, "hostname": "x"}, ("x:9", "10.0.0.7:9", "127.0.0.1:9")),
            ({"address": None}, ("one:1", "127.0.0.1:1")),
            ({"address": {"hostname": "::1", "port": 3}, "hostname": None, "ip": None}, ("[::1]:3",)),
        ],
    )
    def test_where_a_master_says_it_is(self, election, info, expected):
        election.register("one:1", **info)
        assert read_masters(election.where, 30)[0].hosts == expected

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"hostname": "x"}', b'{"port": 1}', b"\xff"])
    def test_a_node_that_describes_no_master(self, election, content):
        election.admin.create(f"{election.path}/json.info_0000000001", content)
        with pytest.raises(UnexpectedAnswer, match=r"json.info_0000000001"):
            read_masters(election.where, 30)

    def test_nobody_registered(self, election):
        with pytest.raises(NoLeader, match="no leader is elected"):
            read_masters(election.where, 30)

    def test_only_masters_that_are_too_old(self, election):
        election.admin.create(f"{election.path}/info_0000000001", b"\x0a\x03")
        with pytest.raises(NoLeader, match=r"before Mesos 0\.24"):
            read_masters(election.where, 30)

    def test_no_such_path(self, server):
        with pytest.raises(NoLeader, match="has no /nowhere") as caught:
            read_masters(ZooKeeper((server.host,), "/nowhere"), 30)
        assert "check the path" in (caught.value.hint or "")


class TestDigest:
    @pytest.fixture
    def guarded(self, server) -> Iterator[ZooKeeper]:
        keeper = connect([server], auth_data=[("digest", "op:s3:cr@t")])
        path = f"/guarded{time.monotonic_ns()}"
        keeper.create(path, acl=CREATOR_ALL_ACL)
        content = json.dumps({"address": {"hostname": "one", "port": 1}}).encode()
        keeper.create(f"{path}/json.info_0000000001", content, acl=CREATOR_ALL_ACL)
        yield ZooKeeper((server.host,), path)
        leave(keeper)

    def test_of_the_address_opens_the_nodes(self, guarded):
        where = parse_address(f"zk://op:s3:cr@t@{guarded.servers[0]}{guarded.path}").zookeeper
        assert hosts(where) == ["one:1"]

    @pytest.mark.parametrize("digest", [None, "op:wrongsecret", "other:s3:cr@t"])
    def test_of_somebody_else_does_not(self, guarded, type_words, digest):
        said = f"{digest}@" if digest else ""
        ran = type_words("quota", "list", "-vv", MESOSCTL_MASTER=f"zk://{said}{guarded.servers[0]}{guarded.path}")
        assert ran.status == 4
        assert "ZooKeeper denies access" in ran.err
        assert "wrongsecret" not in ran.err
        assert "s3:cr@t" not in ran.err

    def test_is_in_nothing_that_is_told(self, guarded, type_words, capfd):
        address = f"zk://op:s3:cr@t@{guarded.servers[0]}{guarded.path}"
        ran = type_words("quota", "list", "-vv", MESOSCTL_MASTER=address)
        assert ran.status == 7  # "one" is no host
        assert "one:1" in ran.err
        output = capfd.readouterr()
        assert "s3:cr@t" not in ran.out + ran.err + output.out + output.err

    def test_in_an_argument_is_warned_of(self, guarded, type_words):
        ran = type_words("quota", "list", "-q", "--master", f"zk://op:s3:cr@t@{guarded.servers[0]}{guarded.path}")
        assert "can see the secret" in ran.err
        assert "s3:cr@t" not in ran.err


class TestCommands:
    def test_a_quota_on_the_master_that_leads(self, election, ensemble, type_words):
        for master in ensemble.masters:
            election.register(master.host)
        assert type_words(*SET, MESOSCTL_MASTER=election.address).status == 0
        listed = type_words("quota", "list", "-o", "name", MESOSCTL_MASTER=election.address)
        assert (listed.status, listed.out) == (0, "web\n")
        assert ensemble.masters[1].seen == ensemble.masters[2].seen == []

    def test_a_name_that_nobody_resolves_leaves_the_ip(self, election, ensemble, type_words):
        port = ensemble.masters[0].port
        election.register(f"no-such-host.invalid:{port}")
        assert type_words(*SET, MESOSCTL_MASTER=election.address).status == 0

    def test_a_leader_that_changes_between_two_calls(self, election, ensemble, type_words):
        sessions = [election.register(master.host) for master in ensemble.masters]

        def elect():
            ensemble.leader = 1
            leave(sessions[0])
            ensemble.masters[0].behaviour = _hang_up

        ensemble.after_change = elect
        ran = type_words(*SET, MESOSCTL_MASTER=election.address)
        assert ran.status == 0, ran.err
        assert ensemble.changes == ["POST /quota"]
        assert "GET /quota" in ensemble.masters[1].lines

    def test_a_server_that_was_away_between_two_calls(self, server, election, ensemble, type_words):
        """Every session is lost with it; the masters' nodes are there again when they come back."""
        election.register(ensemble.masters[0].host)
        with LeadingMaster(election_address(election), ClientSettings(timeout=60)) as master:
            master.get("/quota")
            server.stop()
            server.start()
            ensemble.leader = 1
            ensemble.masters[0].stop()
            leave(election.sessions[0])
            election.register(ensemble.masters[1].host)
            assert master.get("/quota") == {}
        assert ensemble.masters[1].seen

    def test_a_redirect_to_a_master_that_registered_is_shown_credentials(self, election, ensemble):
        election.register(ensemble.masters[0].host)
        settings = ClientSettings(credentials=Credentials("op", "s3cret"), timeout=30)
        with LeadingMaster(election_address(election), settings) as master:
            master.get("/quota")
            ensemble.leader = 1
            master.get("/quota")
            assert ensemble.masters[1].seen[-1].authorization is None
            election.register(ensemble.masters[1].host)
            master.get("/quota")
            assert ensemble.masters[1].seen[-1].authorization is not None

    @pytest.mark.parametrize(("scheme", "tls", "expected"), [("zk", Tls(), "http"), ("zk+https", Tls(), "https")])
    def test_what_zookeeper_does_not_tell(self, election, scheme, tls, expected):
        election.register("127.0.0.1:1")
        lines: list[Trace] = []
        address = parse_address(election.address.replace("zk://", f"{scheme}://"))
        with (
            LeadingMaster(address, ClientSettings(tls=tls, timeout=15, trace=lines.append)) as master,
            pytest.raises(Exception) as caught,
        ):
            master.get("/quota")
        assert f"{expected}://127.0.0.1:1 " in str(caught.value)
        assert lines[0].outcome == "127.0.0.1:1 leads; registered masters: 1"


class TestTheWholeRoad:
    """A password-protected ensemble behind TLS, found through ZooKeeper."""

    @pytest.fixture
    def papers(self, tmp_path):
        return Papers(tmp_path)

    @pytest.fixture
    def locked(self, papers, tmp_path) -> Iterator[Ensemble]:
        (tmp_path / "credentials").write_text('{"credentials":[{"principal":"op","secret":"s3cret"}]}')
        flags = {"credentials": str(tmp_path / "credentials")} | dict.fromkeys(
            ("authenticate_http_readonly", "authenticate_http_readwrite"), "true"
        )
        masters = Ensemble(tls=papers.server(wants_client=True), flags=flags)
        yield masters
        masters.stop()

    def test_to_a_quota(self, election, locked, papers, tmp_path, type_words):
        sessions = [election.register(master.host) for master in locked.masters]
        (tmp_path / "zk").write_text(election.address)
        (tmp_path / "secret").write_text("s3cret\n")
        (tmp_path / "wrong").write_text("s4cret\n")
        words = ["--master", f"file://{tmp_path}/zk", "--cacert", papers.cacert, *papers.client()]
        who = ["--principal", "op", "--secret-file", str(tmp_path / "secret")]
        assert type_words(*SET, *words).status == 4
        assert type_words(*SET, *words, *who[:3], str(tmp_path / "wrong")).status == 4
        assert type_words(*SET, *words, *who).status == 0
        locked.leader = 1
        leave(sessions[0])
        listed = type_words("quota", "list", "-o", "name", *words, *who)
        assert (listed.status, listed.out) == (0, "web\n")
        assert {seen.authorization is None for seen in locked.masters[1].seen} == {False}


@pytest.mark.real_master
def test_a_real_master_that_registered_and_one_that_sends_there(election, type_words, tmp_path, port):
    cluster = real.start(Setup(agents=("cpus:12;mem:6144",)), tmp_path)
    host = cluster.address.removeprefix("http://")
    beside = Server(lambda _, request: (307, {"Location": f"//{host}/master{request.target}"}, b""))
    try:
        election.register(host)
        for address in (election.address, beside.base, f"http://127.0.0.1:{port()},{beside.base}"):
            assert type_words(*SET, MESOSCTL_MASTER=address).status == 0
            listed = type_words("quota", "list", "-o", "name", MESOSCTL_MASTER=address)
            assert (listed.status, listed.out) == (0, "web\n")
            assert type_words("ratelimit", "show", MESOSCTL_MASTER=address).status == 0
            assert type_words("quota", "remove", "web", MESOSCTL_MASTER=address).status == 0
    finally:
        beside.stop()
        cluster.stop()


def election_address(election):
    return parse_address(election.address)


def _hang_up(*_):
    raise ConnectionError


@pytest.fixture
def servers(tmp_path, port):
    """A quorum of three, which needs two."""
    numbers = (1, 2, 3)
    lines = tuple(f"server.{number}=127.0.0.1:{port()}:{port()}" for number in numbers)
    servers = [ZooKeeperServer(tmp_path / str(number), port(), number, lines) for number in numbers]
    yield servers
    for server in servers:
        server.stop()


def test_a_quorum_of_which_one_falls_and_then_another(servers, ensemble, type_words):
    admin = connect(servers)
    content = json.dumps({"address": {"hostname": "127.0.0.1", "port": ensemble.masters[0].port}})
    admin.create("/mesos/json.info_0000000001", content.encode(), makepath=True)
    leave(admin)
    address = f"zk://{','.join(server.host for server in servers)}/mesos"
    assert type_words(*SET, timeout=30, MESOSCTL_MASTER=address).status == 0
    servers[0].stop()
    assert type_words("quota", "list", timeout=30, MESOSCTL_MASTER=address).status == 0
    servers[1].stop()
    started = time.monotonic()
    ran = type_words("quota", "list", timeout=20, MESOSCTL_MASTER=address)
    assert ran.status == 7
    assert time.monotonic() - started < 20
    assert "check that a quorum" in ran.err
    assert ensemble.changes == ["POST /quota"]


@pytest.fixture
def cutting(server):
    """The server behind something that cuts the first connection as soon as a session asks for anything."""
    cuts: list[bytes] = []

    def pass_on(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            upstream = socket.create_connection(server.host.split(":"))
            ends.extend([client, upstream])
            threads.append(threading.Thread(target=pass_on, args=(upstream, client)))
            threads[-1].start()
            if not cuts:
                upstream.sendall(client.recv(65536))  # the session
                cuts.append(client.recv(65536))  # the first question
                client.shutdown(socket.SHUT_RDWR)
                upstream.shutdown(socket.SHUT_RDWR)
            else:
                threads.append(threading.Thread(target=pass_on, args=(client, upstream)))
                threads[-1].start()

    ends: list[socket.socket] = []
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        accepting = threading.Thread(target=serve)
        accepting.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", cuts
        listener.shutdown(socket.SHUT_RDWR)
    for thread in [accepting, *threads]:
        thread.join(60)
    for end in ends:
        end.close()


def test_a_connection_that_is_cut_in_the_middle_is_made_again(election, cutting):
    address, cuts = cutting
    election.register("one:1")
    assert hosts(ZooKeeper((address,), election.path)) == ["one:1"]
    assert len(cuts) == 1


def test_servers_that_are_not_there(type_words, port):
    ran = type_words("quota", "list", MESOSCTL_MASTER=f"zk://op:s3cret@127.0.0.1:{port()}/mesos", timeout=60)
    assert ran.status == 7
    assert "no server of zk://127.0.0.1" in ran.err
    assert "s3cret" not in ran.err


def test_a_server_that_is_silent(ensemble):
    """Ends in time, though kazoo would wait longer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = ZooKeeper((f"127.0.0.1:{silent.getsockname()[1]}",), "/mesos")
        started = time.monotonic()
        with pytest.raises(NoZooKeeper):
            read_masters(where, 1.0)
        assert time.monotonic() - started < 8  # kazoo itself would go on
