"""Mesos's document "Framework Rate Limiting": its sample, and small limits."""

# The sample with the braces that it lost on its way into the document's text.
SAMPLE = {
    "limits": [
        {"principal": "foo", "qps": 55.5, "capacity": 100000},
        {"principal": "bar", "qps": 300},
        {"principal": "baz"},
    ],
    "aggregate_default_qps": 333,
    "aggregate_default_capacity": 1000000,
}
BROKEN = """\
  "limits": [
      "principal": "foo",
      "qps": 55.5
      "capacity": 100000
      "principal": "bar",
      "qps": 300
      "principal": "baz",
  "aggregate_default_qps": 333,
  "aggregate_default_capacity": 1000000
"""

P_1 = {"limits": [{"principal": "p", "qps": 1}]}
P_1_2 = {"limits": [{"principal": "p", "qps": 1, "capacity": 2}]}
NUMBERED = tuple(f"t{number}" for number in range(10))
