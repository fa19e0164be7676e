"""The scenario tables: data alone, read by test_scenarios.py."""

from tests.conformance.scenarios import (
    endpoints,
    json_reading,
    lethal,
    maintenance,
    operands,
    operator_api,
    quota_v0,
    quota_v1,
    reservations,
    roles_and_weights,
    volumes,
)

EVERY_ROW = (
    *quota_v0.ROWS,
    *json_reading.ROWS,
    *quota_v1.ROWS,
    *operator_api.ROWS,
    *endpoints.ROWS,
    *roles_and_weights.ROWS,
    *reservations.ROWS,
    *operands.ROWS,
    *volumes.ROWS,
    *maintenance.ROWS,
    *lethal.ROWS,
)
