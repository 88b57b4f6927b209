#!/usr/bin/env bash
# The Dockerfile, built with buildah and run. Its base image is pulled where a registry can
# be reached, and else stands for itself: Debian with Python, made with debootstrap and
# kept for the next time. pip gets its wheels from a folder that this machine's pip filled.
# shellcheck source=scripts/cluster/common.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

need buildah=buildah debootstrap=debootstrap unshare=util-linux
base=$(sed -n 's/^FROM //p' Dockerfile)
storage=(--storage-driver vfs --root "$folder/images" --runroot "$folder/containers")
# In a mount namespace of their own: whatever they mount is gone when they are, and
# nothing of this machine is ever below $folder when that is removed.
sealed() { patiently timeout --kill-after=5 200 unshare --mount "$@"; }
builder() { sealed buildah "${storage[@]}" "$@"; }

make_base() { # FILE: a tar file of Debian with Python, as the real base has it
  local system=$folder/system mirror
  # shellcheck disable=SC2016 # apt's own variables
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
    'Created-By: Packages' | sed -n "s/ $suite\$//p" | head -n 1)
  sealed debootstrap --variant=minbase \
    --include=ca-certificates,python3-pip,python3-venv,python-is-python3 \
    "$suite" "$system" ${mirror:+"$mirror"} >"$folder/debootstrap.log" 2>&1 ||
    not_tested "debootstrap cannot make $suite:" \
      "$(tail -n 1 "$folder/debootstrap.log")"
  rm -rf "$system"/usr/lib/python3*/EXTERNALLY-MANAGED "$system"/var/cache/apt/archives
  mkdir -p "${1%/*}"
  patiently tar --create --file "$1.$$" --directory "$system" --sort=name .
  mv "$1.$$" "$1"
}

if timeout 30 buildah "${storage[@]}" pull "$base" >"$folder/pull.log" 2>&1; then
  echo "cluster: the base is $base"
else
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  kept_base=$kept/container-base-$suite.tar
  [[ -e $kept_base ]] || make_base "$kept_base"
  builder from --name base scratch >"$folder/base.log" 2>&1 &&
    builder add base "$kept_base" / >>"$folder/base.log" 2>&1 &&
    builder commit --rm base "docker.io/library/$base" >>"$folder/base.log" 2>&1 ||
    fail "buildah cannot make an image of $kept_base"
  echo "cluster: no registry can be reached; in the place of $base is Debian's $suite"
fi

builder from --name ask --pull-never "$base" >/dev/null
version=$(builder run --isolation chroot ask -- python -c \
  'import sys; print("%d.%d" % sys.version_info[:2])')
patiently "$python" scripts/cluster/wheels.py "$folder/wheels" "$version" \
  >"$folder/wheels.log" 2>&1 ||
  not_tested "pip cannot fetch wheels: $(grep ERROR "$folder/wheels.log" | tail -n 1)"
printf '[global]\nno-index = true\nfind-links = /wheels\n' >"$folder/pip.conf"

builder bud --isolation chroot --pull-never --tag pmgt_mpi \
  --volume "$folder/wheels:/wheels:ro" --volume "$folder/pip.conf:/etc/pip.conf:ro" . \
  >"$folder/build.log" 2>&1 || {
  # The Dockerfile's own apt has Debian's servers only.
  ! grep -qE 'Failed to fetch|Temporary failure resolving' "$folder/build.log" ||
    not_tested "apt in the container: $(grep -E '^(E|Err)' "$folder/build.log" | tail -n 1)"
  fail "the Dockerfile does not build"
}
builder from --name try --pull-never localhost/pmgt_mpi >/dev/null
builder run --isolation chroot try -- mpirun -n 2 python -m pmgt_mpi.run \
  --config configs/quickstart.toml --out /tmp/out >"$folder/container.log" 2>&1 ||
  fail "the run in the container failed"
grep -qx 'engine: compiled' "$folder/container.log" ||
  fail "the compiled engine was not built in the container"
for algorithm in $(sed -n 's/^name = "\(.*-.*\|nids\)"$/\1/p' configs/quickstart.toml); do
  grep -E "^$algorithm +(budget|converged)" "$folder/container.log" ||
    fail "no result of $algorithm was printed"
done
