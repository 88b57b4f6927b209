#!/usr/bin/env bash
# Runs a config under PBS (OpenPBS, PBS Pro), as often as it takes:
#
#   PMGT_CONFIG=my.toml qsub -V launch/pbs.sh
#
# from an environment in which python has pmgt_mpi. PBS gives no warning before the time
# is over, so the run itself stops before max_seconds with a checkpoint and code 75, and
# the script submits itself again. `python -m pmgt_mpi.launch pbs …` writes this file
# filled in; by hand change walltime and max_seconds together.
#
#PBS -N pmgt_mpi
#PBS -l select=1:ncpus=4:mpiprocs=4
#PBS -l walltime=01:00:00
#PBS -j oe
set -euo pipefail
cd "$PBS_O_WORKDIR"

ranks=4
max_seconds=3420 # the walltime but 180 s
config=${1:-${PMGT_CONFIG:-}}
options=("${@:2}")
out=${PMGT_OUT:-runs/${PBS_JOBNAME:-pmgt_mpi}-$PBS_JOBID}
python=(python) # in a container: python=(apptainer exec pmgt_mpi.sif python)
mpirun=mpirun
restarts=${PMGT_RESTARTS:-0}
most_restarts=${PMGT_MOST_RESTARTS:-100}

[[ -n $config ]] || {
  echo "pbs.sh: no config; expected: PMGT_CONFIG=FILE qsub -V launch/pbs.sh" >&2
  exit 2
}
launcher=("$mpirun" -n "$ranks" --hostfile "$PBS_NODEFILE")
options=(--max-seconds "$max_seconds" "${options[@]}")

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

if ((code == 75)) && [[ -z $ended ]]; then
  if ((restarts >= most_restarts)); then
    echo "pbs.sh: not done after $most_restarts restarts; submit it again with" \
      "PMGT_OUT=$out, and more time or ranks" >&2
    exit "$code"
  fi
  export PMGT_CONFIG=$config PMGT_OUT=$out PMGT_RESTARTS=$((restarts + 1))
  qsub -V "$0"
fi
exit "$code"
