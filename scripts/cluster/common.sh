# shellcheck shell=bash
# What the parts of the cluster test share; to be sourced. Gives $root, $python, $mpirun,
# $folder (removed at the end), and clears up after the part however it ends: `clear_up`,
# which a part may define, then every process that was started here.
#
# A trap of bash runs when the command in the foreground is done. So what takes longer
# than a second or two is started with `patiently`, or the end would have to wait for it.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../launch/setup.sh"
set_up test
cd "$root"

folder=$(mktemp -d /tmp/pmgt-cluster.XXXXXX)
chmod 711 "$folder"
# All that is started from here on inherits the mark, daemons and their jobs too.
export PMGT_CLUSTER_TEST=$folder
kept=${PMGT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pmgt_mpi} # for parts to keep things in
export PMGT_CACHE=$folder/cache
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp OMPI_MCA_mpi_yield_when_idle=1
export PATH=$venv/bin:/usr/local/sbin:/usr/sbin:/sbin:$PATH

# Processes with the mark, and those that have overwritten it with a title (slurmstepd)
# but hold one of our files open; not this shell.
marked() {
  local pid
  {
    grep -lzsF "PMGT_CLUSTER_TEST=$folder" /proc/[0-9]*/environ
    find /proc/[0-9]*/fd -lname "$folder/*" 2>/dev/null
  } | cut -d/ -f3 | sort -u | while read -r pid; do
    [[ $pid == "$$" || ! -e /proc/$pid/exe ]] || echo "$pid"
  done
}

end_marked() {
  local signal pid left
  for signal in TERM TERM KILL KILL; do
    left=$(marked)
    [[ -n $left ]] || return 0
    for pid in $left; do kill "-$signal" "$pid" 2>/dev/null || true; done
    for _ in {1..20}; do
      [[ -n $(marked) ]] || return 0
      sleep 0.1
    done
  done
}

at_exit() {
  local code=$?
  trap - EXIT
  trap '' TERM INT HUP # what is begun here is finished
  set +e
  ! declare -F clear_up >/dev/null || clear_up
  end_marked
  if ((code != 0 && code != 77)); then
    show_logs
  fi
  rm -rf "$folder"
  exit "$code"
}
trap at_exit EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP

show_logs() {
  local file
  for file in "$folder"/*.log "$folder"/*.out "$folder"/jobs/*.out; do
    [[ -s $file ]] || continue
    echo "--- ${file##*/}"
    tail -n 25 "$file"
  done >&2
}

not_tested() {
  echo "cluster: $*"
  exit 77
}

fail() {
  echo "cluster: $*" >&2
  exit 1
}

patiently() { # COMMAND...: ends at once when this script is told to
  "$@" </dev/null &
  wait "$!"
}

# Installs packages, each named as COMMAND=PACKAGE, unless the command is there.
need() {
  local pair missing=()
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  ((${#missing[@]})) || return 0
  echo "cluster: installing ${missing[*]}"
  if ! patiently bash scripts/cluster/install.sh "${missing[@]}" >"$folder/apt.log" 2>&1
  then
    grep '^E: ' "$folder/apt.log" | tail -n 3
    not_tested "apt cannot install ${missing[*]}"
  fi
}

# Waits up to $1 seconds until a command succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.5
  done
}

run_alone() { # RANKS CONFIG OUT [OPTION...]: on this one machine, without a scheduler
  patiently timeout --kill-after=5 120 "$mpirun" -n "$1" "$python" -m pmgt_mpi.run \
    --config "$2" --out "$3" "${@:4}" >"$folder/alone.log" 2>&1 ||
    fail "the run on one host failed"
}

see() { "$python" scripts/cluster/run_folders.py "$@"; } # CHECK ARGUMENT...
