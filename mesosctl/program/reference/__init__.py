"""The files that are generated from the commands: man pages, completions, the reference pages.

python -m mesosctl.program.reference --write     write them
python -m mesosctl.program.reference --check     exit 1 and name those that are stale
"""
