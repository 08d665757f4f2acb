"""An audit on a page of Markdown: its outcome, the map, the first suspects, and where everything is."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

from cartograph.data.json_files import read_json
from cartograph.errors import CartographError, WaitingError
from cartograph.wording import cut, markdown_table, percent, plain_markdown
from tasks.audit import compare, gates
from tasks.audit.headlines import HARD_BREAK, verdict_markdown
from tasks.audit.report import PAGE
from tasks.engine.workspace import Workspace, project_root
from tasks.publishing.tracking_uri import LOCAL_VIEWER, viewer

_MAP = "reports/figures/data_map.png"
_SUSPECTS = 10
_CHARACTERS = 120
_WIDTH = 560
_SHOWN = {"rows": "Rows", "suspects": "Suspects", "quarantined.share": "Quarantined", "suspects.share": "Suspects, share"}
_WORDS = {"failed": "**Failed.**", "warned": "**Warning.**"}


def audit_summary(workspace: Workspace, error: CartographError | None) -> str:
    """Return the summary of the audit that has just ended; of one that ended early, why, and what there is.

    Args:
        workspace: whose audit.
        error: what it ended with; None where it went well.
    """
    word = "**Waiting.**" if isinstance(error, WaitingError) else _WORDS["failed"]
    whole = gates.came_to_gates(workspace, error)
    verdict = verdict_markdown(workspace.path / PAGE) if whole else []
    parts = [f"# Audit of {plain_markdown(workspace.name)}", *([HARD_BREAK.join(verdict)] if verdict else [])]
    if error is not None or not verdict:
        parts.append(f"{word} {plain_markdown(str(error))}" if error else "The audit is done.")
    parts += [
        f"{_WORDS[finding['outcome']]} {plain_markdown(finding['sentence'])}"
        for finding in (gates.findings(workspace) if whole else ())
        if finding["outcome"] in _WORDS and (error is None or finding["sentence"] not in str(error))
    ]
    which = "this audit" if whole else "last audit"
    found = [part for part in (_changes(workspace, which), _map(workspace), _suspects(workspace), _places(workspace)) if part]
    if found and not whole:
        parts.append("What follows is as the last audit left it that came that far, which need not be this one.")
    return "\n\n".join([*parts, *found]) + "\n"


def _changes(workspace: Workspace, which: str) -> str:
    comparison = _json(workspace.path / compare.DATA / "comparison.json")
    record = _json(workspace.path / compare.DATA / "record.json")
    before, now = comparison.get("before", {}), record.get("numbers", {})
    cells = [
        (_SHOWN.get(name, plain_markdown(name)), _number(name, now[name]), _number(name, before[name]) if name in before else "–")
        for name in now
        if name in _SHOWN or name.endswith(".accuracy")
    ]
    return markdown_table(["", which, "the one before"], cells, "lrr") if now else ""


def _map(workspace: Workspace) -> str:
    """Return the map as a small picture in the text: the page that shows it need not reach this machine's files."""
    from PIL import Image

    path = workspace.path / _MAP
    if not path.exists():
        return ""
    with Image.open(path) as picture:
        size = (_WIDTH, round(picture.height * _WIDTH / picture.width))
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS).quantize(64)
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return f"![The data map](data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()})"


def _suspects(workspace: Workspace) -> str:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from cartograph.schema import dataset_info

    paths = workspace.path / "data/noise/noise.parquet", workspace.path / compare.ROWS
    if not all(path.exists() for path in paths):
        return ""
    noise, examples = (pq.read_table(path) for path in paths)
    info = dataset_info(examples.schema)
    first = noise.filter(noise["flagged"]).sort_by("rank").slice(0, _SUSPECTS).to_pylist()
    wanted = pa.array([suspect["uid"] for suspect in first], pa.string())
    rows = {row["uid"]: row for row in examples.filter(pc.is_in(examples["uid"], value_set=wanted)).to_pylist()}
    cells = []
    for suspect in first:
        if suspect["uid"] in rows:
            row = rows[suspect["uid"]]
            text = " / ".join(str(row[name]) for name in (*info.text, *info.options)) or f"{row['source']}, {row['uid']}"
            names = (info.labels[row["label"]], info.labels[suspect["suggested"]])
            cells.append([f"{suspect['probability']:.2f}", *map(plain_markdown, (cut(text, _CHARACTERS), *names))])
    return markdown_table(["Suspect", "Text", "Label", "Suggested"], cells, "rlll") if cells else ""


def _places(workspace: Workspace) -> str:
    """Return where the report and the run are; links are addresses that a browser opens from any machine that reaches them."""
    report = workspace.path / PAGE
    run = _json(workspace.state / "mlflow-run.json")
    server, experiment, name = (str(run.get(key) or "") for key in ("server", "experiment", "run"))
    served = server.startswith(("http://", "https://"))
    address = f"{server.rstrip('/') if served else LOCAL_VIEWER}/#/experiments/{experiment}/runs/{name}"
    lines = [f"- Report: `{report.relative_to(project_root()).as_posix()}`"] if report.exists() else []
    if server:
        lines.append(f"- In MLflow: [the report]({address}/artifacts/report.html), [the run]({address})")
    if server and not served:
        lines[-1] += f", while `{viewer(server)}` runs"
    return "\n".join(lines)


def _number(name: str, value: float) -> str:
    if name.endswith(".share"):
        return percent(value)
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) > 1 else f"{value:.3f}"


def _json(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
