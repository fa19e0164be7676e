"""The program.

`--version` and `--help` alone are answered before anything else is imported: people type them to
see whether the thing is there, and scripts in every loop.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mesosctl.cli.environment import Environment


def main(argv: "Sequence[str] | None" = None, environment: "Environment | None" = None) -> int:
    """Run the command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if environment is None:
        text = _ready_answer(arguments)
        if text is not None and sys.stdout is not None:
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
            except (OSError, UnicodeError):
                pass  # told below, by what knows how
            else:
                return 0
        try:
            from mesosctl.cli.run import run_as_program

            return run_as_program(arguments)
        except KeyboardInterrupt:  # before there is anything to interrupt
            sys.stderr.write("mesosctl: interrupted: no change was sent\n")
            return 130
    from mesosctl.cli.run import run

    return run(arguments, environment)


def _ready_answer(arguments: list[str]) -> str | None:
    """What the two commonest words answer; a test holds help.txt to the commands."""
    if arguments == ["--version"]:
        from mesosctl import __version__

        return f"mesosctl {__version__}\n"
    if arguments in (["--help"], ["-h"]):
        with open(__file__.rpartition("__main__")[0] + "cli/help.txt", encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    return None


if __name__ == "__main__":
    sys.exit(main())
