"""A Mesos master without a cluster: the same requests, the same answers, the same decisions."""
