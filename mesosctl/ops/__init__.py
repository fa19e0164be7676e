"""What an operator does, one module a deed.  Takes a client and values, returns values, prints nothing."""
