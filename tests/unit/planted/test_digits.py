"""The built-in digits: real images in three sets, with planted flips and alterations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cartograph.data.images import open_png, pixels_of
from cartograph.planted import digits
from cartograph.planted.corpus import PlantedCorpus
from cartograph.schema import TRUTH
from tasks.engine.workspace import CODE
from tasks.pipelines import open_workspace
from tests.ingesting import run_ingest


@pytest.fixture(scope="module")
def whole() -> PlantedCorpus:
    return digits.generate(rows=1200, seed=13)


def test_every_image_is_in_one_set(whole: PlantedCorpus) -> None:
    uids = [uid for table in whole.sets.values() for uid in table["uid"].to_pylist()]
    assert sorted(uids) == [f"digit-{place:04d}" for place in range(1797)]
    assert {name: table.num_rows for name, table in whole.sets.items()} == {"train": 1200, "validation": 297, "altered": 300}


def test_images_are_scikit_learns_and_truth_is_theirs(whole: PlantedCorpus) -> None:
    bundle = load_digits()
    train = whole.sets["train"]
    places = [int(uid.removeprefix("digit-")) for uid in train["uid"].to_pylist()]
    found = pixels_of(train["image"], 8, 8, 1)[..., 0]
    assert np.abs(found / 255 * 16 - bundle.images[places]).max() < 0.04
    assert whole.truth.schema.equals(TRUTH) and not any(whole.truth["give_away"].to_pylist())
    for row in whole.truth.to_pylist():
        assert row["true_label"] == str(bundle.target[int(row["uid"].removeprefix("digit-"))])


def test_three_per_cent_of_the_train_labels_are_wrong(whole: PlantedCorpus) -> None:
    true = {row["uid"]: (row["kind"], row["true_label"]) for row in whole.truth.to_pylist()}
    for name, table in whole.sets.items():
        wrong = {uid for uid, label in zip(table["uid"].to_pylist(), table["label"].to_pylist(), strict=True) if label != true[uid][1]}
        assert wrong == {uid for uid in table["uid"].to_pylist() if true[uid][0] == "flipped"}
        assert len(wrong) == (36 if name == "train" else 0)


def test_altered_images_say_how(whole: PlantedCorpus) -> None:
    bundle = load_digits()
    rows = whole.sets["altered"].to_pylist()
    assert [sum(row[name] == "yes" for row in rows) for name in digits.ALTERATIONS] == [75] * 4
    for row in rows:
        before = np.rint(bundle.images[int(row["uid"].removeprefix("digit-"))] * (255 / 16))
        after = np.asarray(open_png(row["image"])).astype(float)
        assert not np.array_equal(before, after)
        if row["inverted"] == "yes":
            assert np.array_equal(after, 255 - before)


def test_a_seed_and_a_size_decide_the_sets(whole: PlantedCorpus) -> None:
    assert digits.generate(rows=1200, seed=13).sets["altered"].equals(whole.sets["altered"])
    assert not digits.generate(rows=1200, seed=14).sets["train"].equals(whole.sets["train"])
    assert digits.generate(rows=100, seed=13).sets["train"].num_rows == 100
    with pytest.raises(ValueError, match="at most 1,200 train rows, not 1,201"):
        digits.generate(rows=1201, seed=13)


def test_the_digits_are_ingested_like_files(tmp_path: Path) -> None:
    found = run_ingest(tmp_path, source="digits", rows=200)
    assert found.summary == "200 rows, 10 classes, 0 quarantined" and found.validation["passed"]
    assert [groups for groups in found.table("altered")["groups"].to_pylist() if len(groups) != 1] == []
    for message, keys in (
        ("has 1,200 train rows, not 1,300; lower `rows`", {"rows": 1300}),
        ("has the sets train, validation, altered and takes no files", {"evaluation": {"challenge": "ood"}}),
        ("name an `image` column, `features`, or `text` and `options`, not two of them", {"text": ["a"]}),
        ("leave `image` and `text` out", {"image": None, "text": ["a"]}),
    ):
        with pytest.raises(ValueError, match=message):
            run_ingest(tmp_path, source="digits", **keys)


def test_make_has_a_target_for_the_digits() -> None:
    command = ["make", "--no-print-directory", "-n", "audit", "DATASET=digits"]
    planned = subprocess.run(command, cwd=CODE, capture_output=True, text=True, check=True).stdout
    assert planned.splitlines()[-1] == 'python -m flows.audit --workspace "workspaces/digits"'
    assert open_workspace("workspaces/digits").settings["train"].model == "cnn"  # type: ignore[attr-defined]
