"""MLflow's own server and pages, as a user has them: started on loopback, and read in a browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from playwright.sync_api import Locator, Page, expect

from tasks.engine.surroundings import SILENT


@contextmanager
def tracking_server(home: Path) -> Iterator[str]:
    """Host and port of a tracking server on the database ``mlflow.db`` in a folder, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = ["server", "--backend-store-uri", "sqlite:///mlflow.db", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    # Its job runners are of no use here, and seven of them keep most of a core busy.
    environment = os.environ | SILENT | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (home / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", *command], cwd=home, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                    break
            except OSError:
                assert process.poll() is None, (home / "server.log").read_text()[-2000:]
                time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def compare_train_sets(page: Page, server: str, experiment: str) -> None:
    """Open an experiment's first audit, tick its original and its cleaned train set, and press Compare."""
    page.goto(f"http://{server}/#/experiments/{experiment}/runs?compareRunsMode=TABLE")
    page.locator("[role=row] button[data-component-id*=runnamecellrenderer]").first.click()
    for name in ("original", "cleaned"):
        row = page.locator("[role=row]").filter(has=page.get_by_role("link", name=name, exact=True))
        row.locator("input.ag-checkbox-input").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("Comparing 2 Runs from 1 Experiment").wait_for()
    expect(page.locator(".js-plotly-plot")).to_contain_text(re.compile("cleaned.*original|original.*cleaned", re.S), timeout=60_000)


def compared(page: Page, row: Locator) -> dict[str, str]:
    """Return what the compare view shows in a row, whose name this is, by the name of the run."""
    return dict(zip(beside(page.get_by_text("Run Name:", exact=True)), beside(row), strict=True))


def beside(element: Locator) -> list[str]:
    """Return the texts to the right of an element, from left to right."""
    script = """(one) => {
        const box = one.getBoundingClientRect(), found = []
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
        while (walker.nextNode()) {
            const text = walker.currentNode, range = document.createRange()
            range.selectNodeContents(text)
            const own = range.getBoundingClientRect()
            if (text.data.trim() && own.left > box.right && Math.abs(own.top + own.bottom - box.top - box.bottom) < 12)
                found.push([own.left, text.data.trim()])
        }
        return found.sort((a, b) => a[0] - b[0]).map((pair) => pair[1])
    }"""
    return cast(list[str], element.evaluate(script))
