"""mesosctl: share out an Apache Mesos cluster, safely and with proof."""

__version__ = "0.1.0"
