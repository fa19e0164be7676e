"""Faults that are planted in a copy of the code, one at a time, to see that the test that is named for it fails.

Each sentence of `tests/seeds/sentences.toml` has such a fault, and `faults.toml` has those that broke no test once.
``python -m tests.planted_faults`` plants them all.
"""
