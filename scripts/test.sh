#!/usr/bin/env bash
# Runs every test, or what the pytest arguments select; makes .venv on first use.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
set_up test
cd "$root"
exec "$python" -m pytest "$@"
