"""The page of what is served is what is served."""

from pathlib import Path

from fake_master.http.routes import page
from fake_master.http.scheduler_api import SERVED
from fake_master.http.scheduler_messages import BODIES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "served.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run python -m fake_master.http.routes > docs/reference/served.md"
    )


def test_every_scheduler_call_is_served() -> None:
    assert set(SERVED) == set(BODIES)
