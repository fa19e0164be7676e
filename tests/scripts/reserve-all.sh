#!/bin/bash
# Reserve the same resources on several agents, or on none of them: reserve-all.sh ROLE RESOURCES AGENT…
set -euo pipefail
role=$1 resources=$2
shift 2

made=()
undo() {
  status=$?
  trap - EXIT
  # 9: accepted, but not confirmed in time. Show what is known; somebody has to check.
  [ "$status" -ne 9 ] || mesosctl reservations --agent "$agent" >&2
  for one in ${made[@]+"${made[@]}"}; do
    mesosctl unreserve "$one" "$resources" --role "$role" --yes -o name >&2 || echo "left on $one" >&2
  done
  exit "$status"
}
trap undo EXIT # also after Ctrl-C, SIGTERM and a dropped connection
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

for agent; do
  # Wait until both the master and the agent show the reservation.
  mesosctl reserve "$agent" "$resources" --role "$role" -o name
  made+=("$agent")
done
trap - EXIT
