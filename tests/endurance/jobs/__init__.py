"""Long jobs, each a command of its own: bounded, on the loopback interface, ending by themselves."""
