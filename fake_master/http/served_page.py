"""What this master serves, as a page made from its own routes: `python -m fake_master.http.served_page`."""

from collections.abc import Iterable, Iterator

from fake_master.http import operator_api, scheduler_api
from fake_master.http.agents import AGENT_ROUTES
from fake_master.http.application import ROUTES, Route


def page() -> str:
    """The page `docs/reference/served.md`, Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# What the fake master serves"
    yield ""
    yield "Made from its routes by `python -m fake_master.http.served_page`; a test compares."
    yield from ("", "## Endpoints", "", "| path | methods | credentials when asked for | below /master too |")
    yield "| --- | --- | --- | --- |"
    for route in sorted(ROUTES, key=lambda route: route.path):
        yield _endpoint(route)
    for of_agent in AGENT_ROUTES:
        yield f"| `/slave(N)/{of_agent.path}` | {of_agent.method or 'any'} | {of_agent.realm.name.lower()} | no |"
    yield ""
    yield "`/api/v1` and `/api/v1/scheduler` take and give `application/json`, and `application/x-protobuf` where"
    yield "`mesosctl[protobuf]` is installed: calls, answers and streams of events."
    yield from ("", "## Operator calls (`POST /api/v1`)", "")
    yield f"Reading: {_names([*operator_api.READERS, *operator_api.STREAMS])}."
    yield ""
    yield f"Changing: {_names(operator_api.WRITERS)}."
    yield ""
    yield f"Known and answered with 501: {_names(operator_api.NOT_SERVED)}."
    yield from ("", "## Scheduler calls (`POST /api/v1/scheduler`)", "")
    yield f"{_names(scheduler_api.SERVED)}."


def _endpoint(route: Route) -> str:
    methods = "any" if route.reads is not None else ", ".join(route.methods)
    realm = route.realm.name.lower() if route.realm is not None else "none"
    return f"| `/{route.path}` | {methods} | {realm} | {'yes' if route.prefixed else 'no'} |"


def _names(calls: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(calls))


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201  # a page on standard output is what it is for
