"""Several forecasts from one reading of a cluster."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mesosctl.mesos.door.forecast import Forecast
from mesosctl.whatif.variant_runs import SearchRange, Variants
from mesosctl.whatif.variants import MANY_AGENTS, Template, likely_amount

if TYPE_CHECKING:
    from fake_master import DryRun


def forecast_variants(
    dry_run: "DryRun", attempt: Callable[[str], None], progress: Callable[[str], None]
) -> Variants[Forecast, Forecast]:
    """Return forecasts of changes to a dry run; `attempt` makes the change of a word on its master."""

    def run(word: str) -> Forecast:
        dry_run.be_silent()
        attempt(word)
        return dry_run.forecast()

    return Variants(run, lambda _, forecast: forecast, progress, "forecasting")


def search_range(template: Template, dry_run: "DryRun") -> SearchRange:
    """Return the amounts that may be the largest: up to what the agents have in total."""
    before = dry_run.before
    total = before.totals.get_amount(template.resource)
    precision = template.precision(total, is_slow=sum(before.like_agents.values()) > MANY_AGENTS)
    guarantees = {role: quota.guarantees for role, quota in before.quotas.items()}
    return SearchRange(total, precision, likely_amount(template, before.unpromised, guarantees))
