import pytest

from mesosctl.client.address import parse_address
from mesosctl.core.errors import UsageError


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


def test_zookeeper_is_refused_in_one_sentence():
    with pytest.raises(UsageError, match="not supported yet"):
        parse_address("zk://a,b/mesos")


def test_a_secret_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as caught:
        parse_address("http://op:hunter2@host:5050")
    assert "hunter2" not in caught.value.message


def test_who_was_named():
    address = parse_address("http://A:1,https://b")
    assert address.names("a:1")
    assert address.names("b")
    assert not address.names("a:2")
    assert not address.names("c")
