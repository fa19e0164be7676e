"""Drivers without a connection: their messages go to a master in virtual time, and what it posts is written down."""

import base64
import hmac
from collections.abc import Mapping
from typing import Any

from fake_master.driver.endpoint import DriverEndpoint
from fake_master.driver.messages import Address
from fake_master.http.request_response import Request
from fake_master.protobuf.conversion import parse, serialize
from tests.helpers.lab.master import Lab

INFO = {"user": "u", "name": "n", "role": "ads"}
HERE = "scheduler(1)@10.0.0.1:4000"
THERE = "scheduler(2)@10.0.0.2:4000"
CLIENT = "crammd5-authenticatee(1)@10.0.0.1:4000"
"""Who authenticates the driver HERE."""


class Recorder:
    """Links that write down what is posted."""

    def __init__(self) -> None:
        self.posted: list[tuple[Address, str, dict[str, Any]]] = []
        self.senders: list[str] = []
        self.linked: list[Address] = []

    def post(self, to: Address, data: bytes) -> None:
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *headers = head.decode().split("\r\n")
        name = first.split()[1].rpartition("/")[2]
        self.senders.append(next(h for h in headers if h.startswith("Libprocess-From")).partition(": ")[2])
        size, _, body = rest.partition(b"\r\n") if rest else (b"0", b"", b"")
        document = parse(name, body[: int(size, 16)])
        self.posted.append((to, name.rpartition(".")[2], document))

    def link(self, to: Address) -> None:
        self.linked.append(to)


class Drivers(Lab):
    """A master in virtual time to which drivers speak."""

    def __init__(self, *agents: str, **more: Any) -> None:
        super().__init__(*agents, **more)
        self.links = Recorder()
        self.endpoint = DriverEndpoint(self.master, self.application.endpoints.scheduler_api, self.links)
        self.application.find_message = self.endpoint.find

    def send(
        self, sender: str, name: str, document: Mapping[str, Any], *, actor: str = "master", agent: str = "libprocess/"
    ) -> int:
        """Send a message; the status that a sender would see that is no libprocess."""
        body = serialize(name, document)
        headers = {"libprocess-from": sender, "user-agent": agent}
        return self.application.handle(Request("POST", f"/{actor}/{name}", headers, body)).status

    def internal(self, sender: str, name: str, **document: Any) -> None:
        assert self.send(sender, f"mesos.internal.{name}", document) == 202

    def tell(self, sender: str, kind: str, **document: Any) -> None:
        assert self.send(sender, "mesos.scheduler.Call", {"type": kind, **document}) == 202

    def told(self) -> list[tuple[str, dict[str, Any]]]:
        """What drivers were told since the last look."""
        found = [(name, document) for _, name, document in self.links.posted]
        self.links.posted.clear()
        return found

    def names(self) -> list[str]:
        return [name for name, _ in self.told()]

    def registered(self, sender: str = HERE, **more: Any) -> dict[str, Any]:
        """Register as an older driver does; the framework's id."""
        self.internal(sender, "RegisterFrameworkMessage", framework={**INFO, **more})
        _, name, document = self.links.posted.pop(0)
        assert name == "FrameworkRegisteredMessage"
        framework_id: dict[str, Any] = document["framework_id"]
        return framework_id

    def offers(self) -> list[Any]:
        """What drivers were offered since the last look, and in the next second."""
        self.wait(1.0)
        return [o for name, document in self.told() if name == "ResourceOffersMessage" for o in document["offers"]]


def authenticate(drivers: Drivers, principal: bytes, secret: bytes) -> str:
    """The name of the last message of an authentication."""
    drivers.internal(CLIENT, "AuthenticateMessage", pid=HERE)
    assert drivers.told() == [("AuthenticationMechanismsMessage", {"mechanisms": ["CRAM-MD5"]})]
    actor = drivers.links.senders[-1].partition("@")[0]
    drivers.send(CLIENT, "mesos.internal.AuthenticationStartMessage", {"mechanism": "CRAM-MD5"}, actor=actor)
    ((_, challenge),) = drivers.told()
    digest = hmac.new(secret, base64.b64decode(challenge["data"]), "md5").hexdigest().encode()
    answer = {"data": base64.b64encode(principal + b" " + digest).decode()}
    drivers.send(CLIENT, "mesos.internal.AuthenticationStepMessage", answer, actor=actor)
    ((name, _),) = drivers.told()
    return name
