"""The models that `benchmarks/cleaning.py` retrains: a linear one with any penalty, or that of its own rows, and the bag of words."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

TUNED_C, TUNED_FOLDS = (0.3, 1.0, 3.0, 10.0, 30.0), 3


def penalty(said: str) -> str:
    """Return `tuned`, or a number as it is said; a ValueError for anything else."""
    if said != "tuned" and not float(said) > 0:
        raise ValueError(said)
    return said


def linear(features: Any, labels: np.ndarray, weights: np.ndarray, test: Any, n_classes: int, c: float) -> np.ndarray:
    """Return what a linear model trained on these rows predicts."""
    from sklearn.linear_model import LogisticRegression

    known = np.unique(labels)
    wanted = known[1:] if n_classes == 2 else known
    scores = np.full((test.shape[0], n_classes), -np.inf)
    for label in wanted:
        model = LogisticRegression(C=c, solver="liblinear", random_state=0)
        scores[:, label] = model.fit(features, labels == label, sample_weight=weights).decision_function(test)
    if n_classes == 2:
        return (scores[:, 1] > 0).astype(int)
    return scores.argmax(axis=1)


def preferred(features: Any, labels: np.ndarray, weights: np.ndarray, n_classes: int, seed: int) -> float:
    """Return the C under which these rows, weighted and labelled as they are, are predicted best in folds."""
    fold = np.random.default_rng(seed).permutation(len(labels)) % TUNED_FOLDS

    def hits(c: float) -> float:
        right = 0.0
        for held in (fold == part for part in range(TUNED_FOLDS)):
            predicted = linear(narrow(features[~held]), labels[~held], weights[~held], narrow(features[held]), n_classes, c)
            right += float((weights[held] * (predicted == labels[held])).sum())
        return right

    return max(TUNED_C, key=hits)


def bow(texts: list[str], labels: np.ndarray, weights: np.ndarray, test: list[str], classes: list[str], seed: int) -> np.ndarray:
    """Return what the project's bag of words, trained on these rows, predicts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.dynamics.epoch_files import logits_of
    from cartograph.schema import DatasetInfo, examples_schema
    from cartograph.train.fit import fit
    from cartograph.train.recipe import Recipe

    def rows(name: str, domain: Any, own: list[str], ids: np.ndarray) -> pa.Table:
        info = DatasetInfo(name, domain, "single", ("text",), (), tuple(classes))
        columns = [[f"{row:06}" for row in range(len(own))], own, ids.astype(np.int32), ["b"] * len(own), np.arange(1, len(own) + 1)]
        return pa.table(columns, schema=examples_schema(info))

    train = rows("train", "train", texts, labels).append_column("weight", pa.array(weights.astype(np.float32)))
    with tempfile.TemporaryDirectory() as folder:
        recipe = Recipe(seed=seed, threads=1, device="cpu", evaluate="end")
        fitted = fit(recipe, train, {"test": rows("test", "id", test, np.zeros(len(test)))}, folder)
        return logits_of(pq.read_table(fitted.predictions / "test.parquet").sort_by("uid")).argmax(axis=1)


def narrow(features: Any) -> Any:
    """Return a sparse matrix with the indices that scikit-learn reads."""
    features.indices, features.indptr = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    return features
