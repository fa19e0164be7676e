"""Files of people and programs: read within bounds, written whole, and without secrets."""
