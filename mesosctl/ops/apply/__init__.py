"""From what there is to what is wanted: reading, planning, and going step by step with a journal."""
