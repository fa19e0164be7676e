"""The HTTP status with which a master refuses a request, by what is wrong with it.

| what is wrong | request | status |
| --- | --- | --- |
| a rule is broken | any | 400 |
| the principal is not allowed to | any | 403 |
| the agent is unknown | MARK_AGENT_GONE | 404 |
| the quotas do not fit into the cluster | POST /quota, SET_QUOTA | 409 |
| the quotas do not fit into the cluster | UPDATE_QUOTA | 400 |
| the resources are not there, or not free | a reservation or a volume | 409 |

The fake master answers with these, and mesosctl shows them for a request that it refuses before it is sent.
Sources: Mesos documentation, "Quota", "Operator HTTP Endpoint"; Mesos documentation, "Reservation", "Operator HTTP
Endpoints".  For UPDATE_QUOTA, a Mesos 1.11.0 master decides.
"""

BROKEN_RULE = 400
NOT_ALLOWED = 403
NOT_FOUND = 404
"""The call names an agent that a master does not know: MARK_AGENT_GONE."""
NOT_AVAILABLE = 409
"""There is not enough of what is asked for."""
SET_QUOTA_OVER_CAPACITY = NOT_AVAILABLE
UPDATE_QUOTA_OVER_CAPACITY = BROKEN_RULE
"""The same capacity heuristic as for SET_QUOTA, but another status."""
