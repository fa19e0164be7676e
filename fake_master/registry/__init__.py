"""The records that outlive a master, and the places where they are kept."""
