"""The program as a whole: its commands put together, one run, its reference, and the answers to shells."""
