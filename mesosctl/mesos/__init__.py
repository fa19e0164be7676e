"""The kernel: Mesos in values and rules, on which both mesosctl and the fake master stand."""
