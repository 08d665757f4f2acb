"""What libraries read from the environment when they are imported, set before that."""

from __future__ import annotations

import os

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


def prepare() -> None:
    """Set the switches in this process and those it starts; call it before the libraries are imported."""
    os.environ.update(SILENT)
    for name, value in PATIENT.items():
        os.environ.setdefault(name, value)
