"""The meaning of Mesos: resources, roles, reservations, quota, offers.  Pure values and rules."""
