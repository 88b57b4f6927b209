#!/usr/bin/env bash
# Measures rounds, epochs, inner steps, start-up, memory and scaling, against C where
# there is a compiler, and overlap; writes docs/performance.json and docs/performance.md.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
# shellcheck disable=SC2119 # the arguments of set_up are extras, not this script's
set_up
cd "$root"
exec "$python" scripts/bench "$@"
