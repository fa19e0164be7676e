"""The JSON of -o json, as models, one module a noun: what a script may count on."""
