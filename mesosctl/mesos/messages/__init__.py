"""The documented JSON: requests and answers, to and from the values of the kernel."""
