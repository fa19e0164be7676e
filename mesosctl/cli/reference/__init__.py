"""The files that are generated from the commands: man pages, completions, the reference pages.

python -m mesosctl.cli.reference --write     write them
python -m mesosctl.cli.reference --check     exit 1 and name those that are stale
"""
