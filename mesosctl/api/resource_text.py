"""Resources as `--resources` of an agent takes them: the text of Mesos, or JSON, which can also describe disks.

Source: Mesos documentation, "Attributes and Resources".  The JSON is an array of Resource messages.
"""

import json
from collections.abc import Iterable

from mesosctl.api.protobuf_json.decoding import ConversionError, decode
from mesosctl.api.protobuf_json.messages import read
from mesosctl.api.resources import RESOURCE, list_to_json, to_model
from mesosctl.model.errors import RuleViolation
from mesosctl.model.notation import check_one_type, parse_resources
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.values import format_value


def read_resources(text: str, *, of_agents: bool = False) -> Resources:
    """The resources in a text, or in JSON; `of_agents` as in `parse_of_agents`.  Raises RuleViolation."""
    if not text.lstrip().startswith("["):
        return parse_resources(text, of_agents=of_agents)
    try:
        entries = [to_model(read(RESOURCE, entry, f"[{index}]")) for index, entry in enumerate(decode(text))]
    except ConversionError as error:
        raise RuleViolation(
            f"resources in JSON: {error}", field=error.path or "resources", rule="resource.json"
        ) from None
    check_one_type(entries)
    return Resources(entries)


def write_resources(resources: Iterable[Resource]) -> str:
    """`cpus:4;cpus(ads):2`, or JSON if a disk is among them; a role in brackets owns the resource."""
    entries = list(resources)
    if any(entry.disk is not None for entry in entries):
        return json.dumps(list_to_json(entries, "POST"))
    return ";".join(
        f"{entry.name}({entry.role}):{format_value(entry.value)}"
        if entry.is_reserved
        else f"{entry.name}:{format_value(entry.value)}"
        for entry in entries
    )
