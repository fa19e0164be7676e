"""The agents of an imported log, as a table: the columns `agent` and `resources`."""

from typing import TextIO

from mesosctl.history.imports.rows import NamedColumns, Span, Unusable, add_agent, agent_row, check_amounts
from mesosctl.history.records import RecordedAgent
from mesosctl.model.errors import RuleViolation
from mesosctl.model.notation import parse_resources

_NAME = "the file of --agents"


def agents_of_table(file: TextIO, span: Span) -> list[RecordedAgent]:
    """The agents of a csv file, there for the whole log.  Raises BadInput."""
    found: dict[str, RecordedAgent] = {}
    for line, row in NamedColumns(file, _NAME, ("agent", "resources"), "--agents"):
        name = row["agent"]
        try:
            total = parse_resources(row.get("resources", ""), of_agents=True)
            check_amounts(total, {"": "resources"})
        except (RuleViolation, Unusable) as error:
            raise agent_row(line, _NAME, error) from None
        add_agent(found, RecordedAgent(name, name, total, span.start, span.end), line, _NAME)
    return list(found.values())
