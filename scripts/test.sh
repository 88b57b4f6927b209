#!/usr/bin/env bash
# Runs every test, or what the pytest arguments select; makes .venv on first use. With
# --plugin module:Class it runs the conformance suite over an algorithm of your own,
# whose module is in the folder where you stand, or on PYTHONPATH.
set -euo pipefail

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
set_up test
if [[ " $*" == *" --plugin"* ]]; then export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}; fi
cd "$root"
exec "$python" -m pytest "$@"
