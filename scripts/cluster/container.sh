#!/usr/bin/env bash
# The Dockerfile, built with buildah where there is one and its base can be had, and run.
# shellcheck source=scripts/cluster/common.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

command -v buildah >/dev/null || not_tested "there is no buildah"
base=$(sed -n 's/^FROM //p' Dockerfile)
storage=(--storage-driver vfs --root "$folder/images" --runroot "$folder/containers")
builder() { timeout --kill-after=5 200 buildah "${storage[@]}" "$@"; }

clear_up() { timeout 60 buildah "${storage[@]}" rm --all >/dev/null 2>&1; }

timeout 60 buildah "${storage[@]}" pull "$base" >"$folder/pull.log" 2>&1 ||
  not_tested "the image $base cannot be had: $(tail -n 1 "$folder/pull.log")"
builder bud --isolation chroot --tag pmgt_mpi . >"$folder/build.log" 2>&1 ||
  fail "the Dockerfile does not build"
container=$(builder from pmgt_mpi)
builder run --isolation chroot "$container" -- mpirun -n 2 python -m pmgt_mpi.run \
  --config configs/quickstart.toml --set stop.steps=3 --out /tmp/out \
  >"$folder/container.log" 2>&1 || fail "the run in the container failed"
grep -q 'pmgt-katyushax *budget' "$folder/container.log" || fail "no result was printed"
