"""Which files there are, and what stands in each."""

from collections.abc import Iterator

from mesosctl.cli.exit_statuses import MEANINGS
from mesosctl.cli.reference import completions
from mesosctl.cli.reference.man import man_page
from mesosctl.cli.reference.walk import Node, commands


def files() -> dict[str, str]:
    """The text of every generated file by its path in the repository."""
    root = commands()
    made = {
        "mesosctl/cli/help.txt": root.page + "\n",
        "completions/mesosctl.bash": completions.bash(root),
        "completions/_mesosctl": completions.zsh(root),
        "completions/mesosctl.fish": completions.fish(root),
        "REFERENCE.md": "\n".join(_reference(root)),
    }
    return made | {f"man/{'-'.join(node.path)}.1": man_page(node) for node in root.walk()}


def _reference(root: Node) -> Iterator[str]:
    yield "# Reference"
    yield ""
    yield "Every `--help`, the exit statuses and the shapes of `-o json`."
    yield "Made by `python -m mesosctl.cli.reference --write`."
    for node in root.walk():
        yield from ("", f"## {node.words}", "", "```", node.page.rstrip(), "```")
    yield from ("", "## Exit statuses", "", "| status | meaning |", "| --- | --- |")
    for status, meaning in MEANINGS.items():
        yield f"| {int(status)} | {meaning} |"
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
    from mesosctl.render import documents, offer_documents, ratelimit_documents, reservation_documents

    yield "| kind | written by | fields |"
    yield "| --- | --- | --- |"
    shapes = (
        *documents.DOCUMENTS,
        *offer_documents.DOCUMENTS,
        *ratelimit_documents.DOCUMENTS,
        *reservation_documents.DOCUMENTS,
    )
    for document in shapes:
        schema = document.model_json_schema()
        kind = schema["properties"].get("kind", {}).get("default", "error")
        fields = ", ".join(f"`{name}`" for name in schema["properties"])
        yield f"| `{kind}` | {' '.join((document.__doc__ or '').split())} | {fields} |"
