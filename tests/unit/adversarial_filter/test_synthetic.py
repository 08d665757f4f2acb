"""The synthetic experiment comes out as the paper's: artefacts go, a line no longer parts the classes, a curve still does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cartograph.adversarial_filter.figures import synthetic_figure
from cartograph.adversarial_filter.synthetic import OUTCOMES, Experiment, make_circles, outcomes_text, run_experiment
from cartograph.figures.saving import save_figure


@pytest.fixture(scope="module")
def found() -> Experiment:
    return run_experiment(rows=1_000, n_partitions=16)


def test_three_quarters_of_each_class_have_artefacts_of_the_given_label() -> None:
    circles = make_circles(1.6, 1_000, np.random.default_rng(0), flip=True)
    outer = np.linalg.norm(circles.plane, axis=1) > 1.8
    assert ((outer != (circles.labels == 1)) == circles.flipped).mean() > 0.99
    assert circles.artefact.mean() == 0.75 and circles.flipped.sum() == 80
    assert circles.artefact[circles.flipped].all()
    said = circles.hints.mean(axis=1) > 0
    assert (said == (circles.labels == 1))[circles.artefact].mean() > 0.99
    assert (said == (circles.labels == 1))[~circles.artefact].mean() < 0.6


def test_the_filter_takes_artefacts_and_flipped_labels_and_leaves_the_task(found: Experiment) -> None:
    rows = {(row["separation"], row["when"]): row for row in found.outcomes.to_pylist()}
    assert found.outcomes.schema.equals(OUTCOMES)
    for separation in (1.6, 0.9, 0.6, 0.4):
        without, before, after = (rows[separation, when] for when in ("without", "before", "after"))
        assert without["linear"] < 0.6 < 0.8 < before["linear"]
        assert after["linear"] < before["linear"] - 0.2
        assert after["rbf"] > 0.8 and after["rbf"] > after["linear"] + 0.2
        assert after["artefacts"] / after["rows"] < 0.5 < 0.75 == before["artefacts"] / before["rows"]
    assert rows[1.6, "after"]["flipped"] < 0.4 * rows[1.6, "before"]["flipped"] == 0.4 * 80


def test_outcomes_are_written_as_a_table_and_drawn(found: Experiment, tmp_path: Path) -> None:
    lines = outcomes_text(found.outcomes).splitlines()
    assert len(lines) == 13 and lines[2].split()[:3] == ["1.6", "before", "1,000"]
    for name in ("one.svg", "two.svg"):
        save_figure(synthetic_figure(found), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
