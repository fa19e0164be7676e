"""The formats of logs, and what names the role in each; and those of demand, which is joined with recorded tasks."""

from typing import Literal

from mesosctl.history.records import DemandFormatName

LogFormatName = Literal["swf", "openb", "csv"]
FormatName = Literal[LogFormatName, DemandFormatName]
ROLE_BY: dict[LogFormatName, str] = {"swf": "group", "openb": "qos", "csv": "role"}
"""The column that names the role, unless --role-by does."""
