"""The command line upon a lab: somebody, or a script, types at its master."""

import io
import json

import httpx

from fake_master.transports.in_process import InProcessTransport
from mesosctl.__main__ import main
from tests.helpers.lab.master import Lab
from tests.helpers.surroundings import InMemory, Ran, Terminal


class CommandLine(httpx.BaseTransport):
    """Requests reach the lab's master without a socket, and sleeping only moves the clock."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.asked: list[str] = []
        """Method and path of every request, and the type of a v1 call."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        call = json.loads(request.read())["type"] if request.url.path == "/api/v1" else ""
        self.asked.append(f"{request.method} {request.url.path} {call}".strip())
        return InProcessTransport(self.lab.master, self.lab.clock.sleep).handle_request(request)

    @property
    def changes(self) -> list[str]:
        """What was asked beside reads."""
        return [one for one in self.asked if not one.startswith("GET ") and "POST /api/v1 GET_" not in one]

    def sleep(self, seconds: float) -> None:
        """What a command does that waits."""
        self.lab.clock.sleep(seconds)

    def run(self, *words: str, stdin: str = "", terminal: bool = False, **variables: str) -> Ran:
        """Type words; `terminal`: somebody looks on, and would answer with `stdin`."""
        stream = Terminal if terminal else io.StringIO
        environment = InMemory(
            stdin=stream(stdin),
            stdout=stream(),
            stderr=stream(),
            variables={"MESOSCTL_MASTER": "http://127.0.0.1:5050", **variables},
            ask_secret=lambda _: "typed",
            clock=lambda: self.lab.clock(),  # noqa: PLW0108  # another lab may take this one's place
            sleep=self.sleep,
            transport=self,
        )
        status = main(words, environment)
        return Ran(status, environment.out, environment.err)
