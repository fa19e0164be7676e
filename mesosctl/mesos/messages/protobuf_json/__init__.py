"""JSON as a master reads it: protobuf's leniency, streams of records, and the messages that make up a Resource."""
