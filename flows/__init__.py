"""The Prefect flows. Importing this package sets what must be set before Prefect is imported."""

import os

from tasks.engine.surroundings import prepare

prepare()
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
