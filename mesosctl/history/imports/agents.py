"""The agents of an imported log, as a table: the columns `agent` and `resources`."""

from collections.abc import Iterator

from mesosctl.history.imports.log_file import LogText
from mesosctl.history.imports.rows import LogSpan, NamedColumns, Unusable, agent_row, check_amounts, check_new_agent
from mesosctl.history.records import RecordedAgent
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import RuleViolation

_NAME = "the file of --agents"


def agents_of_table(file: LogText, span: LogSpan) -> Iterator[RecordedAgent]:
    """The agents of a csv file, there for the whole log.  Raises BadInput."""
    names: set[str] = set()
    for line, row in NamedColumns(file, _NAME, ("agent", "resources"), "--agents"):
        name = row["agent"]
        try:
            total = parse_resources(row.get("resources", ""), of_agents=True)
            check_amounts(total, {"": "resources"})
        except (RuleViolation, Unusable) as error:
            raise agent_row(line, _NAME, error) from None
        check_new_agent(names, name, line, _NAME)
        yield RecordedAgent(name, name, total, span.start, span.end)
