#!/usr/bin/env bash
# Tests the wheel on every Python, with the oldest numpy and the newest; prints a table:
#
#   bash scripts/test_pythons.sh [VERSION...]     3.11 3.12 3.13 3.14 3.15 by default
#
# A Python is looked for as pythonX.Y on PATH, in pyenv, and in PMGT_PYTHONS, a list of
# programs; what is not there comes, as root on Debian, from its unstable release. The pure
# wheel, for Pythons without the stable ABI, is tested on the first. What cannot be
# installed is named and left out.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
set_up test wheel
cd "$root"

cache=${PMGT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pmgt_mpi}/pythons
versions=("$@")
((${#versions[@]})) || versions=(3.11 3.12 3.13 3.14 3.15)
mkdir -p "$cache"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
bash scripts/build_wheel.sh "$made" &>"$cache/wheel.log" ||
  die "no wheel: see $cache/wheel.log"
wheel=("$made"/pmgt_mpi-*-cp311-abi3-manylinux*.whl)
pure=("$made"/pmgt_mpi-*-py3-none-any.whl)

is_python() { [[ $(version_of "$1" 2>/dev/null) == "$2" ]]; }

find_python_of() { # VERSION: prints the program, if there is one
  local program
  for program in ${PMGT_PYTHONS-} "$(command -v "python$1" || true)" \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1"*/bin/python; do
    if [[ -n $program ]] && is_python "$program" "$1"; then
      printf '%s\n' "$program"
      return
    fi
  done
}

tested=0 failed=0
check() { # VERSION WHEEL NUMPY [FOLDER]
  local program code=0
  program=$(find_python_of "$1")
  local command=("$program")
  [[ -n $program ]] || command=(bash scripts/pythons/debian.sh
    "$cache" "$root" "$made" "$1")
  "${command[@]}" scripts/pythons/check.py "$cache/${4-$1-$3}" "$2" "$3" || code=$?
  case $code in
    0) tested=1 ;;
    77) ;;
    *) failed=1 ;;
  esac
}

echo "| Python | numpy | engine | result |"
echo "|---|---|---|---|"
for version in "${versions[@]}"; do
  [[ $version != 3.1[12] ]] || check "$version" "${wheel[0]}" 1.26
  check "$version" "${wheel[0]}" newest
done
check "${versions[0]}" "${pure[0]}" newest pure
((tested && !failed))
