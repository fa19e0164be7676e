"""Rate limits: the file a master starts with, and what a running master does with it (seeds/rate-limiting.txt).

config_file  reading a file, and writing it back atomically
validating   ratelimit validate
editing      ratelimit set, unset, default
state        what a master says: flags, counters, principals; ratelimit show
watching     ratelimit watch, suggest
"""
