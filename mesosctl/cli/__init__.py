"""What a person types: one thin module a verb."""
