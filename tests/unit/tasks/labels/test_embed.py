"""A frozen encoder's vectors of rows with several labels, and the suspects that are found with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from cartograph.errors import InputError
from cartograph.features.vectors import write_features
from cartograph.models.tiny import Tiny
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tasks.pipelines import steps_of
from tests.label_sets import film_frame
from tests.training_sets import info_of, small_set
from tests.workspaces import open_new, with_sections

ROWS = 200


@pytest.fixture
def space(project: Path) -> Workspace:
    film_frame(ROWS, wrong=0.06)[0].to_csv(project / "films.csv", index=False)
    torch.manual_seed(0)
    (project / "encoder").mkdir()
    Tiny.create(info_of("single"), small_set(), max_length=32).save(project / "encoder")
    ingest = {"train": "films.csv", "text": "text", "label_columns": "tags"}
    return open_new(project / "workspaces/films", ingest=ingest, train={"epochs": 2}, publish={"enabled": False})


def run(space: Workspace, *names: str) -> None:
    for step in steps_of(space.settings):
        if step.name in names:
            run_step(step, space)


def noise(space: Workspace) -> pa.Table:
    return pq.read_table(space.resolve("data/noise/noise.parquet"))


@pytest.mark.slow
def test_each_text_has_a_vector_once_and_suspects_are_found_with_it(space: Workspace, project: Path) -> None:
    run(space, "ingest", "train", "measure", "noise")
    before = noise(space)
    assert "embed" not in [step.name for step in steps_of(space.settings)]
    encoded = with_sections(space, embed={"pretrained": str(project / "encoder"), "device": "cpu"})
    run(encoded, "embed", "noise")
    vectors = pq.read_table(encoded.resolve("data/embed/train.parquet"))
    rows = pq.read_table(encoded.resolve("data/ingest/rows.parquet"))
    assert sorted(vectors["uid"].to_pylist()) == rows["uid"].to_pylist(), "a vector a row, not one a label"
    after = noise(encoded)
    assert after["uid"].equals(before["uid"]) and not after["probability"].equals(before["probability"])


@pytest.mark.slow
def test_the_users_own_vectors_take_an_encoders_place(space: Workspace, project: Path) -> None:
    run(space, "ingest", "train", "measure", "noise")
    before = noise(space)
    uids = pq.read_table(space.resolve("data/ingest/rows.parquet"))["uid"]
    vectors = np.random.default_rng(1).normal(size=(len(uids), 4)).astype(np.float32)
    write_features(uids, vectors, project / "own.parquet")
    own = with_sections(space, embed={"file": str(project / "own.parquet")})
    assert "embed" not in [step.name for step in steps_of(own.settings)]
    run(own, "noise")
    assert noise(own)["uid"].equals(before["uid"]) and not noise(own)["probability"].equals(before["probability"])
    with pytest.raises(ValueError, match="vectors come from an encoder or from a file, so leave one of them out"):
        with_sections(space, embed={"file": "own.parquet", "pretrained": "encoder"})


def test_a_table_of_features_has_no_use_for_an_encoder_of_texts(space: Workspace, project: Path) -> None:
    frame = film_frame(ROWS)[0]
    frame.assign(year=range(ROWS), length=frame["text"].str.len()).drop(columns="text").to_csv(project / "table.csv", index=False)
    ingest = {"train": "table.csv", "features": ["year", "length"], "label_columns": "tags"}
    table = open_new(project / "workspaces/table", ingest=ingest, embed={"pretrained": str(project / "encoder")})
    run(table, "ingest")
    with pytest.raises(InputError, match="names an encoder of texts, but the rows are a table of features; leave it out"):
        run(table, "embed")
