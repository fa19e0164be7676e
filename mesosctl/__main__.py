"""The program."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mesosctl.cli.environment import Environment


def main(argv: "Sequence[str] | None" = None, environment: "Environment | None" = None) -> int:
    """Run the command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from mesosctl.program.run import run, run_as_program

        return run_as_program(arguments) if environment is None else run(arguments, environment)
    except KeyboardInterrupt as stopped:  # nothing was sent yet
        from mesosctl.mesos.errors import interrupted

        ended = interrupted(stopped, "no change was sent")
        sys.stderr.write(f"mesosctl: {ended.message}\n")
        return int(ended.exit_status)


if __name__ == "__main__":
    sys.exit(main())
