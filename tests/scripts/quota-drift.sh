#!/bin/bash
# Compare the cluster's quotas with a file; print a diff and end with status 1 if they differ: quota-drift.sh FILE
# Create the file once with: mesosctl quota list -o csv | cut -d , -f 1-3 | sort >FILE
set -euo pipefail
kept=$1

# A variable, not a pipe into diff: an unreachable master must not look like a cluster without quotas.
now=$(mesosctl quota list -o csv | cut -d , -f 1-3 | sort)

diff -u --label kept --label cluster "$kept" - <<<"$now"
echo "no drift" >&2
