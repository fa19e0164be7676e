#!/bin/bash
# Reserve the same on several agents, on all of them or on none: reserve-all.sh ROLE RESOURCES AGENT…
set -euo pipefail
role=$1 resources=$2
shift 2

made=()
undo() {
  status=$?
  trap - EXIT
  # 9: accepted, and not confirmed in time; a person has to look.
  [ "$status" -ne 9 ] || mesosctl reservations --agent "$agent" >&2
  for one in ${made[@]+"${made[@]}"}; do
    mesosctl unreserve "$one" "$resources" --role "$role" --yes -o name >&2 || echo "left on $one" >&2
  done
  exit "$status"
}
trap undo EXIT # after an error, Ctrl-C, SIGTERM and a dropped connection alike
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

for agent; do
  # Waits until the master and the agent itself both show it.
  mesosctl reserve "$agent" "$resources" --role "$role" -o name
  made+=("$agent")
done
trap - EXIT
