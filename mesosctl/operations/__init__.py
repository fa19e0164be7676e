"""The operations of an operator, one module per noun: they take a client and values, and return values."""
