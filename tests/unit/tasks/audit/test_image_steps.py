"""The steps over rows that are images: features, filter, bias, committee, review, contents, and a workspace of one's own."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.bias.accuracies import ACCURACIES, EvaluationRows, accuracies_table
from cartograph.bias.guess import guess
from cartograph.clean import label_studio
from cartograph.clean.blind_check import draw
from cartograph.clean.review_sheet import review_sheet, suspects
from cartograph.data.content import content_digest, profile
from cartograph.data.images import png_of
from cartograph.errors import InputError
from cartograph.features.pixels import pixel_shape, sparse_pixels, svd_features
from cartograph.schema import NOISE, dataset_info
from cartograph.suspects.committee import committee_scores
from tasks.audit import aflite, bias, embed, features
from tasks.audit.parameters.bias import Bias
from tasks.audit.parameters.features import Features
from tasks.audit.parameters.train import Train
from tasks.commands.init import init
from tasks.engine.workspace import CODE, Workspace
from tasks.pipelines import open_workspace
from tests.training_sets import info_of, small_images, small_set, table, write_vision
from tests.unit.read.test_image_folder import write
from tests.unit.tasks.audit.test_aflite import HELD, TRAIN, run, settings_of
from tests.workspaces import with_sections


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    (tmp_path / "data/ingest").mkdir(parents=True)
    pq.write_table(small_images(120), tmp_path / TRAIN)
    pq.write_table(small_images(40, seed=9, name="held", domain="id"), tmp_path / HELD)
    return Workspace(tmp_path, settings_of(features=Features(source="pixels", dimensions=8)))


def test_pixels_from_features_to_before_and_after(space: Workspace) -> None:
    assert run(features.STEP, space) == "pixels, 8 numbers a row"
    run(aflite.STEP, space)
    filtered = pq.read_table(space.path / "data/aflite/filtered.parquet")
    assert dataset_info(filtered.schema) == info_of("image") and filtered.num_rows < 120
    space = with_sections(space, bias=Bias(seeds=(1,)))
    assert run(bias.STEP, space).startswith("linear on held: ")
    accuracies = pq.read_table(space.path / "data/bias/accuracies.parquet")
    assert set(accuracies["model"].to_pylist()) == {"linear"} and accuracies["top5"].null_count == accuracies.num_rows
    assert pq.read_table(space.path / "data/bias/words.parquet").num_rows == 0
    assert pq.read_table(space.path / "data/bias/neighbours.parquet").num_rows > 0


def test_only_models_of_words_leave_distances_alone(space: Workspace) -> None:
    run(features.STEP, space)
    run(aflite.STEP, space)
    space = with_sections(space, bias=Bias(models=("max-pmi",), seeds=(1,)))
    assert run(bias.STEP, space).endswith(" distances")


def test_features_of_a_network_and_of_a_frozen_one(space: Workspace) -> None:
    space = with_sections(space, train=Train(model="cnn", epochs=2, batch_size=16, threads=1))
    space = with_sections(space, features=Features(source="finetuned", held_back=0.25))
    assert run(features.STEP, space) == "finetuned, 64 numbers a row, 30 rows held back"
    (space.path / "network").mkdir()
    write_vision(space.path / "network")
    space = with_sections(space, embed=embed.Embed(pretrained=str(space.path / "network"), device="cpu"))
    space = with_sections(space, features=Features(source="frozen"))
    assert run(embed.STEP, space) == "160 images, 16 numbers each"
    assert run(features.STEP, space) == "frozen, 16 numbers a row"
    space = with_sections(space, features=Features(source="finetuned", model="vision", pretrained=str(space.path / "network"), epochs=1))
    assert run(features.STEP, space) == "finetuned, 16 numbers a row, 12 rows held back"


def test_a_source_of_words_is_refused_and_the_other_way_round(space: Workspace) -> None:
    space = with_sections(space, features=Features())
    with pytest.raises(InputError, match=r"`features\.source` is `bow`, but the rows are images; set it to pixels, frozen, finetuned or"):
        run(features.STEP, space)
    pq.write_table(small_set(rows=20), space.path / TRAIN)
    space = with_sections(space, features=Features(source="pixels"))
    with pytest.raises(InputError, match=r"`features\.source` is `pixels`, but the rows are texts; set it to bow, frozen, finetuned or"):
        run(features.STEP, space)


def test_svd_of_pixels_keeps_what_tells_them_apart() -> None:
    tables = {"train": small_images(80), "held": small_images(30, seed=4)}
    found = svd_features(tables, 4, 13)
    assert found["train"].shape == (80, 4) and found["held"].shape == (30, 4)
    assert float(np.mean((found["train"] ** 2).sum(axis=1))) == pytest.approx(10, rel=1e-4)
    label = tables["held"]["label"].to_numpy()
    first = found["held"][:, 0]
    assert max(np.mean((first > 0) == label), np.mean((first <= 0) == label)) > 0.95
    alike = table(info_of("image"), {"image": [png_of(np.full((1, 1), 3, np.uint8), 9)]}, [0])
    assert svd_features({"train": alike}, 4, 13)["train"].tolist() == [[0.0]]


def test_large_images_are_read_small() -> None:
    rows = small_images(4, shape=(60, 120, 3))
    assert pixel_shape(rows) == (32, 16, 3)
    assert sparse_pixels(rows).shape == (4, 32 * 16 * 3)


def test_a_linear_model_and_the_committee_read_pixels() -> None:
    train, test = small_images(150), small_images(60, seed=9)
    assert (guess("linear", train, test, smoothing=1.0).argmax(axis=1) == test["label"].to_numpy()).mean() > 0.95
    given = train["label"].to_numpy().copy()
    wrong = np.arange(0, 150, 15)
    given[wrong] = 1 - given[wrong]
    scores = committee_scores(sparse_pixels(train), given, ["left", "right"], np.random.default_rng(0), folds=3)
    assert set(np.argsort(-scores.doubt.score)[: len(wrong)]) == set(wrong)


def test_five_best_labels_are_counted() -> None:
    info = info_of("image")
    pool, tests = small_images(20), EvaluationRows(small_images(4, seed=3), np.ones(4, bool))
    gold = tests.rows["label"].to_numpy()
    scores = np.zeros((4, 6), np.float32)
    scores[:, 2:] = 1.0  # five classes before the label where it is 1, four and a tie where it is 0
    scores[np.arange(4), gold] = [2.0, 0.5, 0.5, 0.0]
    expected = {"accuracy": 0.25, "top5": np.mean([True, True, True, gold[3] == 0])}
    found = accuracies_table(pool, np.ones(20, bool), {"dev": tests}, [("m", "whole input")], (1,), lambda *_: {"dev": scores})
    assert found.schema.equals(ACCURACIES)
    assert {key: found.to_pylist()[0][key] for key in expected} == expected
    assert info.labels == ("left", "right")


def noise_of(rows: pa.Table, flagged: int) -> pa.Table:
    usual = {"probability": 0.9, "suggested": 1, "suggested_probability": 0.8, "reason": "so"}
    entries = [usual | {"uid": uid, "flagged": place < flagged, "rank": place + 1} for place, uid in enumerate(rows["uid"].to_pylist())]
    return pa.Table.from_pylist(entries, schema=NOISE)


def test_people_review_pictures() -> None:
    rows = small_images(6)
    found = suspects(rows, noise_of(rows, 2), 10)
    sheet = list(csv.DictReader(io.StringIO(review_sheet(info_of("image"), found).decode("utf-8-sig"))))
    assert [row["uid"] for row in sheet] == ["u0000", "u0001"]
    assert all(row["image"].startswith("data:image/png;base64,") and len(row["image"]) < 32_767 for row in sheet)
    assert label_studio.tasks(found)[0]["data"]["text_1"] == sheet[0]["image"]
    image = ElementTree.fromstring(label_studio.configuration(info_of("image"))).find("Image")
    assert image is not None and image.attrib["value"] == "$text_1"
    _, blind = draw(rows, noise_of(rows, 2), np.random.default_rng(0), per_class=2)
    assert blind.decode("utf-8-sig").count("data:image/png;base64,") == 4


def test_contents_of_images() -> None:
    rows = small_images(6)
    assert content_digest(rows) == content_digest(rows.take([5, 4, 3, 2, 1, 0])) != content_digest(small_images(6, seed=1))
    assert profile(rows)["mean_pixels"] == {"image": 80.0} and "mean_characters" not in profile(rows)


def test_a_workspace_for_a_folder_of_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = CODE / "workspaces" / "_test_images"
    rng = np.random.default_rng(0)
    files = {
        f"{label}/{number}.png": png_of(rng.integers(0, 255, (9, 12, 3), dtype=np.uint8), 99) for label in "ab" for number in range(12)
    }
    try:
        init("workspaces/_test_images", [str(write(tmp_path / "photos", files))], image="image")
        said = capsys.readouterr().out.splitlines()
        assert said[:3] == ["train: 24 rows from photos", "  classes  a 12, b 12", "  image  12 to 12 pixels wide, 9 to 9 high, colour"]
        content = yaml.safe_load((place / "params.yaml").read_text(encoding="utf-8"))
        assert content["train"]["model"] == "cnn" and content["features"]["source"] == "pixels" and content["ingest"]["text"] == []
        assert open_workspace("workspaces/_test_images").settings["ingest"].image == ("image",)  # type: ignore[attr-defined]
    finally:
        shutil.rmtree(place, ignore_errors=True)
