#!/usr/bin/env bash
# Runs a config under LSF, as often as it takes:
#
#   PMGT_CONFIG=my.toml bsub < launch/lsf.sh
#
# from an environment in which python has pmgt_mpi. Three minutes before the time is over
# LSF sends USR1, the run writes a checkpoint and ends with code 75, for which LSF queues
# the job again. `python -m pmgt_mpi.launch lsf …` writes this file filled in.
#
#BSUB -J pmgt_mpi
#BSUB -n 4
#BSUB -W 01:00
#BSUB -wa USR1
#BSUB -wt 3
#BSUB -r
#BSUB -Q 75
#BSUB -o %J.out
set -euo pipefail

config=${1:-${PMGT_CONFIG:-}}
options=("${@:2}")
out=${PMGT_OUT:-runs/${LSB_JOBNAME:-pmgt_mpi}-$LSB_JOBID}
python=(python) # in a container: python=(apptainer exec pmgt_mpi.sif python)
mpirun=mpirun

[[ -n $config ]] || {
  echo "lsf.sh: no config; expected: PMGT_CONFIG=FILE bsub < launch/lsf.sh" >&2
  exit 2
}
launcher=("$mpirun" -n "$LSB_DJOB_NUMPROC")
[[ -z ${LSB_DJOB_HOSTFILE-} ]] || launcher+=(--hostfile "$LSB_DJOB_HOSTFILE")

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

[[ -z $ended ]] || exit 1 # bkill: not to be queued again
exit "$code"
