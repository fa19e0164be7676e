"""Candidates of `tune` on an existing Dask cluster: dask.distributed carries, schedules and repeats; nothing here does.

Source: dask.distributed's documentation, "Client", "Resilience" and "TLS/SSL".
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dask import config

from mesosctl import __version__
from mesosctl.mesos.amounts.notation import format_span, listed
from mesosctl.mesos.door.replay import RecordedDemand
from mesosctl.mesos.errors import BadInput, Bug, MesosctlError, Unreachable, extra
from mesosctl.tune.search import Evidence
from mesosctl.tune.work import play_candidate
from mesosctl.whatif.played_demand import ReplayOptions

if TYPE_CHECKING:
    from distributed import Future

OPTION = "--workers"
CONNECTING = 10.0
"""Seconds to wait for the scheduler, if nobody says how long."""
_TLS = "distributed.comm.tls"
"""Dask's settings of certificates."""
_LOOKING = 1.0
"""Seconds between two looks at the workers while nothing ends."""
_WITHOUT_WORKERS = 60.0
"""Seconds after which a cluster without workers is given up."""
_MOST_LOST = 3
"""How often in a row what was lost is sent again."""
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
    return {
        "mesosctl": __version__,
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "distributed": version("distributed"),
    }


class OnDask:
    """A connection to a Dask cluster, on whose workers `playing` plays candidates; used with `with`.

    It waits `timeout` seconds for the scheduler.

    Raises BadInput if dask.distributed is not installed here, the address is none or the other side has other
    versions, and Unreachable if there is no scheduler or no worker.
    """

    def __init__(self, address: str, timeout: float = CONNECTING) -> None:
        self._address = address
        self._timeout = timeout
        self._played: tuple[RecordedDemand, ReplayOptions] | None = None
        # Of distributed, whose methods have no types for mypy.
        self._client: Any = None
        self._scattered: Any = None
        self._futures: dict[Future[Any], int] = {}
        self._words: dict[int, Sequence[str]] = {}
        self._lost_in_a_row = 0

    def __enter__(self) -> Self:
        try:
            from distributed import Client
        except ImportError:
            raise BadInput("dask.distributed is not available", field=OPTION, hint=extra("dask")) from None

        # What Dask tells of lost connections is told here, or mended by Dask; its client has a level of its own.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._check_certificates()
        try:
            self._client = Client(self._address, timeout=self._timeout)  # type: ignore[no-untyped-call]
        except OSError as error:  # also that time has ended
            cause = _innermost(error)
            told = "" if isinstance(cause, TimeoutError | asyncio.CancelledError) else f": {_first_line(cause)}"
            raise Unreachable(
                f"no Dask scheduler answered at {self._address} within {format_span(self._timeout)}{told}",
                may_have_happened=False,
                hint="start one with dask scheduler, and workers with dask worker; --timeout says how long to wait",
            ) from None
        except (ValueError, TypeError, RuntimeError) as error:  # an address or a TLS setting that Dask refuses
            raise BadInput(
                f"'{self._address}' cannot be used: {_first_line(error)}",
                field=OPTION,
                hint="for example, tcp://scheduler:8786",
            ) from None
        try:
            with self._told_if_lost():
                self._check_versions(self._client)
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):  # the client may be closed, and what it has asked for ends with it
            self._client.cancel(list(self._futures), force=True)
        self._client.close()

    @contextmanager
    def playing(self, demand: RecordedDemand, options: ReplayOptions) -> Iterator[Self]:
        """Players of one demand, once for a connection.  What has not ended is given up with it."""
        self._played = demand, options
        yield self

    def _check_certificates(self) -> None:
        """Raise BadInput for an address of TLS if Dask's settings name no certificates."""
        wanted = (f"{_TLS}.ca-file", f"{_TLS}.client.cert")
        missing = [key for key in wanted if not config.get(key, None)]
        if self._address.startswith("tls:") and missing:
            variables = (f"DASK_{key.upper().replace('-', '_').replace('.', '__')}" for key in missing)
            raise BadInput(
                f"'{self._address}' needs certificates, and Dask's settings name none: {listed(missing)}",
                field=OPTION,
                hint=f"set {' and '.join(variables)}",
            )

    def _check_versions(self, client: Any) -> None:
        """Compare with the scheduler and every worker.  Raises BadInput, and Unreachable if there is no worker."""
        if not self._workers():
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
        """See `Players.at_once`.  Raises Unreachable if the scheduler is lost."""
        with self._told_if_lost():
            return max(1, len(self._workers()))

    def _workers(self) -> Mapping[str, int]:
        """Return the threads of each worker by its address.  Raises Unreachable or OSError without a scheduler."""
        end = time.monotonic() + self._timeout
        while True:
            self._wait_for_scheduler()
            try:
                # Unlike `scheduler_info`, which goes on to tell what it knew before the scheduler was lost.
                workers: Mapping[str, int] = self._client.nthreads()
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)  # until the client has seen it too: it connects again, or gives up
            else:
                return workers

    def start(self, place: int, words: Sequence[str]) -> None:
        """See `Players.start`.  Raises Unreachable if the scheduler is lost, or no worker is left."""
        self._words[place] = words
        with self._told_if_lost():
            self._submit([place])

    def next_ended(self) -> tuple[int, Evidence]:
        """See `Players.next_ended`.  What ran on a lost worker is run again on another.

        Raises what a replay raises, BadInput for a worker with other versions that has joined, Bug for a replay that
        fails on several workers, and Unreachable if no worker or no scheduler is left.
        """
        with self._told_if_lost():
            while True:
                self._send_again()
                found = self._look()
                if found is not None:
                    return found

    def _send_again(self) -> None:
        """Submit what is lost: Dask cancels futures if what they need was on lost workers alone, for example."""
        self._futures = {future: place for future, place in self._futures.items() if future.status != "cancelled"}
        missing = self._words.keys() - self._futures.values()
        if not missing:
            return
        if self._lost_in_a_row == _MOST_LOST:
            raise self._lost(f"the Dask cluster at {self._address} has lost replays {_MOST_LOST} times in a row")
        self._lost_in_a_row += 1
        self._scattered = None
        self._wait_for_workers()
        self._submit(sorted(missing))

    def _look(self) -> tuple[int, Evidence] | None:
        """Wait for a moment; return what has ended, if there is something."""
        from distributed import wait

        if not self._futures:  # nothing could be sent
            time.sleep(_LOOKING)
            return None
        with suppress(CancelledError, TimeoutError):
            wait(list(self._futures), timeout=_LOOKING, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
        ended = next((future for future in self._futures if future.status in ("finished", "error")), None)
        if ended is None:
            self._wait_for_workers()
            return None
        place = self._futures.pop(ended)
        try:
            shown, theirs = ended.result()
        except CancelledError:  # it ended, but its answer was on a worker that is lost
            return None
        except Exception as error:  # whatever a worker may raise
            if ended.status != "error":
                raise
            raise Bug(f"a replay failed on the workers: {_first_line(error)}") from None
        _compare_versions("a worker that has joined", theirs)
        if isinstance(shown, MesosctlError):
            raise shown
        del self._words[place]
        self._lost_in_a_row = 0
        return place, shown

    def _submit(self, places: Sequence[int]) -> None:
        assert self._played is not None, "candidates of a demand are played"
        demand, options = self._played
        if self._scattered is None:
            try:
                # By no digest of the content: a lost one is sent again, and not taken for known.
                self._scattered = self._client.scatter(demand, broadcast=True, hash=False)
            except (OSError, KeyError):  # so the scheduler says that a worker was lost meanwhile
                self._workers()  # the scheduler itself is there
                return  # `next_ended` sends again
        for place in places:
            words = list(self._words[place])
            future = self._client.submit(play_on_worker, self._scattered, words, options, pure=False)
            self._futures[future] = place

    @contextmanager
    def _told_if_lost(self) -> Iterator[None]:
        from distributed.client import ClosedClientError

        try:
            yield
        except (OSError, ClosedClientError, CancelledError) as error:
            raise self._lost(f"the Dask scheduler at {self._address} is lost: {_first_line(error)}") from None

    def _wait_for_scheduler(self) -> None:
        """Raise Unreachable if there is no scheduler, and it does not come back in time."""
        while self._client.status == "connecting":  # Dask gives that up by itself
            time.sleep(0.05)
        if self._client.status != "running":
            raise self._lost(f"the Dask scheduler at {self._address} is lost")

    def _wait_for_workers(self) -> None:
        """Raise Unreachable if there is no scheduler or no worker, and none comes back in time."""
        self._wait_for_scheduler()
        try:
            self._client.wait_for_workers(1, timeout=_WITHOUT_WORKERS)
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


def _innermost(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
