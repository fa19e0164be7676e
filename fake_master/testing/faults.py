"""Requests to the master of a `FakeMaster` that get lost on their way, for `FakeMaster.drop_next`."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, get_args

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.master import Master
from fake_master.transports.connections import ConnectionDropped

Lost = Literal["request", "response"]


@dataclass(slots=True)
class _Fault:
    lost: Lost
    path: str | None
    times: int

    def concerns(self, request: Request) -> bool:
        path = request.path.removeprefix("/master")
        return self.path is None or fnmatchcase(path, self.path.removeprefix("/master"))


class FaultyApplication(Application):
    """Answers requests to a master, and drops those that it was asked to drop."""

    def __init__(self, master: Master) -> None:
        super().__init__(master)
        self._faults: list[_Fault] = []

    def drop(self, lost: Lost, path: str | None, times: int) -> None:
        """Lose the next `times` requests to paths like `path`, a shell pattern, or the answers to them.

        Raises ValueError.
        """
        if lost not in get_args(Lost):
            raise ValueError(f"lost is {lost!r}: write {' or '.join(map(repr, get_args(Lost)))}")
        if times < 1:
            raise ValueError(f"times is {times}: it must be above zero")
        self._faults.append(_Fault(lost, path, times))

    def respond(self, request: Request) -> Response:
        """See `Application.respond`.  Raises ConnectionDropped for a request that is lost."""
        fault = next((fault for fault in self._faults if fault.concerns(request)), None)
        if fault is None:
            return super().respond(request)
        fault.times -= 1
        if not fault.times:
            self._faults.remove(fault)
        if fault.lost == "response":
            answer = super().respond(request)
            if answer.stream is not None:
                answer.stream.abandon()
                self.tick()
        raise ConnectionDropped

    def end_streams(self) -> None:
        """End every stream of events, for example at the end of a master."""
        state = self.master.state
        frameworks = [known.stream for known in state.frameworks.values()]
        for stream in (*frameworks, *(listener.stream for listener in state.operator_streams.values())):
            if stream is not None:
                stream.close()
