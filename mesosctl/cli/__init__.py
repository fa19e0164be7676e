"""What a person types: one thin module a verb; options, prompts, exit status."""
