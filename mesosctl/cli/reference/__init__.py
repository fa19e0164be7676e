"""Everything that is written from the declared commands: man pages, completions, the reference page.

python -m mesosctl.cli.reference --write     write them
python -m mesosctl.cli.reference --check     exit 1 and name those that are stale
"""
