"""Which files there are, and what stands in each."""

from collections.abc import Iterator
from typing import Any

from mesosctl.cli.completion.shells import script
from mesosctl.cli.reference.man import MEANINGS, environment, man_page
from mesosctl.cli.reference.walk import Node, cluster_file, commands, serving


def files() -> dict[str, str]:
    """The text of every generated file by its path in the repository."""
    programs = (commands(), serving())
    made = {"docs/reference/commands.md": "\n".join(_reference(*programs))}
    for root in programs:
        made[f"completions/{root.words}.bash"] = script(root.words, "bash")
        made[f"completions/_{root.words}"] = script(root.words, "zsh")
        made[f"completions/{root.words}.fish"] = script(root.words, "fish")
        made |= {f"man/{'-'.join(node.path)}.1": man_page(node) for node in root.walk()}
    return made


def _reference(*programs: Node) -> Iterator[str]:
    yield "# Reference"
    yield ""
    yield "Every `--help`, the exit statuses and the shapes of `-o json`."
    yield "Made by `python -m mesosctl.cli.reference --write`."
    for node in (node for root in programs for node in root.walk()):
        yield from ("", f"## {node.words}", "", "```", node.page.rstrip(), "```")
    yield from ("", "## Exit statuses", "", "| status | meaning |", "| --- | --- |")
    for status, meaning in MEANINGS.items():
        yield f"| {int(status)} | {meaning} |"
    yield from ("", "## Environment", "", "| variable | meaning |", "| --- | --- |")
    for variable, meaning in environment():
        yield f"| {variable} | {meaning} |"
    yield from ("", "## Cluster file", "", "```toml", cluster_file().rstrip(), "```")
    yield from (
        "",
        "## JSON",
        "",
        "One object with `schema_version` and `kind`; amounts are numbers, mem and disk in MiB.",
        "",
    )
    yield from _shapes()
    yield ""


def _shapes() -> Iterator[str]:
    from mesosctl.output.documents import cluster, contexts, forecast, offers, plan, quota, ratelimit, reservations

    yield "| kind | written by | fields |"
    yield "| --- | --- | --- |"
    shapes: tuple[Any, ...] = (
        *quota.DOCUMENTS,
        *cluster.DOCUMENTS,
        *forecast.DOCUMENTS,
        *contexts.DOCUMENTS,
        *offers.DOCUMENTS,
        *ratelimit.DOCUMENTS,
        *reservations.DOCUMENTS,
        *plan.DOCUMENTS,
    )
    for document in shapes:
        schema = document.model_json_schema()
        kind = schema["properties"].get("kind", {}).get("default", "error")
        fields = ", ".join(f"`{name}`" for name in schema["properties"])
        yield f"| `{kind}` | {' '.join((document.__doc__ or '').split())} | {fields} |"
