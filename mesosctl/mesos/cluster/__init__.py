"""A cluster at one moment: its elements, its snapshot, and the account of who has, wants and may get what."""
