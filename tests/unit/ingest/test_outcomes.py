"""Labels that are outcomes by their column's name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cartograph.frames.audit import audit
from cartograph.frames.rows import read_rows
from cartograph.ingest.outcomes import outcome_named
from cartograph.schema import dataset_info, examples_schema


@pytest.mark.parametrize(
    "name",
    ["CHURN", "customerChurn", "is_canceled", "default.payment.next.month", "Survived", "two_year_recid", "DEATH_EVENT", "loan_approved"],
)
def test_names_of_outcomes_are_known_in_any_spelling(name: str) -> None:
    assert outcome_named(["other", name], 2) == name


@pytest.mark.parametrize(
    ("name", "classes"),
    [("label", 2), ("class", 2), ("species", 3), ("defaults_to", 2), ("deadline", 2), ("wonderful", 2), ("churn_reason", 8), ("y", 2)],
)
def test_other_names_and_many_classes_are_no_outcomes(name: str, classes: int) -> None:
    assert outcome_named([name], classes) == ""


def left(name: str) -> pd.DataFrame:
    """Customers seven in ten of whom leave if they spend much, and one in twenty of the others: no label is wrong."""
    rng = np.random.default_rng(3)
    spend = rng.gamma(3, 100, 600)
    leaves = rng.random(600) < np.where(spend > 400, 0.7, 0.05)
    return pd.DataFrame({"spend": spend.round(2), "age": rng.integers(18, 80, 600), name: np.where(leaves, "yes", "no")})


def test_it_is_kept_with_a_table_of_features_alone() -> None:
    ingested = read_rows(left("churned"), (), "churned", features=True).ingested
    assert ingested.info.outcome == dataset_info(ingested.examples.schema).outcome == "churned"
    plain = read_rows(left("label"), (), "label", features=True).ingested
    assert plain.info.outcome == "" and b"outcome" not in (examples_schema(plain.info).metadata or {})[b"cartograph"]
    texts = pd.DataFrame({"text": ["good", "bad"] * 20, "churned": ["yes", "no"] * 20})
    assert read_rows(texts, "text", "churned").ingested.info.outcome == ""


@pytest.mark.slow
def test_exceptions_of_an_outcome_are_not_counted_or_changed(tmp_path: object) -> None:
    frame = left("churned")
    found = audit(frame, features=True, label="churned", epochs=2)
    assert found.wrong is None and found.between is None and len(found.suspects)
    pd.testing.assert_frame_equal(found.cleaned(), frame)
    page = found.report(f"{tmp_path}/page.html").read_text(encoding="utf-8")
    assert "`churned` is by its name an outcome, which follows from more than the columns say" in page
    assert "If each row was judged for its label, name its column otherwise than `churned`" in page
    counted = audit(frame.rename(columns={"churned": "label"}), features=True, label="label", epochs=2)
    assert counted.wrong is not None or counted.between is not None
