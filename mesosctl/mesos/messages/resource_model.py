"""The Resource message of the documented JSON as a model, in both of its formats.

Source: Mesos documentation, "Attributes and Resources".

`mesos.messages.resources` holds the meaning of its fields, and the lenient reader of what masters and frameworks send.
"""

from collections.abc import Iterable
from dataclasses import replace

from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.resources import RESOURCE, to_json, to_model
from mesosctl.mesos.messages.table_models import model_of

RESOURCE_MODEL = model_of(RESOURCE.name)


def resource_message(resource: Resource) -> MesosModel:
    """The message of a resource, with its reservation stack.

    Raises BadInput for text that a master shows but JSON cannot hold.
    """
    if resource.disk is not None and resource.disk.more is not None:
        resource = replace(resource, disk=resource.disk._replace(more=None))  # no part of which volume is meant
    return RESOURCE_MODEL.read(to_json(resource, "POST"), resource.name)


def resources_of(messages: Iterable[MesosModel], field: str) -> list[Resource]:
    """The values of messages in a list.  Raises RuleViolation naming the wrong one, in `field`, and its part."""
    return [to_model(message.content(), f"{field}[{index}]") for index, message in enumerate(messages)]
