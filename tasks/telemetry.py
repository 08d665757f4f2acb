"""An audit of somebody's data sends nothing anywhere: every library's own reporting is switched off."""

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


def silence() -> None:
    """Set the switches in this process and those it starts; call it before the libraries are imported."""
    os.environ.update(SILENT)
