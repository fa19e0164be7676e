"""The browser that pages and charts are opened in."""

import shutil

import pytest

from tests.helpers.needs import needs
from tests.helpers.tools import BROWSERS


@pytest.fixture(scope="session")
@needs("browser", "process")
def browser(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words of a command that opens a page, with a profile of its own."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found is not None
    profile = tmp_path_factory.mktemp("browser")
    return [
        *(
            found,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
        ),
        # Whatever a page might ask for, nobody answers but a server of the test.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
