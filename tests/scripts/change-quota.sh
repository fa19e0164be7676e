#!/bin/bash
# Change the quota of a role, and put the old one back if a test then fails: change-quota.sh ROLE RESOURCES TEST…
set -euo pipefail
role=$1 wanted=$2
shift 2

# -o csv has one line a role, with amounts as they are typed; without quota the script ends here, with status 5.
before=$(mesosctl quota show "$role" -o csv | tail -n 1 | cut -d , -f 2)

# Checked, sent and read back; whatever goes wrong ends the script, with its sentence on standard error.
# --yes: a resource that is not named any more may go, as it would come back.
mesosctl quota update "$role" "$wanted" --yes -o name

status=0
"$@" || status=$?
if [ "$status" -ne 0 ]; then
  echo "the test failed with status $status: back to $before" >&2
  mesosctl quota update "$role" "$before" --yes -o name >&2
  exit 1
fi
