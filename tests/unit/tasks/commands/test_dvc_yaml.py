from __future__ import annotations

from pathlib import Path

import yaml

from tasks.__main__ import main
from tasks.commands.dvc_yaml import _stage
from tasks.engine.step import Step
from tests.small_steps import Doubling, shout
from tests.workspaces import make_workspace


def test_dvc_depends_on_an_optional_input_once_it_is_there_and_removes_no_output(project: Path) -> None:
    folder = project / "workspaces" / "reviews"
    (folder / "review").mkdir(parents=True)
    (folder / "params.yaml").write_text("{}")
    outputs = ("data/double", "reports/double.csv")
    step = Step("double", shout, Doubling, ("data/source",), ("review/decisions.csv",), outputs)
    audit = make_workspace(folder, double=Doubling())
    assert "workspaces/reviews/review/decisions.csv" not in _stage(step, audit)["deps"]
    (folder / "review" / "decisions.csv").write_text("one")
    stage = _stage(step, audit)
    assert "workspaces/reviews/review/decisions.csv" in stage["deps"]
    assert all({f"workspaces/reviews/{name}": {"persist": True}} in stage["outs"] for name in outputs)


def test_a_workspace_that_nobody_has_run_needs_no_dvc_yaml_and_dvc_has_nothing_to_say_of_it(project: Path) -> None:
    text = yaml.safe_dump({"ingest": {"source": "digits"}})
    for folder in (project, project / "workspaces" / "unused", project / "workspaces" / "used"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "params.yaml").write_text(text)
    assert main(["dvc-yaml", "--workspace", "workspaces/used"]) == 0
    (project / "workspaces/used/dvc.yaml").write_text("stages: {}\n")
    assert main(["dvc-yaml", "--check"]) == 2
    assert main(["dvc-yaml"]) == 0
    assert main(["dvc-yaml", "--check"]) == 0
    assert sorted(path.relative_to(project).as_posix() for path in project.rglob("dvc.yaml")) == ["dvc.yaml", "workspaces/used/dvc.yaml"]
