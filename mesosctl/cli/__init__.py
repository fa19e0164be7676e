"""The command line: one thin module a noun, the options, prompts and exit statuses."""
