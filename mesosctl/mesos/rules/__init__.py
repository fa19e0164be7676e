"""The rules of Mesos, by noun: quota, reservations, offers, rate limits, maintenance, access control, versions."""
