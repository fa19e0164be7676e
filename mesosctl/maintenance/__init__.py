"""Maintenance: the schedule, and machines that go down and come up."""
