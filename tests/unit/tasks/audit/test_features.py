"""The step features, on small sets of texts and of images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.config import load_settings
from cartograph.errors import InputError
from cartograph.features.vectors import write_features
from cartograph.models.registry import MODELS
from tasks.audit import aflite, embed, features
from tasks.audit.embed import STEP as EMBED
from tasks.audit.parameters.aflite import Aflite
from tasks.audit.parameters.features import Features
from tasks.audit.parameters.train import Train
from tasks.engine.step import Out
from tasks.engine.workspace import CODE, Workspace
from tests.filtering import HELD, TRAIN, filter_settings, run, workspace_of_images, workspace_of_pairs
from tests.training_sets import SMALL_TRAINING, small_set, write_vision
from tests.workspaces import make_workspace, with_sections


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return workspace_of_pairs(tmp_path)


@pytest.fixture
def images(tmp_path: Path) -> Workspace:
    return workspace_of_images(tmp_path)


def test_a_users_features_count_and_evaluation_sets_without_any_are_left_out(space: Workspace) -> None:
    rows = small_set("pair", rows=120)
    label = rows["label"].to_numpy()
    vectors = np.random.default_rng(0).normal(label[:, None], 0.5, (120, 3)).astype(np.float32)
    order = np.random.default_rng(1).permutation(120)
    write_features(rows["uid"].take(pa.array(order)), vectors[order], space.path / "mine.parquet")
    space = with_sections(space, features=Features(source="file", file=str(space.path / "mine.parquet")))
    # The held-out set's uids begin with the same letters: rows of one name would be taken for each other.
    pq.write_table(_renamed(small_set("pair", rows=40, seed=9, name="held", domain="id")), space.path / HELD)
    assert run(features.STEP, space) == "file, 3 numbers a row"
    run(aflite.STEP, space)
    record = json.loads((space.path / "data/aflite/aflite.json").read_text())
    assert record["evaluation"] == {}
    assert record["bias_before"] > 0.75


def _renamed(table: pa.Table) -> pa.Table:
    return table.set_column(0, table.schema.field(0), pa.array([f"h{row}" for row in range(table.num_rows)]))


def test_features_missing_for_some_rows_are_named(space: Workspace) -> None:
    uids = small_set("pair", rows=120)["uid"].slice(1)
    write_features(uids, np.ones((119, 2), np.float32), space.path / "mine.parquet")
    space = with_sections(space, features=Features(source="file", file=str(space.path / "mine.parquet")))
    with pytest.raises(InputError, match=r"mine\.parquet has no features of uid 'u0000' \(1 of 120 rows have none\)"):
        run(features.STEP, space)


def test_frozen_features_need_an_encoder_and_its_step() -> None:
    frozen = filter_settings(features=Features(source="frozen"))
    assert EMBED.when(frozen)
    assert not EMBED.when(filter_settings())
    assert features.STEP.inputs_of(frozen) == (TRAIN, HELD, "data/embed")
    with pytest.raises(InputError, match=r"features of a frozen encoder need `embed.pretrained`"):
        EMBED.inputs_of(frozen)
    off = filter_settings(features=Features(source="frozen"), aflite=Aflite(enabled=False))
    assert not EMBED.when(off) and not features.STEP.when(off) and not aflite.STEP.when(off)


@pytest.mark.parametrize(
    ("trained", "asked", "start"),
    [
        ({"model": "bow"}, {"model": "probe"}, "data/embed"),
        ({"model": "probe"}, {}, "data/embed"),
        ({"model": "probe"}, {"model": "bow"}, None),
        ({"model": "probe"}, {"model": "transformer"}, InputError),
        ({"model": "bow", "pretrained": "./mine"}, {"model": "transformer"}, "mine"),
        ({"model": "transformer", "pretrained": "./mine"}, {"model": "transformer", "pretrained": "./other"}, "other"),
        ({"model": "transformer", "pretrained": "owner/name"}, {}, "owner/name"),
    ],
)
def test_what_a_fine_tuned_model_starts_from_is_an_input(space: Workspace, trained: Any, asked: Any, start: Any) -> None:
    space = with_sections(space, train=Train(**trained), features=Features(source="finetuned", **asked))
    out = Out(space, {}, space.path, space.path, space.path)
    params = space.settings["features"]
    if start is InputError:
        with pytest.raises(InputError, match=r"features of a fine-tuned `transformer` need `features\.pretrained`"):
            features._recipe(params, out)
        return
    path = {"data/embed": space.path / "data/embed", "mine": CODE / "mine", "other": CODE / "other"}.get(start, start)
    assert features._recipe(params, out).pretrained == (path and str(path))
    name = {"mine": "file:./mine", "other": "file:./other", "data/embed": "data/embed"}.get(start)
    assert features.STEP.inputs_of(space.settings) == (TRAIN, HELD, *([name] if name else []))


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{source: file}", "`features`: source `file` needs `file`"),
        ("{source: finetuned, model: big}", f"model should be one of {', '.join(MODELS)}, but is 'big'"),
    ],
)
def test_wrong_parameters_of_features_are_named(tmp_path: Path, section: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(f"features: {section}")
    with pytest.raises(InputError) as raised:
        load_settings(tmp_path / "params.yaml", {"features": Features})
    assert message in str(raised.value)


def test_rows_that_a_column_links_leave_the_pool_together(tmp_path: Path) -> None:
    rows = small_set(rows=120).append_column("linked", pa.array([row // 4 for row in range(120)], pa.int32()))
    space = make_workspace(tmp_path, rows, train=SMALL_TRAINING, features=Features(source="finetuned", held_back=0.25))
    run(features.STEP, space)
    pool = [int(uid[1:]) // 4 for uid in pq.read_table(tmp_path / "data/features/train.parquet")["uid"].to_pylist()]
    assert len(pool) == 4 * len(set(pool)) and 76 <= len(pool) <= 104


@pytest.mark.slow
def test_features_come_from_a_network_that_is_trained_or_frozen(images: Workspace) -> None:
    images = with_sections(images, train=Train(model="cnn", epochs=2, batch_size=16, threads=1))
    images = with_sections(images, features=Features(source="finetuned", held_back=0.25))
    assert run(features.STEP, images) == "finetuned, 64 numbers a row, 30 rows held back"
    (images.path / "network").mkdir()
    write_vision(images.path / "network")
    images = with_sections(images, embed=embed.Embed(pretrained=str(images.path / "network"), device="cpu"))
    images = with_sections(images, features=Features(source="frozen"))
    assert run(embed.STEP, images) == "160 images, 16 numbers each"
    assert run(features.STEP, images) == "frozen, 16 numbers a row"
    images = with_sections(images, features=Features(source="finetuned", model="vision", pretrained=str(images.path / "network"), epochs=1))
    assert run(features.STEP, images) == "finetuned, 16 numbers a row, 12 rows held back"


def test_a_source_of_words_is_refused_and_the_other_way_round(images: Workspace) -> None:
    images = with_sections(images, features=Features())
    with pytest.raises(InputError, match=r"`features\.source` is `bow`, but the rows are images; set it to pixels, frozen, finetuned or"):
        run(features.STEP, images)
    pq.write_table(small_set(rows=20), images.path / TRAIN)
    images = with_sections(images, features=Features(source="pixels"))
    with pytest.raises(InputError, match=r"`features\.source` is `pixels`, but the rows are texts; set it to bow, frozen, finetuned or"):
        run(features.STEP, images)
