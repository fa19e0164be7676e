"""Changes: sent once and confirmed, and kept in the audit file."""
