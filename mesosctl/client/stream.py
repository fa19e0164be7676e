"""A subscription: events of a master as they come, over one connection that stays open."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from socket import SHUT_RDWR
from typing import Any, Self

import httpx

from mesosctl.api.protobuf import streaming
from mesosctl.api.protobuf.decoding import ConversionError, decode
from mesosctl.client.body import pieces_of
from mesosctl.client.errors import BROKEN
from mesosctl.model.errors import MesosctlError, UnexpectedAnswer


class EventStream:
    """Events, one after the other, until the master ends the stream; used with `with`.

    Iterating raises Unreachable where the connection breaks, DeadlinePassed where nothing comes
    for as long as was agreed, and UnexpectedAnswer for what is no stream of JSON events.
    """

    def __init__(self, response: httpx.Response, translate: Callable[[Exception], MesosctlError]) -> None:
        self._response = response
        self._translate = translate

    @property
    def id(self) -> str:
        """`Mesos-Stream-Id`, which the calls of a framework have to name."""
        return str(self._response.headers.get("mesos-stream-id", ""))

    def cut(self) -> None:
        """End the stream from another thread: whoever waits for an event is told that the connection broke."""
        network = self._response.extensions.get("network_stream")
        if network is not None:  # in process nobody waits: time passes in the thread that reads
            with suppress(OSError):  # it may have ended by itself
                network.get_extra_info("socket").shutdown(SHUT_RDWR)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            for record in streaming.decode(pieces_of(self._response)):
                event = decode(record)
                if not isinstance(event, dict) or not isinstance(event.get("type"), str):
                    raise UnexpectedAnswer("the stream holds something that is no event")
                yield event
        except BROKEN as error:
            raise self._translate(error) from error
        except (streaming.BrokenRecord, ConversionError) as error:
            raise UnexpectedAnswer(f"the stream is not as documented: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
