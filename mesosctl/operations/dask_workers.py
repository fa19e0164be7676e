"""Candidates of `tune` on an existing Dask cluster: dask.distributed carries, schedules and repeats; nothing here does.

Source: dask.distributed's documentation, "Client", "Resilience" and "TLS/SSL".
"""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mesosctl import __version__
from mesosctl.model.errors import BadInput, Bug, MesosctlError, Unreachable
from mesosctl.operations.replay import ReplayOptions
from mesosctl.operations.tuning import play_candidate
from mesosctl.planning.replay import RecordedDemand
from mesosctl.planning.tuning import Evidence

if TYPE_CHECKING:
    from distributed import Future

OPTION = "--workers"
CONNECTING = 10.0
"""Seconds to wait for the scheduler."""
_LOOKING = 1.0
"""Seconds between two looks at the workers while nothing ends."""
_WITHOUT_WORKERS = 60.0
"""Seconds after which a cluster without workers is given up."""
_MOST_SENT = 4
"""How often what was lost is sent, in one batch."""
_ONE_AT_A_TIME = threading.Lock()
"""A worker may have several threads, but a replay keeps a processor busy."""


def play_on_worker(
    demand: RecordedDemand, words: Sequence[str], options: ReplayOptions
) -> tuple[Evidence | MesosctlError, dict[str, Any]]:
    """Play a candidate in a process of Dask's; return the evidence and `versions`, since workers may join later.

    An error that is about the candidate is a result, so that it is not repeated.
    """
    with _ONE_AT_A_TIME:
        try:
            return play_candidate(demand, words, options), versions()
        except MesosctlError as error:
            return error, versions()


def versions() -> dict[str, Any]:
    """Return what has to be the same on both sides."""
    from importlib.metadata import version

    return {
        "mesosctl": __version__,
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "distributed": version("distributed"),
    }


