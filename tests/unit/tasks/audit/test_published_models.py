"""What is said in MLflow of each version that models were trained on."""

from __future__ import annotations

import pytest

from tasks.audit.published_models import _version
from tasks.publishing.records import Dataset, Model, Publication

WHOLE = Dataset("reviews", "audited", "abc", "data/ingest/train.parquet", {}, {"set": "train", "num_rows": 1_200})
PUBLICATION = Publication("audit", {}, {}, {}, (WHOLE,))


def model(seed: int, **metrics: float) -> Model:
    return Model(f"seed {seed}", str(seed), {}, metrics, {"cartograph.seed": str(seed)}, (WHOLE,))


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ([model(1, rows=963), model(2, rows=963)], "Mean of 2 models trained from scratch on the 963 rows of `cleaned`, seeds 1, 2."),
        ([model(1)], "Mean of 1 model trained from scratch on the 1,200 rows of `cleaned`, seed 1."),
    ],
)
def test_a_version_counts_the_rows_that_were_trained_on_and_not_those_held_out(models: list[Model], said: str) -> None:
    assert _version("cleaned", models, [], PUBLICATION).tags["mlflow.note.content"].startswith(said)
