"""Settings: options, variables, contexts and the file that holds them; credentials."""
