"""Agents that a real master takes for real: they register, run nothing, and never say that a task has ended.

The agents of a real master in one process start no tasks, and tell it so; with these a task holds its
resources for as long as the master lives.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from tests.conformance.masters.cluster import Cluster
from tests.fake_master.allocator.real.real_master import Agents
from tests.helpers.waiting import PATIENCE


@contextmanager
def agents_of(
    master: Cluster, resources: Sequence[str], *, checkpoint: bool = False, region: str | None = None
) -> Iterator[None]:
    """So many agents, registered; scalars only.  With `checkpoint`, they are waited for at the end."""

    def register(agents: Agents) -> Sequence[Callable[[], Awaitable[None]]]:
        return [partial(agents.register, text, checkpoint=checkpoint, region=region) for text in resources]

    with agents_saying(master, register):
        yield


@contextmanager
def returning_to(master: Cluster, messages: Sequence[bytes]) -> Iterator[None]:
    """Agents that a former master knew: what each says of itself and of what it runs (`agent_messages`)."""
    with agents_saying(
        master, lambda agents: [partial(agents.say, "ReregisterSlaveMessage", body) for body in messages]
    ):
        yield


class Speaking:
    """Simulated agents that speak to a master from a thread of their own."""

    def __init__(self, master: Cluster) -> None:
        port = urlsplit(master.address).port
        assert port is not None
        self.agents = Agents(port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self.agents.start)

    def run(self, *words: Callable[[], Awaitable[None]]) -> None:
        """Say these, one after the other."""

        async def say() -> None:
            for word in words:
                await word()

        asyncio.run_coroutine_threadsafe(say(), self._loop).result(PATIENCE)

    def end(self) -> None:
        """Say nothing more, and close all connections."""

        async def end() -> None:
            await self.agents.stop()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0)  # what was closed says so in the next round

        self.run(end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()


class LeavingAgent:
    """One agent of a real master that can be disconnected, and that can leave."""

    def __init__(self, master: Cluster, speaking: Speaking, agent_id: str) -> None:
        self.id = agent_id
        self._master = master
        self._speaking = speaking

    def disconnect(self) -> None:
        """Hang up; the master keeps the agent, out of service."""
        self._speaking.run(self._speaking.agents.hang_up)
        assert self._master.subscribers.wait(lambda: not self._shown()[0]["active"])

    def leave(self) -> None:
        """Say goodbye; the master removes the agent."""
        self._speaking.run(partial(self._speaking.agents.unregister, 0, self.id))
        assert self._master.subscribers.wait(lambda: not self._shown())

    def _shown(self) -> list[Any]:
        return [agent for agent in self._master.read("/slaves")["slaves"] if agent["id"] == self.id]


@contextmanager
def leaving_agent(master: Cluster, resources: str) -> Iterator[LeavingAgent]:
    """One more agent, registered; scalars only."""
    before = {agent["id"] for agent in master.read("/slaves")["slaves"]}
    with agents_saying(master, lambda agents: [partial(agents.register, resources)]) as speaking:
        (agent_id,) = {agent["id"] for agent in master.read("/slaves")["slaves"]} - before
        yield LeavingAgent(master, speaking, agent_id)


@contextmanager
def agents_saying(
    master: Cluster, words: Callable[[Agents], Sequence[Callable[[], Awaitable[None]]]]
) -> Iterator[Speaking]:
    """Agents that say what `words` makes them say, one after the other, and are registered then."""
    speaking = Speaking(master)
    try:
        said = words(speaking.agents)
        count = len(master.read("/slaves")["slaves"]) + len(said)
        speaking.run(*said)
        assert master.subscribers.wait(lambda: len(master.read("/slaves")["slaves"]) == count)
        yield speaking
    finally:
        speaking.end()
