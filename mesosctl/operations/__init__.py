"""The operations of an operator, one module a noun: they take a client and values, return values, and print nothing."""
