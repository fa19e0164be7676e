"""Changes of a cluster on which tasks run, to be forecast and then made."""

from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned
from tests.conformance.forecasts.forecast_cases import reserve, sets_quota, weighs
from tests.conformance.forecasts.forecasting import Case, asks, joins, runs
from tests.conformance.scenarios.scenario import config, delete, form, post_quota, update_quota

BARE = "cpus:4;mem:4096;disk:1000"
FOUR_BARE, ONE_BARE = quick(*[BARE] * 4), quick(BARE)
WITH_TASKS = {
    "quota while tasks hold everything": sets_quota(
        FOUR_BARE, (joins("ads"), runs(4), joins("web")), "web", cpus=8, mem=8192, tasks=True
    ),
    "quota while tasks hold half": sets_quota(
        FOUR_BARE, (joins("ads"), runs(2), joins("web")), "web", cpus=12, mem=12288, tasks=True
    ),
    "quota of a role that runs tasks": sets_quota(
        FOUR_BARE, (joins("ads"), runs(2), joins("web")), "ads", cpus=8, mem=8192, tasks=True
    ),
    "quota removed from a role that runs tasks": Case(
        FOUR_BARE,
        (asks(post_quota("ads", cpus=8, mem=8192)), joins("ads"), runs(1), joins("web")),
        "quota remove ads",
        delete("/quota/ads"),
        200,
        tasks=True,
    ),
    "limits below what tasks hold": Case(
        FOUR_BARE,
        (joins("ads"), runs(2)),
        "quota update ads --create --limit cpus:4",
        update_quota(config("ads", {}, {"cpus": 4})),
        400,
        newest=True,
        tasks=True,
    ),
    "limits at what tasks hold": Case(
        FOUR_BARE,
        (joins("ads"), runs(2), joins("web")),
        "quota update ads --create --limit cpus:8",
        update_quota(config("ads", {}, {"cpus": 8})),
        200,
        newest=True,
        tasks=True,
    ),
    "a heavier role beside tasks": weighs(FOUR_BARE, (joins("ads"), runs(2), joins("web")), "web", 4, tasks=True),
    "reserved where a task runs": Case(
        ONE_BARE,
        (joins("ads"), runs(1), joins("web")),
        "reserve @A1 cpus:1 --role web",
        reserve(owned("web", cpus=1)),
        409,
        tasks=True,
    ),
    "a framework with tasks that is torn down": Case(
        FOUR_BARE,
        (joins("ads"), runs(3), joins("web")),
        "whatif --lose-framework @F1",
        form("/teardown", frameworkId="@F1"),
        200,
        tasks=True,
    ),
}
