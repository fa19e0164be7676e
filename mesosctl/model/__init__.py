"""What Mesos means: resources, roles, reservations, quota, offers.  Pure values and rules."""
