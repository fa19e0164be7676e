#!/bin/bash
# Compare the cluster's quotas with those that are kept in a file; status 1 and a diff if they differ: quota-drift.sh FILE
# The file is made once by: mesosctl quota list -o csv | cut -d , -f 1-3 | sort >FILE
set -euo pipefail
kept=$1

# A variable, not a pipe into diff: a master that is away must not look like a cluster without quotas.
now=$(mesosctl quota list -o csv | cut -d , -f 1-3 | sort)

diff -u --label kept --label cluster "$kept" - <<<"$now"
echo "no drift" >&2
