#!/usr/bin/env bash
# Runs a command with a Python of Debian's unstable release, in a folder that holds that
# release (made with debootstrap) and sees this machine's checkout, cache and certificates.
#
#   bash scripts/pythons/debian.sh FOLDER CHECKOUT MADE VERSION COMMAND...
set -euo pipefail

# In a mount namespace of its own, always: what is mounted is gone at the end.
if [[ $1 == --apart ]]; then
  shift
elif unshare --mount true 2>/dev/null; then
  exec unshare --mount bash "$0" --apart "$@"
else
  echo "left out: Python $4: it is not here, and Debian's needs root"
  exit 77
fi
[[ $(readlink /proc/self/ns/mnt) != "$(readlink /proc/1/ns/mnt)" ]] || exit 1

cache=$1 root=$2 made=$3 version=$4
shift 4
system=$cache/debian-sid-$version
if [[ ! -e $system/done ]]; then
  rm -rf "$system"
  mkdir -p "$system"
  debootstrap --variant=minbase --include="python$version-venv,ca-certificates" sid \
    "$system" &>"$cache/debootstrap.log" || {
    echo "left out: Python $version: it is not here, and Debian's cannot be installed (see" \
      "$cache/debootstrap.log)"
    exit 77
  }
  touch "$system/done"
fi
for part in /proc /dev /sys /etc/ssl "$root" "$cache" "$made"; do
  mkdir -p "$system$part"
  mount --rbind "$part" "$system$part"
done
for file in /etc/resolv.conf /etc/pip.conf; do # how pip finds its index
  [[ ! -e $file ]] || cp "$file" "$system/etc/"
done
cd "$root"
exec chroot "$system" env -C "$root" PATH=/usr/bin:/bin "python$version" "$@"
