"""Values of `Accept` and `Accept-Encoding`; `test_http_habits.py` of the conformance tests asks a real master."""

import pytest

from fake_master.http.accepting import accepts_gzip, accepts_media


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("GZip", True),
        ("*", True),
        ("br, gzip", True),
        ("identity;q=0", False),
        ("identity;q=0, *", True),
        ("gzip;q=0", False),
        ("gzip ; q = 0.0", False),
        ("gzip;q=0, *", False),
        ("*;q=0, gzip", True),
        ("gzip;q=0, gzip", False),
        ("x-gzip", False),
        ("gzip2", False),
        ("g zip", True),
        ("gzip;q=0;q=1", True),
        ("gzip;q=", True),
        ("gzip;Q=0", True),
        ("gzip;q=one", False),
        ("gzip;q=-1", False),
        ("gzip;q=1e-9", True),
        ("gzip;q=1e400", False),
        ("gzip;q=INF", True),
        ("gzip;q=nan", False),
        ("gzip;q=1_0", False),
        (";gzip", True),
        (",;,", False),
    ],
)
def test_gzip(header: str | None, taken: bool) -> None:
    assert accepts_gzip(header) is taken


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        (None, True),
        ("", False),
        ("*/*", True),
        ("application/*;q=0, */*", False),
        ("application/json;q=0, application/*", False),
        ("application/x-protobuf, */*", True),
        ("APPLICATION / json; charset=utf-8", True),
        ("application/json;q=0.001", True),
        ("*", False),
        ("*/json", False),
    ],
)
def test_media(header: str | None, taken: bool) -> None:
    assert accepts_media(header, "application/json") is taken
