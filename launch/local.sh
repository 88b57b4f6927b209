#!/usr/bin/env bash
# Runs a config on this machine; makes .venv, with an MPI, on first use.
set -euo pipefail

usage() {
  cat <<'END'
Usage: bash launch/local.sh -n RANKS CONFIG [OPTION...]

Runs CONFIG, a TOML file, on RANKS processes of this machine, one agent each. The first
time it makes the folder .venv beside pyproject.toml and installs the package there with
everything it needs, an MPI included (about 40 s, no root rights); after that it starts
at once. A set-up that failed or was interrupted is repaired by running this again.

OPTIONs go to pmgt_mpi.run, for example
  --set stop.steps=10     change a value of the config
  --out DIR               write the run folder there
  --resume auto           resume the run in --out DIR if there is one, else start
  --max-seconds S         stop with a checkpoint before S seconds are over

TERM, INT (Ctrl-C), HUP and USR1 end the run with a checkpoint and exit code 75; a second
one ends it at once.

Environment:
  PMGT_PYTHON             the Python, 3.11 or newer, that .venv is made with
  PMGT_DATA               a folder with data files

Example: bash launch/local.sh -n 4 configs/quickstart.toml
END
}

refuse() {
  printf 'local.sh: %s\nTry: bash launch/local.sh --help\n' "$*" >&2
  exit 2
}

ranks=
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    -n)
      (($# > 1)) || refuse "-n needs a number of ranks"
      ranks=$2
      shift 2
      ;;
    -*) refuse "unknown option '$1' before the config; valid: -n RANKS, --help" ;;
    *) break ;;
  esac
done
(($#)) || refuse "no config given; expected: -n RANKS CONFIG"
config=$1
shift
[[ -n $ranks ]] || refuse "how many ranks? Put -n RANKS before the config"
[[ $ranks =~ ^[1-9][0-9]*$ ]] || refuse "-n $ranks: expected a whole number, 1 or more"
[[ -f $config ]] || refuse "no config file '$config' (looked from $PWD)"

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck disable=SC2119 # the arguments of set_up are extras, not this script's
set_up
mpi_environment "$ranks"

# Open MPI's mpirun kills the ranks within half a second of a TERM or an INT, which is
# too soon for a checkpoint; USR1 it forwards to them. So it runs in a session of its
# own, where no Ctrl-C reaches it, and every signal becomes USR1.
own_session=()
! command -v setsid >/dev/null || own_session=(setsid)
(
  trap '' USR1 # until mpirun has a handler of its own
  exec "${own_session[@]}" "$mpirun" -n "$ranks" "$python" -m pmgt_mpi.run \
    --config "$config" "$@"
) <&0 &
job=$!
trap 'kill -USR1 "$job" 2>/dev/null || true' TERM INT HUP USR1
# A trap ends a wait early; the job's own end is the one that counts.
while kill -0 "$job" 2>/dev/null; do wait "$job" || true; done
code=0
wait "$job" || code=$?
exit "$code"
