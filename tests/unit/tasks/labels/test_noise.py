"""The suspects of rows with several labels: they are the planted errors, and those of the audit in memory."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import cartograph
from cartograph.data.json_files import read_json
from tasks.labels.noise import _metrics as noise_metrics
from tests.label_sets import WORDS
from tests.unit.tasks.labels.conftest import ROWS, LabelAudit


def suspects(films: LabelAudit) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(films.space.resolve("reports/suspects.csv").read_bytes()))


def test_suspects_are_the_planted_errors(films: LabelAudit) -> None:
    found = suspects(films)
    truth = pd.DataFrame(np.array(["no", "yes"])[films.truth], columns=list(WORDS), index=np.arange(1, ROWS + 1))
    right = [truth.loc[row, label] == suggested for row, label, suggested in found[["row", "label", "suggested"]].itertuples(index=False)]
    assert len(found) > 40 and np.mean(right) > 0.9
    assert found["probability"].is_monotonic_decreasing and (found["given"] != found["suggested"]).all()


@pytest.mark.slow
def test_the_audit_in_memory_finds_the_same(films: LabelAudit) -> None:
    found = suspects(films)
    other = cartograph.audit(films.space.path.parent.parent / "films.csv", text="text", labels=list(WORDS), epochs=6).suspects
    assert list(zip(found["row"], found["label"], strict=True)) == list(zip(other.index, other["label"], strict=True))
    assert found["probability"].tolist() == other["probability"].round(4).tolist()


def test_an_interval_alone_of_all_answers_is_among_the_metrics() -> None:
    record = {"suspects": 3, "rows": 60, "wrong": None, "between": {"low": 0.5, "high": 30.0, "most": 40.0}}
    metrics = noise_metrics(record, [{"name": "war", "missing": 1, "surplus": 2}])
    assert metrics == {"suspects": 3, "suspects.share": 0.05, "wrong.low": 0.5, "wrong.high": 30.0, "wrong.most": 40.0, "suspects.war": 3}
    assert "wrong.low" not in noise_metrics(record | {"between": None}, [])


def test_each_label_has_its_numbers(films: LabelAudit) -> None:
    found = suspects(films)
    labels = read_json(films.space.resolve("data/noise/labels.json"))
    assert [label["name"] for label in labels] == list(WORDS)
    for label in labels:
        own = found[found["label"] == label["name"]]
        assert (label["missing"], label["surplus"]) == ((own["given"] == "no").sum(), (own["given"] == "yes").sum())
    metrics = read_json(films.space.resolve("reports/noise.metrics.json"))
    assert metrics["suspects"] == len(found) == sum(metrics[f"suspects.{name}"] for name in WORDS)
