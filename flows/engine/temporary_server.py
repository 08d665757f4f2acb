"""The Prefect server that a flow starts for itself where none is named: it ends with the flow, however that ends.

``python -m flows.engine.temporary_server PORT PARENT`` serves until the process PARENT, which started it, is gone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import uvicorn
from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import PREFECT_HOME

from flows.engine.parent_death import end_with_parent
from tasks.engine.workspace import CODE

_OWN = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
"""What Prefect sets for such a server."""


class TemporaryServer(SubprocessASGIServer):
    """Prefect's temporary server, in a session of its own: Ctrl-C stops the flow, which can still say so to it."""

    def _run_uvicorn_command(self) -> subprocess.Popen[Any]:
        from prefect.settings import get_current_settings

        settings = get_current_settings().to_environment_variables(exclude_unset=True)
        command = [sys.executable, "-m", "flows.engine.temporary_server", str(self.port), str(os.getpid())]
        # What it has to say of itself is in its log, and never among the audit's lines.
        with _log() as log:
            return subprocess.Popen(
                command, env={**os.environ, **_OWN, **settings}, cwd=CODE, start_new_session=True, stdout=log, stderr=log
            )


def server_log() -> Path:
    """Return the file in which a temporary server's own messages stand, the last one's."""
    return Path(PREFECT_HOME.value()) / "temporary-server.log"


def _log() -> IO[str]:
    try:
        server_log().parent.mkdir(parents=True, exist_ok=True)
        return server_log().open("w", encoding="utf-8")
    except OSError:
        return Path(os.devnull).open("w", encoding="utf-8")


def use_temporary_server() -> TemporaryServer:
    """Have Prefect use such a server where it needs one of its own; it is started when that is so."""
    server = TemporaryServer()
    if not isinstance(server, TemporaryServer):
        raise RuntimeError("Prefect has started a temporary server of its own already")
    return server


def main(port: int, parent: int) -> None:
    """Serve until the parent is gone."""
    end_with_parent(parent)
    uvicorn.run("prefect.server.api.server:create_app", factory=True, host="127.0.0.1", port=port, log_level="error", lifespan="on")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
