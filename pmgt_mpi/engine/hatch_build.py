"""The build hook: a wheel has the compiled engine if there is a C compiler to build it.

Without one the installation succeeds all the same, and Python and numpy do the work.
"""

from __future__ import annotations

import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EngineHook(BuildHookInterface[Any]):
    """Builds the engine in the source tree, from which the wheel takes it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build, and tag the wheel for every CPython from 3.11 on."""
        sys.path.insert(0, self.root)
        from pmgt_mpi.engine.build import build
        from pmgt_mpi.engine.variants import BuildError

        try:
            built = build()
        except BuildError as error:
            self.app.display_warning(f"pmgt_mpi without its compiled engine: {error}")
            return
        platform = sysconfig.get_platform().translate(str.maketrans("-.", "__"))
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["pure_python"] = False
        build_data["artifacts"] += [f"pmgt_mpi/engine/{file.name}" for file in built]
