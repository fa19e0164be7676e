"""The formats of logs, and what names the role in each."""

from typing import Literal

FormatName = Literal["swf", "openb", "csv"]
ROLE_BY: dict[FormatName, str] = {"swf": "group", "openb": "qos", "csv": "role"}
"""The column that names the role, unless --role-by does."""
