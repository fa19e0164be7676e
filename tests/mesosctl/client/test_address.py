"""Addresses of masters: several with commas, ZooKeeper, files and fake masters."""

import socket

import pytest

from mesosctl.client.address import parse_address, shows_secret
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.hints import hint_of
from mesosctl.mesos.errors import BadInput, Unreachable, UsageError


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("http://host:5050", ["http://host:5050"]),
        ("http://host:5050/", ["http://host:5050"]),
        ("https://host", ["https://host"]),
        ("host:8080", ["http://host:8080"]),
        ("host", ["http://host:5050"]),
        ("[::1]:5050", ["http://[::1]:5050"]),
        ("http://a:1,http://b:2", ["http://a:1", "http://b:2"]),
        ("http://a:1,a:1", ["http://a:1"]),
        (" a:1, b:2 ", ["http://a:1", "http://b:2"]),
        ("https://a:1,b:2", ["https://a:1", "https://b:2"]),
        ("https://proxy/mesos/", ["https://proxy/mesos"]),
    ],
)
def test_masters(text, bases):
    address = parse_address(text)
    assert list(address.bases) == bases
    assert address.fake is None


@pytest.mark.parametrize("text", ["fake:", "fake:cluster.toml", "fake:a,b.toml?fresh"])
def test_a_fake_keeps_its_whole_text(text):
    assert parse_address(text).fake == text


@pytest.mark.parametrize(
    "text",
    ["", " ", "http://", "ftp://host", "http://host:port", "http://host?x=1", "http://a,,b", "http://host:99999"],
)
def test_what_is_no_address(text):
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert caught.value.field == "--master"


@pytest.mark.parametrize("text", ["http:/host:5050", "zk:/a,b/mesos", "a:5050,https:/b:5050"])
def test_a_slash_that_is_missing_is_told(text):
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert "did you mean " in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "servers", "path", "digest", "tls"),
    [
        ("zk://a/mesos", ["a:2181"], "/mesos", None, False),
        ("zk://a,b:2182,c/mesos", ["a:2181", "b:2182", "c:2181"], "/mesos", None, False),
        (" zk://a , b/x/y/ ", ["a:2181", "b:2181"], "/x/y", None, False),
        ("zk://[::1]:2181,127.0.0.1/mesos", ["[::1]:2181", "127.0.0.1:2181"], "/mesos", None, False),
        ("zk://op:s3cret@a,b/mesos", ["a:2181", "b:2181"], "/mesos", "op:s3cret", False),
        ("zk://op:p@ss:w%40rd@a/mesos", ["a:2181"], "/mesos", "op:p@ss:w%40rd", False),
        ("zk+https://op:s3cret@a/mesos", ["a:2181"], "/mesos", "op:s3cret", True),
    ],
)
def test_zookeeper(text, servers, path, digest, tls):
    address = parse_address(text)
    assert address.bases == ()
    assert address.zookeeper is not None
    assert list(address.zookeeper.servers) == servers
    assert (address.zookeeper.path, address.zookeeper.digest, address.zookeeper.tls) == (path, digest, tls)


def test_a_zookeeper_address_is_told_without_its_secret():
    address = parse_address("zk://op:s3cret@a,b/mesos")
    assert str(address.zookeeper) == "zk://a:2181,b:2181/mesos"
    assert "s3cret" not in f"{address!r} {address.zookeeper!r}"


@pytest.mark.parametrize(
    "text",
    [
        "zk://op:hunter2@/mesos",
        "zk://op:hunter2@a",
        "zk://op:hunter2@a/",
        "zk://op:hunter2@a:port/mesos",
        "zk://op:hun/ter2@a/mesos",
        "zk://hunter2@a/mesos",
        "zk://:hunter2@a/mesos",
        "zk://op:hunter2@a,,b/mesos",
        "zk://op:hunter2@a/x//y",
        "http://op:hunter2@host:5050",
        "http://op:hunter/2@host:5050",
        "op:hunter2@host:5050",
        "http://a:1,http://op:hunter2@b",
    ],
)
def test_no_error_about_an_address_tells_its_secret(text):
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert caught.value.field == "--master"
    assert "unter" not in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("text", "shows"),
    [("zk://op:s@a/mesos", True), ("zk+https://op:s@a/m", True), ("zk://a/mesos", False), ("http://a", False)],
)
def test_which_addresses_show_a_secret(text, shows):
    assert shows_secret(text) is shows


class TestFile:
    def test_holds_an_address_as_those_of_mesos_do(self, tmp_path):
        (tmp_path / "zk").write_text("zk://op:s3cret@a/mesos\n")
        assert parse_address(f"file://{tmp_path}/zk") == parse_address("zk://op:s3cret@a/mesos")

    @pytest.mark.parametrize(
        "content", [None, b"\xff", b"file:///etc/mesos/zk", b"", b" \n", b"a:5082\nb:5082\n", b"ftp://x", b"http://a:x"]
    )
    def test_that_does_not_is_named(self, tmp_path, content):
        if content is not None:
            (tmp_path / "zk").write_bytes(content)
        with pytest.raises(BadInput, match="zk") as caught:
            parse_address(f"file://{tmp_path}/zk")
        assert caught.value.field == "--master"
        assert "cast" not in caught.value.message

    @pytest.mark.parametrize(("content", "said"), [("", "is empty"), ("http://a:5082\nhttp://b:5082", "several lines")])
    def test_what_it_should_hold_is_said(self, tmp_path, content, said):
        (tmp_path / "zk").write_text(content)
        with pytest.raises(BadInput, match=f"{said}, but should hold the address of the master on one line") as caught:
            parse_address(f"file://{tmp_path}/zk")
        assert "zk://" in (caught.value.hint or "")


def test_who_was_named():
    address = parse_address("http://A:1,https://b,http://c.,http://[::1]:5")
    for base in ("http://a:1", "https://b", "https://B:443", "http://c", "http://c:80", "http://[::1]:5"):
        assert address.names(base), base
    for base in ("http://a:2", "http://d", "https://a:1", "http://b", "http://b:443", "https://b:80"):
        assert not address.names(base), base


def test_a_fake_master_without_its_colon_is_taken_for_a_host_and_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_host(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_host)
    with LeadingMaster(parse_address("fake")) as master, pytest.raises(Unreachable) as failed:
        master.get("/quota")
    assert hint_of(failed.value) == "check --master; the built-in fake master is fake:, with a colon"
