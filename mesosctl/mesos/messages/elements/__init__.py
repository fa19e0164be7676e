"""The elements of a cluster, as every source spells them: agents, frameworks, tasks, executors and offers.

Each kind has one reader. It takes the v1 messages of states, lists and events, and the entries of a snapshot; `/slaves`
spells agents in a third way. A reader normalises the spelling first, and then fills one class, whatever the source.
"""
