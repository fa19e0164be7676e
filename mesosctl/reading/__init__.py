"""Reading that many nouns share, and what a word on the command line names."""
