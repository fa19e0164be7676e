"""The documented JSON of quota (Mesos documentation, "Quota", "Operator HTTP Endpoint").

Requests are built from these models, and files that an operator wrote are read by them.  What a master answers is
read by `mesos.messages.responses`.
"""
