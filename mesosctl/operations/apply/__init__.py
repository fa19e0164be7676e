"""Apply: the plan, its journal, and the run of its steps."""
