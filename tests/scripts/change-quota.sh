#!/bin/bash
# Change the quota of a role, and restore the old one if a test then fails: change-quota.sh ROLE RESOURCES TEST…
set -euo pipefail
role=$1 wanted=$2
shift 2

# -o csv writes one line for each role. If the role has no quota, the script ends here with status 5.
before=$(mesosctl quota show "$role" -o csv | tail -n 1 | cut -d , -f 2)

# Any failure ends the script here, with the message on standard error.
# --yes: do not ask if RESOURCES leaves out a resource of the old quota. The script restores the old quota on failure.
mesosctl quota update "$role" "$wanted" --yes -o name

status=0
"$@" || status=$?
if [ "$status" -ne 0 ]; then
  echo "the test failed with status $status: back to $before" >&2
  mesosctl quota update "$role" "$before" --yes -o name >&2
  exit 1
fi
