"""Several forecasts from one reading of a cluster.

A dry run settles once. Each alternative is then tried in a forked process, so that none affects another, and none reads
or settles the cluster again.
"""

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from mesosctl.model.errors import Bug, MesosctlError
from mesosctl.planning.forecast import Forecast
from mesosctl.planning.whatif_variants import Alternative, LargestChange, Template, likely_amount, search

if TYPE_CHECKING:
    from fake_master import DryRun

Attempts = Callable[[str], None]
"""Make the change of a word on the dry run's master."""
Progress = Callable[[str], None]


def forecast_each(
    dry_run: "DryRun", words: Sequence[str], attempt: Attempts, progress: Progress
) -> Iterator[Alternative]:
    """Yield a forecast for each word, in order.  Raises what the attempts raise."""
    at_once = max(1, min(len(words), os.cpu_count() or 1))
    done = 0
    for first in range(0, len(words), at_once):
        some = words[first : first + at_once]
        progress(f"forecasting change {done + 1} of {len(words)}")
        for word, forecast in zip(some, _side_by_side(dry_run, some, attempt), strict=True):
            done += 1
            yield Alternative(word, forecast)


def find_largest(dry_run: "DryRun", template: Template, attempt: Attempts, progress: Progress) -> LargestChange:
    """Return the largest amount for the question mark that is accepted and starves nobody.

    Raises what the attempts raise.
    """
    before = dry_run.before
    total = before.totals.get_amount(template.resource)
    precision = template.precision(total, sum(before.like_agents.values()))
    kept: dict[int, Alternative] = {}
    """The forecasts of the largest amount that is harmless, and of the smallest that is not; each may be large."""
    tried = 0

    def ask(amounts: Sequence[int]) -> list[bool]:
        nonlocal kept, tried
        progress(f"trying {template.with_amount(amounts[0])}")
        words = [template.with_amount(amount) for amount in amounts]
        forecasts = _side_by_side(dry_run, words, attempt)
        answers = []
        for amount, word, forecast in zip(amounts, words, forecasts, strict=True):
            tried += 1
            kept[amount] = Alternative(word, forecast)
            answers.append(forecast.is_harmless)
        harmful = min((amount for amount, one in kept.items() if not one.forecast.is_harmless), default=total + 1)
        harmless = max((amount for amount in kept if amount < harmful), default=0)
        kept = {amount: one for amount, one in kept.items() if amount in (harmless, harmful)}
        return answers

    guarantees = {role: quota.guarantees for role, quota in before.quotas.items()}
    largest = search(ask, total, precision, likely_amount(template, before.unpromised, guarantees))
    return LargestChange(
        template=template,
        precision=precision,
        tried=tried,
        largest=largest or None,
        best=kept.get(largest),
        beyond=kept.get(largest + precision),
    )


def _side_by_side(dry_run: "DryRun", words: Sequence[str], attempt: Attempts) -> list[Forecast]:
    fork = multiprocessing.get_context("fork")
    started = []
    try:
        for word in words:
            ours, theirs = fork.Pipe(duplex=False)
            # The forked process ends with this one.
            process = fork.Process(target=_answer, args=(dry_run, word, attempt, theirs), daemon=True)
            with warnings.catch_warnings():
                # The progress thread holds no lock that the new process needs.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
            started.append((process, ours))
        return [_received(ours) for _, ours in started]
    finally:
        for process, ours in started:
            ours.close()
            process.terminate()
            process.join()


def _received(pipe: Connection) -> Forecast:
    try:
        said = pipe.recv()
    except EOFError:
        raise Bug("a forecast ended without an answer") from None
    if isinstance(said, Exception):
        raise said
    if not isinstance(said, Forecast):
        raise Bug(f"a forecast failed: {said}")
    return said


def _answer(dry_run: "DryRun", word: str, attempt: Attempts, pipe: Connection) -> None:
    """Try one change in a forked process, and send its forecast or its error."""
    dry_run.be_silent()
    try:
        attempt(word)
        pipe.send(dry_run.forecast())
    except BaseException as error:  # noqa: BLE001  # the process that asked raises it
        pipe.send(error if isinstance(error, MesosctlError) else f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)  # without flushing the buffers of the parent process
