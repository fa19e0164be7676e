"""The command line: one thin module a verb; options, prompts, exit statuses."""
