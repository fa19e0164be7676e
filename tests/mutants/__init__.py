"""Mutants of the rooms that decide: small changes of their code, each of which a test should notice."""
