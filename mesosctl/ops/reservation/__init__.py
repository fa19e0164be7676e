"""Reservations and volumes: what agents hold, and how that is changed (seeds/reservation.txt).

agents      which agents are meant: an id, a name, attributes
stacks      which owners are meant: roles, labels, principals
operating   one operation: checked here, sent once, seen on the master and on the agent
making      reserve, volumes create
undoing     unreserve, volumes destroy
waiting     reservations --wait-for
"""
