"""`init --labels`: a workspace for rows with several labels, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.errors import InputError
from cartograph.schema import LABEL_SET
from cartograph.suspects.committee import reading_of
from tasks.commands.init import init
from tasks.engine.running import run_step
from tasks.labels import ingest
from tasks.pipelines import LABELS_STEPS, open_workspace, steps_of
from tests.label_sets import WORDS, film_frame


@pytest.fixture
def films(project: Path) -> str:
    frame, _ = film_frame(60)
    frame.to_csv(project / "films.csv", index=False)
    return str(project / "films.csv")


def test_a_workspace_is_made_and_said_how_it_was_understood(films: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init("workspaces/films", [films], labels=["tags"])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "train: 60 rows from films.csv"
    assert said[1].startswith("  labels  love ") and all(name in said[1] for name in WORDS)
    assert said[-2:] == ["  python -m flows.audit --workspace workspaces/films", "  dvc repro workspaces/films/dvc.yaml"]
    space = open_workspace(project / "workspaces/films")
    assert [step.name for step in steps_of(space.settings)] == [step.name for step in LABELS_STEPS if step.name not in ("fetch", "embed")]
    stages = yaml.safe_load((space.path / "dvc.yaml").read_text())["stages"]
    assert list(stages) == [step.name for step in steps_of(space.settings)]
    assert {"workspaces/films/reports/suspects.csv": {"persist": True}} in stages["noise"]["outs"]


def test_columns_of_0_and_1_are_named_with_commas(project: Path) -> None:
    frame, _ = film_frame(60)
    frame.drop(columns="tags").join(frame["tags"].str.get_dummies("|")[list(WORDS)]).to_csv(project / "films.csv", index=False)
    init("workspaces/films", [str(project / "films.csv")], labels=["war,sea", "love"])
    params = yaml.safe_load((project / "workspaces/films/params.yaml").read_text())
    assert params["ingest"]["label_columns"] == ["war", "sea", "love"]


def test_a_column_that_links_rows_is_named_and_what_it_links_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film_frame(60)[0].assign(film=[row // 4 for row in range(60)]).to_csv(project / "films.csv", index=False)
    init("workspaces/films", [str(project / "films.csv")], labels=["tags"], linked="film")
    assert "  linked  Rows with the same `film` are held out together: 60 of 60 in 15 groups.\n" in capsys.readouterr().out
    space = open_workspace(project / "workspaces/films")
    run_step(ingest.STEP, space)
    rows = pq.read_table(space.resolve(ingest.ROWS)).sort_by("row")
    assert rows["linked"].to_pylist() == [row // 4 for row in range(60)]
    assert reading_of(rows.drop_columns([LABEL_SET])).groups is not None
    assert "linked" not in pq.read_table(space.resolve(ingest.DECISIONS)).column_names


def test_an_encoder_is_of_texts_and_stands_in_its_section(films: str, project: Path) -> None:
    with pytest.raises(InputError, match="--pretrained names an encoder of texts, which a table of features has no use for"):
        init("workspaces/films", [films], labels=["tags"], features=True, pretrained="owner/name")
    init("workspaces/films", [films], labels=["tags"], pretrained="owner/name")
    space = open_workspace(project / "workspaces/films")
    assert "data/embed" in next(step for step in steps_of(space.settings) if step.name == "noise").inputs_of(space.settings)
    stages = yaml.safe_load((space.path / "dvc.yaml").read_text())["stages"]
    assert list(stages)[:2] == ["ingest", "embed"] and "workspaces/films/data/embed" in stages["noise"]["deps"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"evaluation": ["dev=dev.csv"]}, "--eval does not go with --labels: rows with several labels are audited alone; leave it out"),
        ({"label": "other"}, "--label does not go with --labels"),
        ({"profile": "full"}, "--profile does not go with --labels: selections, filters and retrained models need one label a row"),
        ({"model": "tiny"}, "--model does not go with --labels"),
    ],
)
def test_options_for_rows_with_one_label_are_refused(films: str, project: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        init("workspaces/films", [films], labels=["tags"], **more)
    assert not (project / "workspaces/films").exists()


def test_nothing_is_made_where_no_label_can_be_audited(project: Path) -> None:
    (project / "films.csv").write_text("text,tags\n" + "".join(f"t{row},a{row}\n" for row in range(30)))
    with pytest.raises(InputError, match="none of 30 labels can be audited"):
        init("workspaces/films", [str(project / "films.csv")], labels=["tags"])
    assert not (project / "workspaces/films").exists()
