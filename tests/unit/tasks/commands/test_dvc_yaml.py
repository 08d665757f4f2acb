from __future__ import annotations

from pathlib import Path

from tasks.commands.dvc_yaml import _stage
from tasks.engine.step import Hints, Step
from tests.small_steps import Doubling, shout
from tests.workspaces import make_workspace


def test_dvc_depends_on_an_optional_input_once_it_is_there_and_leaves_persistent_outputs_alone(project: Path) -> None:
    folder = project / "workspaces" / "reviews"
    (folder / "review").mkdir(parents=True)
    (folder / "params.yaml").write_text("{}")
    outputs = ("data/double", "reports/double.csv")
    hints = Hints(persistent=("reports/double.csv",))
    step = Step("double", shout, Doubling, ("data/source",), ("review/decisions.csv",), outputs, hints=hints)
    audit = make_workspace(folder, double=Doubling())
    assert "workspaces/reviews/review/decisions.csv" not in _stage(step, audit)["deps"]
    (folder / "review" / "decisions.csv").write_text("one")
    stage = _stage(step, audit)
    assert "workspaces/reviews/review/decisions.csv" in stage["deps"]
    assert {"workspaces/reviews/reports/double.csv": {"persist": True}} in stage["outs"]
    assert "workspaces/reviews/data/double" in stage["outs"]
