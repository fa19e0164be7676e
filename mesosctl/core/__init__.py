"""What Mesos means: values, resources, roles, quota and the rules between them.

Pure: no input or output, no clock, no third-party import.  The command line and the
fake master both ask this package, so that they cannot disagree.
"""
