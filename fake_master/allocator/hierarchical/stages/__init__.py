"""The stages of an allocation run: guarantees, then fair share."""
