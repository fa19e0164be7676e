"""Replay recordings with their demand joined: `python -m tests.endurance.jobs.demand [--recordings 30] [--seed 0]`.

Each is of a fake cluster that knows who asked for what, and when; every second one asks for more than it has.  Half of
the files of demand have ids, and half are joined in order.  Prints for each how many tasks start more than two
allocation intervals off the truth, how far the 95th percentiles of waits are from the true ones, and what is unknown;
ends with 1 if more than one start in a hundred is off, where the answer is not unknown.
With `--leaves`, an agent leaves and comes back; with `--begins 150`, the recordings begin so many seconds after the
cluster, and their files of demand have ids.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from tests.mesosctl.history import true_demand


def main(words: list[str]) -> int:
    """Make the recordings, and say what was seen."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--recordings", type=int, default=30)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--leaves", action="store_true")
    asked.add_argument("--begins", type=float, default=0.0)
    options = asked.parse_args(words)
    started = off = unknown = 0
    worst = 0.0
    for number in range(options.recordings):
        random = Random(f"{options.seed}/{number}")
        contended, with_ids = number % 2 == 1, number // 2 % 2 == 1 or options.begins > 0
        with tempfile.TemporaryDirectory() as folder:
            truth = true_demand.random_recording(
                Path(folder), random, contended=contended, leaves=options.leaves, begins=options.begins
            )
            true_demand.write_demand(Path(folder) / "asked.csv", truth, with_ids=with_ids)
            true_demand.join(truth, Path(folder) / "asked.csv")
            like = true_demand.replayed(truth)
        furthest = max(abs((true or 0) - (replayed or 0)) for true, replayed in like.percentiles.values())
        longest = max(true or 0 for true, _ in like.percentiles.values())
        print(
            f"{number}: {'contended' if contended else 'idle'}, {'ids' if with_ids else 'order'}: {like.off} of "
            f"{like.started} started tasks off, {len(truth.tasks) - like.started} never started; the 95th percentiles "
            f"of waits, up to {longest:.0f} s, differ by {furthest:.1f} s; unknown: {like.replay.unknown or 'nothing'}"
        )
        worst = max(worst, furthest)
        if like.replay.unknown is None:
            started, off = started + like.started, off + like.off
        else:
            unknown += 1
    print(f"{off} of {started} off; percentiles differ by up to {worst:.1f} s; {unknown} answers unknown")
    return int(off > started / 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
