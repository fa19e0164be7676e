"""Mesos's messages as protobuf: tables of what they hold, and bytes to and from the JSON documents of the master."""
