"""The messages of Mesos as protobuf: tables of their fields, and bytes to and from the documents of the master."""
