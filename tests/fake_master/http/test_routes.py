"""The page of what is served is what is served."""

from fake_master.http.routes import Endpoints, page
from fake_master.http.scheduler_api import CALL
from fake_master.sources.cluster_file import BUILT_IN
from tests import ROOT

PAGE = ROOT / "docs" / "reference" / "served.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(Endpoints(BUILT_IN.start(), has_page=True)), (
        "run python -m fake_master.http.routes > docs/reference/served.md"
    )


def test_every_scheduler_call_is_served() -> None:
    assert set(Endpoints(BUILT_IN.start()).scheduler_api.served) == CALL.types
