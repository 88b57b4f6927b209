#!/usr/bin/env bash
# Runs a command that finds Debian's MPIs installed, and nobody else does: they lie in a
# folder which, for this command alone, is laid over the system's. The command is run in
# any case; as no root, without them.
#
#   bash scripts/mpis/debian.sh FOLDER COMMAND...
set -euo pipefail

# In a mount namespace of its own, always: else the whole machine would change.
if [[ $1 == --apart ]]; then
  shift
elif unshare --mount true 2>/dev/null; then
  exec unshare --mount bash "$0" --apart "$@"
else
  echo "Debian's MPIs cannot be installed here: this needs root" >&2
  exec "${@:2}"
fi
[[ $(readlink /proc/self/ns/mnt) != "$(readlink /proc/1/ns/mnt)" ]] || exit 1

folder=$1
shift
installed=$(cksum </var/lib/dpkg/status) # a folder is for the system that it was made on

lay_over() {
  local part
  for part in usr etc var; do
    mkdir -p "$folder/$part" "$folder/.work/$part"
    mount -t overlay overlay -o \
      "lowerdir=/$part,upperdir=$folder/$part,workdir=$folder/.work/$part" "/$part" ||
      return
  done
}

[[ $(cat "$folder/done" 2>/dev/null) == "$installed" ]] || rm -rf "$folder"
mkdir -p "$folder"
if lay_over >"$folder/log" 2>&1 && { [[ -e $folder/done ]] ||
  bash scripts/cluster/install.sh openmpi-bin mpich >>"$folder/log" 2>&1; }; then
  echo "$installed" >"$folder/done"
else
  echo "Debian's MPIs cannot be installed here: see $folder/log" >&2
fi
exec "$@"
