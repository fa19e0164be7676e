"""A fake master for the tests of other programs: `FakeMaster`, its values, and a pytest plugin."""
