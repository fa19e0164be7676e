"""A report and the formats in which it is written."""
