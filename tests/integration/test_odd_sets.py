"""Audits of sets that are too small, or whose classes are too rare or too alike, through the real steps: each ends with a page."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cartograph.ingest.label_forms import ONE_FORM
from tasks.engine.running import run_step
from tasks.pipelines import steps_of
from tests.training_sets import ANIMALS, LOUD, PLACES, QUIET
from tests.workspaces import open_new, use_project

Rows = list[tuple[str, str]]


def two_classes(rows: int, seed: int = 3) -> Rows:
    rng = np.random.default_rng(seed)
    words = [("loud", LOUD) if row % 2 else ("quiet", QUIET) for row in range(rows)]
    return [
        (f"the {rng.choice(ANIMALS)} {rng.choice(verbs)} near the {rng.choice(PLACES)} {row}", label)
        for row, (label, verbs) in enumerate(words)
    ]


def in_other_forms(forms: dict[str, list[str]]) -> Rows:
    rng = np.random.default_rng(4)
    return [(text, str(rng.choice(forms[label]))) for text, label in two_classes(120)]


def by_chance(rows: int, seed: int = 5) -> Rows:
    rng = np.random.default_rng(seed)
    words = [f"word{number}" for number in range(40)]
    return [(" ".join([*rng.choice(words, 8), str(row)]), str(rng.choice(["heads", "tails"]))) for row in range(rows)]


SETS: dict[str, tuple[Rows, str]] = {
    "labels by chance": (by_chance(700), "how many are wrong cannot be estimated"),
    "two rows": (two_classes(2), "2 rows of 2 classes are too few to learn from"),
    "three rows": (two_classes(3), "3 rows of 2 classes are too few to learn from"),
    "one class": ([(text, "same") for text, _ in two_classes(40)], "Nothing could be learnt: all 40 rows have the label `same`"),
    "twenty singletons": (
        [*two_classes(80), *((f"strange {row}", f"single {row:02}") for row in range(20))],
        "every class has enough rows",
    ),
    "one row of a class": ([*two_classes(80), ("how many dogs bark", "NUMM")], "`NUMM` has 1"),
    "a class that looks wrong": ([*two_classes(100), *((text, "noisy") for text, _ in two_classes(8, seed=9))], "noisy"),
    "case and blanks": (
        in_other_forms({"loud": ["loud", "loud", "LOUD", "Loud "], "quiet": ["quiet", "qui et", "qui  et"]}),
        "Some classes may be the same under different names: `Loud` ",
    ),
    "Unicode forms": (
        in_other_forms({"loud": ["caf\u00e9", "cafe\u0301"], "quiet": ["quiet", "qui\u200bet"]}),
        "Some classes may be the same under different names: ",
    ),
}


def write(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


def quick(columns: dict[str, Any], train: dict[str, Any]) -> dict[str, Any]:
    """Return the sections of an audit of train.csv and test.csv that takes few steps."""
    return {
        "ingest": {"source": "files", "train": ["train.csv"], "evaluation": {"test": {"files": ["test.csv"]}}, **columns},
        "train": {"batch_size": 16, "threads": 1, **train},
        "aflite": {"n_partitions": 8},
        "bias": {"seeds": [1]},
        "retrain": {"seeds": [1]},
        "publish": {"enabled": False},
    }


def text_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))).replace("\u00a0", " ")


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_an_odd_set_ends_with_a_page_that_says_what_could_not_be_done(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, sentence = SETS[name]
    project = use_project(tmp_path, monkeypatch)
    write(project / "train.csv", rows)
    write(project / "test.csv", rows[: max(2, len(rows) // 4)])
    space = open_new(project / "space", **quick({"text": ["text"]}, {"epochs": 8, "learning_rate": 0.01}))
    for step in steps_of(space.settings):
        run_step(step, space)
    assert sentence in text_of(space.path / "reports/report.html")
    record = json.loads((space.path / "data/noise/noise.json").read_text())
    assert ("impossible" in record) == (name in ("two rows", "three rows", "one class"))


@pytest.mark.slow
def test_a_table_whose_columns_are_all_texts_ends_with_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = use_project(tmp_path, monkeypatch)
    for name, rows in {"train": two_classes(160), "test": two_classes(40, seed=9)}.items():
        with (project / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("title", "body", "label"), *((" ".join(text.split()[:3]), text, label) for text, label in rows)])
    train = {"epochs": 4, "model": "mlp"}
    space = open_new(project / "space", **quick({"features": "all"}, train), features={"source": "columns"})
    for step in steps_of(space.settings):
        run_step(step, space)
    record = json.loads((space.path / "data/noise/noise.json").read_text())
    assert "impossible" not in record and "160" in text_of(space.path / "reports/report.html")


@pytest.mark.slow
def test_classes_of_one_name_in_several_forms_are_told_and_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = use_project(tmp_path, monkeypatch)
    write(project / "train.csv", [(f"text {row}", ("True", "true", "TRUE ", "false")[row % 4]) for row in range(40)])
    space = open_new(project / "space", ingest={"source": "files", "train": ["train.csv"], "text": ["text"]}, publish={"enabled": False})
    [ingest] = [step for step in steps_of(space.settings) if step.name == "ingest"]
    run_step(ingest, space)
    [entry] = json.loads((space.path / "data/ingest/validation.json").read_text())["sets"]
    assert entry["classes"] == {"TRUE": 10, "True": 10, "false": 10, "true": 10}
    [check] = [check for check in entry["checks"] if check["check"] == ONE_FORM]
    assert not check["passed"] and check["severity"] == "warning" and check["unexpected"] == 20
    assert check["found"].endswith('set ingest.label_names: {"True": "TRUE", "true": "TRUE"}')
