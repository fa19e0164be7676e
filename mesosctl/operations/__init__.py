"""What an operator does, one module a noun: takes a client and values, returns values, prints nothing."""
