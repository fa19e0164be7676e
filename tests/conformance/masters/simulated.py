"""Agents that a real master takes for real: they register, run nothing, and never say that a task has ended.

The agents of a real master in one process start no tasks, and tell it so; with these a task holds its
resources for as long as the master lives.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.conformance.masters.cluster import Cluster
from tests.fake_master.allocator.real.real_master import Agents
from tests.helpers.waiting import PATIENCE


@contextmanager
def agents_of(
    master: Cluster, resources: Sequence[str], *, beside: int = 0, checkpoint: bool = False
) -> Iterator[None]:
    """So many agents, registered, beside others; scalars only.  With `checkpoint`, they are waited for at the end."""

    def register(agents: Agents) -> Sequence[Awaitable[None]]:
        return [agents.register(text, checkpoint=checkpoint) for text in resources]

    with agents_saying(master, register, beside=beside):
        yield


@contextmanager
def returning_to(master: Cluster, messages: Sequence[bytes]) -> Iterator[None]:
    """Agents that a former master knew: what each says of itself and of what it runs (`agent_messages`)."""
    with agents_saying(master, lambda agents: [agents.say("ReregisterSlaveMessage", body) for body in messages]):
        yield


@contextmanager
def agents_saying(
    master: Cluster, words: Callable[[Agents], Sequence[Awaitable[None]]], *, beside: int = 0
) -> Iterator[None]:
    """Agents that say what `words` makes them say, one after the other, and are registered then beside others."""
    port = urlsplit(master.address).port
    assert port is not None
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    agents = Agents(port)

    async def begin() -> int:
        await agents.start()
        said = words(agents)
        for word in said:
            await word
        return len(said)

    count = asyncio.run_coroutine_threadsafe(begin(), loop).result(PATIENCE)

    async def end() -> None:
        await agents.stop()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # what was closed says so in the next round

    try:
        assert master.subscribers.wait(lambda: len(master.read("/slaves")["slaves"]) == count + beside)
        yield
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
