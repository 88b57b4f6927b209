#!/usr/bin/env bash
# Tests what one machine can show of a cluster: a real Slurm, several hosts, a container.
#
#   bash scripts/test_cluster.sh [PART...]     of: slurm hosts container; all by default
#
# It needs Debian and root (it starts daemons and makes network namespaces), and installs
# with apt what is missing. Where a part cannot run it says why and continues; a part that
# runs and goes wrong fails. Nothing is left running, however it ends, and all traffic
# stays on the loopback device and in the namespaces.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"

if ((EUID != 0)); then
  echo "cluster: nothing is tested, since this is not root"
  exit 0
fi
if [[ ! -r /etc/debian_version ]]; then
  echo "cluster: nothing is tested, since this is not Debian"
  exit 0
fi
set_up test
cd "$root"

declare -A limits=([slurm]=400 [hosts]=250 [container]=400) # seconds, of
all=830                                                     # with a minute to clear up
parts=("$@")
((${#parts[@]})) || parts=(slurm hosts container)

running=
trap '[[ -z $running ]] || { kill "$running" 2>/dev/null; wait "$running"; }' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP

failed=()
for part in "${parts[@]}"; do
  [[ -n ${limits[$part]-} ]] || {
    echo "cluster: unknown part '$part'; valid: slurm hosts container" >&2
    exit 2
  }
  echo "cluster: $part …"
  start=$SECONDS code=0 limit=${limits[$part]}
  ((limit <= all - SECONDS)) || limit=$((all > SECONDS ? all - SECONDS : 1))
  # At the limit it is told to end and clears up; a minute later it is ended.
  timeout --kill-after=60 "$limit" bash "scripts/cluster/$part.sh" \
    </dev/null &
  running=$!
  wait "$running" || code=$?
  running=
  case $code in
    0) echo "cluster: $part passed in $((SECONDS - start)) s" ;;
    77) echo "cluster: $part was not tested, for the reason above" ;;
    124 | 137) failed+=("$part (not done after $limit s)") ;;
    *) failed+=("$part (code $code)") ;;
  esac
done
if ((${#failed[@]})); then
  echo "cluster: failed: ${failed[*]}" >&2
  exit 1
fi
