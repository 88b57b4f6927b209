#!/usr/bin/env bash
# Runs a config on several hosts that this one reaches with ssh:
#
#   bash launch/hosts.sh HOSTFILE RANKS CONFIG [OPTION...]
#
# HOSTFILE has a line "NAME slots=CORES" for each host. All hosts see the same files, and
# python (of the environment in which this is started) has pmgt_mpi on each. OPTIONs go to
# pmgt_mpi.run. TERM, INT (Ctrl-C), HUP and USR1 end the run with a checkpoint and code
# 75; the same command resumes it. `python -m pmgt_mpi.launch hosts …` writes this
# file filled in.
set -euo pipefail

hostfile=${1:-}
ranks=${2:-}
config=${3:-}
options=("${@:4}")
out=${PMGT_OUT:-runs/$(basename -- "$config" .toml)}
python=("$(command -v python)") # or python=(apptainer exec pmgt_mpi.sif python)
mpirun=$(command -v mpirun || echo mpirun)

[[ -n $config && -r $hostfile && $ranks =~ ^[1-9][0-9]*$ ]] || {
  echo "hosts.sh: expected: bash launch/hosts.sh HOSTFILE RANKS CONFIG [OPTION...], with" \
    "a HOSTFILE that can be read; given: $*" >&2
  exit 2
}
# By its full path mpirun finds its own other half on every host.
launcher=("$mpirun" -n "$ranks" --hostfile "$hostfile")
# A session of its own, which no Ctrl-C reaches: mpirun would kill the ranks at once.
! command -v setsid >/dev/null || launcher=(setsid "${launcher[@]}")

# --- the same in every script: run, and turn signals into a checkpoint ---
(
  trap '' USR1 # until the launcher has a handler of its own
  exec "${launcher[@]}" "${python[@]}" -m pmgt_mpi.run --config "$config" \
    --out "$out" --resume auto "${options[@]}"
) &
job=$! ended=
trap 'kill -USR1 "$job" 2>/dev/null || true' USR1
trap 'ended=yes; kill -USR1 "$job" 2>/dev/null || true' TERM INT HUP
# A trap ends a wait early; the job's own end is the one that counts.
while kill -0 "$job" 2>/dev/null; do wait "$job" || true; done
code=0
wait "$job" || code=$?
# --- the same in every script, up to here ---

exit "$code"
