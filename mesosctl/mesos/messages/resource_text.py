"""Resources as `--resources` of an agent takes them: the text of Mesos, or JSON, which can also describe disks.

Source: Mesos documentation, "Attributes and Resources".  The JSON is an array of Resource messages.
"""

import json
from collections.abc import Iterable

from mesosctl.mesos.amounts.notation import check_one_type, parse_resources
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import format_value
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, list_to_json, to_model


def read_resources(text: str, *, of_agents: bool = False, release: str | None = None) -> Resources:
    """The resources in a text, or in JSON; `of_agents` as in `parse_of_agents`.  Raises RuleViolation.

    JSON is read as a release of Mesos does; `None` knows all fields.
    """
    if not text.lstrip().startswith("["):
        return parse_resources(text, of_agents=of_agents)
    try:
        resource = mesos_message(RESOURCE.name, release)
        entries = [to_model(read(resource, entry, f"[{index}]")) for index, entry in enumerate(decode(text))]
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
