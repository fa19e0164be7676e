"""The records that outlive a master, and their stores."""
