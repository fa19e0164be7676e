"""bash, zsh and fish: the scripts that complete words in them, what was typed, and the answer of a program.

Both programs complete in the same way.  Names that a framework or a host has chosen are data for a shell: a script
reads them as lines, never evaluates them, and quotes them by the means of its shell when it inserts one.
"""