class OnDask:
    """Plays candidates on the workers of a Dask cluster; used with `with`.

    Raises BadInput if dask.distributed is not installed here, the address is none or the other side has other
    versions, and Unreachable if there is no scheduler or no worker.
    """

    def __init__(self, address: str, demand: RecordedDemand, options: ReplayOptions) -> None:
        self._address = address
        self._demand = demand
        self._options = options
        # Of distributed, whose methods have no types for mypy.
        self._client: Any = None
        self._scattered: Any = None

    def __enter__(self) -> Self:
        try:
            from distributed import Client
        except ImportError:
            raise BadInput("dask.distributed is not available", field=OPTION, hint="install mesosctl[dask]") from None
        import logging

        # What Dask tells of lost connections is told here, or mended by Dask; its client has a level of its own.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = Client(self._address, timeout=CONNECTING)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError) as error:
            raise Unreachable(
                f"there is no Dask scheduler at {self._address}: {_first_line(error)}",
                may_have_happened=False,
                hint="start one with dask scheduler, and workers with dask worker",
            ) from None
        except (ValueError, TypeError, RuntimeError) as error:  # an address or a TLS setting that Dask refuses
            raise BadInput(
                f"'{self._address}' cannot be used: {_first_line(error)}",
                field=OPTION,
                hint="for example, tcp://scheduler:8786; for tls://, Dask's own settings name the certificates",
            ) from None
        try:
            self._check_versions(self._client)
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._client.close()

    def _check_versions(self, client: Any) -> None:
        """Compare with the scheduler and every worker.  Raises BadInput, and Unreachable if there is no worker."""
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise Unreachable(
                f"the Dask scheduler at {self._address} has no workers",
                may_have_happened=False,
                hint="start some with dask worker",
            )
        ours = versions()
        scheduler = client.get_versions()["scheduler"]["packages"].get("distributed")
        found: dict[str, Any] = {"the scheduler": ours | {"distributed": scheduler}}
        found |= {f"worker {name}": told for name, told in client.run(versions, on_error="return").items()}
        for name, theirs in sorted(found.items()):
            _compare_versions(name, theirs)

    @property
    def at_once(self) -> int:
        """See `Players.at_once`."""
        assert self._client is not None, "it is used with `with`"
        return max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def play(self, words: Sequence[Sequence[str]]) -> Iterator[tuple[int, Evidence]]:
        """See `Players.play`.  What ran on a lost worker is run again on another.

        Raises what a replay raises, BadInput for a worker with other versions that has joined, Bug for a replay that
        fails on several workers, and Unreachable if no worker or no scheduler is left.
        """
        assert self._client is not None, "it is used with `with`"
        from distributed.client import ClosedClientError

        try:
            yield from self._play(self._client, dict(enumerate(words)))
        except (OSError, ClosedClientError, CancelledError) as error:
            raise self._lost(f"the Dask scheduler at {self._address} is lost: {_first_line(error)}") from None

    def _play(self, client: Any, left: dict[int, Sequence[str]]) -> Iterator[tuple[int, Evidence]]:
        from distributed import wait

        futures: dict[Future[Any], int] = {}
        sent = 0
        try:
            while left:
                # Dask cancels futures if what they need was on lost workers alone, or if the scheduler is another one.
                futures = {future: place for future, place in futures.items() if future.status != "cancelled"}
                missing = {place: words for place, words in left.items() if place not in futures.values()}
                if missing:
                    if sent == _MOST_SENT:
                        raise self._lost(f"the Dask cluster at {self._address} has lost replays {sent} times")
                    self._scattered = None if sent else self._scattered
                    sent += 1
                    self._wait_for_workers(client)
                    futures |= self._submit(client, missing)
                with suppress(CancelledError, TimeoutError):
                    wait(list(futures), timeout=_LOOKING, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
                ended = [future for future in futures if future.status in ("finished", "error")]
                if not ended:
                    self._wait_for_workers(client)
                for future in ended:
                    place = futures.pop(future)
                    try:
                        shown, theirs = future.result()
                    except CancelledError:  # it ended, but its answer was on a worker that is lost
                        continue
                    except Exception as error:  # whatever a worker may raise
                        if future.status != "error":
                            raise
                        raise Bug(f"a replay failed on the workers: {_first_line(error)}") from None
                    _compare_versions("a worker that has joined", theirs)
                    if isinstance(shown, MesosctlError):
                        raise shown
                    del left[place]
                    yield place, shown
        finally:
            with suppress(Exception):  # the client may be closed, and what it has asked for ends with it
                client.cancel(list(futures), force=True)

    def _submit(self, client: Any, left: dict[int, Sequence[str]]) -> "dict[Future[Any], int]":
        if self._scattered is None:
            # By no digest of the content: a lost one is sent again, and not taken for known.
            self._scattered = client.scatter(self._demand, broadcast=True, hash=False)
        return {
            client.submit(play_on_worker, self._scattered, list(words), self._options, pure=False): place
            for place, words in left.items()
        }

    def _wait_for_workers(self, client: Any) -> None:
        """Raise Unreachable if there is no scheduler or no worker, and none comes back in time."""
        while client.status == "connecting":  # Dask gives that up by itself
            time.sleep(0.05)
        if client.status != "running":
            raise self._lost(f"the Dask scheduler at {self._address} is lost")
        try:
            client.wait_for_workers(1, timeout=_WITHOUT_WORKERS)
        except TimeoutError:
            raise self._lost(f"the Dask scheduler at {self._address} has no workers any more") from None

    @staticmethod
    def _lost(sentence: str) -> Unreachable:
        hint = "mend the cluster and run the same command again: finished replays are kept"
        return Unreachable(sentence, may_have_happened=False, hint=hint)


def _compare_versions(name: str, theirs: object) -> None:
    """Raise BadInput unless they are those of this side."""
    if not isinstance(theirs, dict):
        sentence = f"{name} cannot run mesosctl {__version__}: {_first_line(theirs)}"
        raise BadInput(sentence, field=OPTION, hint="install the same mesosctl there")
    ours = versions()
    unlike = [(key, ours[key], theirs.get(key)) for key in ours if theirs.get(key) != ours[key]]
    if unlike:
        told = ", ".join(f"{key} {there} instead of {here}" for key, here, there in unlike)
        raise BadInput(f"{name} has {told}", field=OPTION, hint="install the same versions on both sides")


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
