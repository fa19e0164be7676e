"""A fixture that every test of the transports has: the server logs no warning."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail the test if the server logs a warning or a traceback: a client's fault is no news to its operator."""
    yield
    logged = [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not logged, [record.getMessage() for record in logged]
