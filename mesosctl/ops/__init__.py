"""What an operator does, one package a deed: takes a client and values, returns values, prints nothing."""
