"""Changes tried out on a picture of a cluster, in virtual time.

rehearsal   a master made of a picture, its time, and what is asked of it
events      what happens without being asked for: agents lost and added
evictions   who would have to go for it
looking     a master at one moment, summed up
"""
