"""The notebooks under examples: stored with their outputs, and their code runs from top to bottom as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MOST_BYTES = 300_000


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> bool:
    return any(output["output_type"] == "stream" for output in cell["outputs"])


def test_there_are_notebooks_for_a_file_and_for_a_training_loop() -> None:
    assert [path.name for path in NOTEBOOKS] == ["audit-a-file.ipynb", "own-training-loop.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_executed_without_error_and_small(path: Path) -> None:
    cells, text = code_cells(path), path.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} == {"stream", "execute_result"}
    figures = [set(output["data"]) for output in outputs if "image/png" in output.get("data", {})]
    assert figures == [{"application/vnd.plotly.v1+json", "image/png", "text/plain"}], "the map, as a picture too"
    assert "/home/" not in text and "/tmp/" not in text and str(ROOT) not in text


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.slow] if path.stem == "audit-a-file" else [], id=path.stem) for path in NOTEBOOKS]
)
def test_its_code_runs_from_top_to_bottom_and_prints_where_it_printed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in code_cells(path):
        exec(compile("".join(cell["source"]), path.name, "exec"), namespace)
        assert bool(capsys.readouterr().out) == printed(cell), cell["source"]
    found, wrong = namespace["suspected"], {int(row) for row in namespace["wrong"]}
    assert len(found & wrong) > 0.8 * len(found) > 8, "what it shows is true: most suspects are wrong labels"
