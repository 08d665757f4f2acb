"""What libraries read from the environment when they are imported, set before that."""

from __future__ import annotations

import getpass
import os
from contextlib import suppress
from pathlib import Path

SILENT = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "GX_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DVC_NO_ANALYTICS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""An audit of somebody's data sends nothing anywhere: every library's own reporting is switched off."""

PATIENT = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that spin while they wait make a training 30 times slower where another process has one of the cores."""


TRACKER = "ignore:resource_tracker:UserWarning"
"""A process that ends at once leaves its locks to Python's resource tracker, which removes them; from 3.14 on it would say so, too."""

OWN_HOME = Path(__file__).resolve().parent.parent.parent / ".cartograph" / "home"
"""Stands in for the home of a user who has none."""


def prepare() -> None:
    """Set the switches in this process and those it starts; call it before the libraries are imported."""
    os.environ.update(SILENT)
    for name, value in PATIENT.items():
        os.environ.setdefault(name, value)
    said = os.environ.get("PYTHONWARNINGS", "")
    if TRACKER not in said.split(","):
        os.environ["PYTHONWARNINGS"] = f"{said},{TRACKER}" if said else TRACKER
    _settle(OWN_HOME)


def _settle(own: Path) -> None:
    """Give a user without a home, as in many containers, a folder in its stead: some libraries fail on import without one.

    A home that can only be read stays, with what is in it; Prefect alone has to write, and gets another place.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):
        # Nor a name: DVC asks for one.
        os.environ["LOGNAME"] = str(os.getuid())
    try:
        home: Path | None = Path.home()
    except RuntimeError:
        home = None
    with suppress(OSError):
        if home is None or not home.is_dir():
            own.mkdir(parents=True, exist_ok=True)
            os.environ["HOME"] = str(own)
        elif not os.access(home, os.W_OK | os.X_OK):
            os.environ.setdefault("PREFECT_HOME", str(own / ".prefect"))
