#!/usr/bin/env bash
# Installs packages of Debian, without their daemons and without a question:
#
#   bash scripts/cluster/install.sh PACKAGE...
#
# What may take for ever is the network: it has a limit. The installation itself has none,
# as one that is broken off leaves the machine's packages in disorder.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive
export RUNLEVEL=1 # in which no package starts its daemon
apt() {
  apt-get -y --no-install-recommends -o Acquire::Retries=3 -o Acquire::http::Timeout=20 \
    -o DPkg::Lock::Timeout=60 "$@"
}
export -f apt
timeout --kill-after=5 150 bash -c 'apt install --download-only "$@" ||
  { apt update || true; apt install --download-only "$@"; }' apt "$@"
apt install "$@"
