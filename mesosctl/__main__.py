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
    except KeyboardInterrupt:  # nothing was sent yet
        sys.stderr.write("mesosctl: interrupted: no change was sent\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
