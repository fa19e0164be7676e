"""JSON written as a master writes it, and kept."""
