"""What the benchmarks ask of cleanlab: its rankings and its lists on the same rows, each by the best of its settings."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FOLDS, PENALTIES = 5, (0.1, 1.0, 10.0, 100.0)
SCORES = tuple(
    {"method": method, "adjust_pred_probs": adjusted} for method in ("self_confidence", "normalized_margin") for adjusted in (False, True)
)
FILTERS = ("prune_by_noise_rate", "both", "confident_learning", "predicted_neq_given")


def peer_version() -> str:
    """Return cleanlab's version; where it is not installed, end the benchmark that runs and say how to install it."""
    try:
        import cleanlab
    except ImportError:
        script = f"benchmarks/{Path(sys.argv[0]).name}"
        sys.exit(f"{script} compares with cleanlab, which is not installed: pip install -c constraints.txt -e '.[bench]'")
    return str(cleanlab.__version__)


def surroundings() -> str:
    """Return the machine and the versions that numbers beside cleanlab's depend on."""
    import sklearn

    versions = f"cleanlab {peer_version()}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    return f"{platform.machine()}, one thread, Python {platform.python_version()}, {versions}"


def precision_of(wrong: np.ndarray, score: np.ndarray) -> float | None:
    """Return the average precision of a ranking; None where nothing is wrong."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(wrong, score)) if wrong.any() else None


def best_ranking(probabilities: np.ndarray, labels: np.ndarray, wrong: np.ndarray) -> float:
    """Return the average precision of the ranking by label quality, the best of its four ways to score."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.metrics import average_precision_score

    found = _scored(lambda **how: -get_label_quality_scores(labels, probabilities, **how))
    return max(float(average_precision_score(wrong, doubt)) for doubt in found)


def best_of_several_labels(probabilities: np.ndarray, given: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """Return average precision over all labels and over rows, and F1 of the list; each the best of its settings."""
    from cleanlab.multilabel_classification import get_label_quality_scores
    from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class
    from sklearn.metrics import average_precision_score, f1_score

    lists = [np.flatnonzero(row).tolist() for row in given]
    each = _scored(lambda **how: -get_label_quality_scores_per_class(lists, probabilities, **how))
    rows = _scored(lambda **how: -get_label_quality_scores(lists, probabilities, **how))
    of_lists = []
    for way in FILTERS:
        try:
            found = np.asarray(find_multilabel_issues_per_class(lists, probabilities, filter_by=way, n_jobs=1)).reshape(wrong.shape)
        except ValueError:
            continue
        of_lists.append(f1_score(wrong.ravel(), found.ravel(), zero_division=0.0))
    of_labels = max(average_precision_score(wrong.ravel(), doubt.ravel()) for doubt in each)
    of_rows = max(average_precision_score(wrong.any(axis=1), doubt) for doubt in rows)
    return np.array([of_labels, of_rows, max(of_lists, default=0.0)])


def _scored(score: Any) -> Iterator[np.ndarray]:
    for how in SCORES:
        try:
            yield score(**how)
        except ValueError:  # its estimate of the noise needs rows of every class that it is sure of
            continue


def issues(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return which rows `find_label_issues` lists, by its defaults."""
    from cleanlab.filter import find_label_issues

    return np.asarray(find_label_issues(labels, probabilities))


def as_read(words: Any, texts: Sequence[tuple[str, ...]]) -> list[Any]:
    """Return what a regression may read of texts, as the committee does without an encoder: words, or characters beside them.

    Args:
        words: features of the words, ``(n_examples, n_features)``.
        texts: the fields of each row; characters are read of single texts only.
    """
    from scipy import sparse

    from cartograph.features.text import character_features

    characters = character_features([text for (text,) in texts]) if len(texts[0]) == 1 else None
    return [words] if characters is None else [words, sparse.hstack([words, characters], format="csr")]


def regression(read: Sequence[Any], labels: np.ndarray, seed: int) -> np.ndarray:
    """Return cross-validated class probabilities by logistic regression, of the features and the penalty (of four) with the least loss.

    Args:
        read: what it may read, one or more matrices of features of the same rows.
        labels: given label ids, ``(n_examples,)``.
        seed: of the folds.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    tried = [
        cross_val_predict(LogisticRegression(C=penalty, max_iter=300), features, labels, cv=folds, method="predict_proba")
        for features in read
        for penalty in PENALTIES
    ]
    return np.asarray(min(tried, key=lambda found: log_loss(labels, found)))


def on_features(read: Sequence[Any], labels: np.ndarray, wrong: np.ndarray, seed: int) -> dict[str, Any]:
    """Return its numbers on cross-validated logistic regression (``regression``), and the seconds."""
    from cleanlab.rank import get_label_quality_scores

    started = time.perf_counter()
    # Its models do not know a class that has lost all of its labels.
    labels = np.unique(labels, return_inverse=True)[1]
    shares = regression(read, labels, seed)
    scores = [-get_label_quality_scores(labels, shares, method=method) for method in ("self_confidence", "normalized_margin")]
    listed = issues(labels, shares)
    seconds = time.perf_counter() - started
    best = max((precision_of(wrong, score) for score in scores), key=lambda value: value or 0.0)
    return {"ap": best, "listed": int(listed.sum()), "listed wrong": int((listed & wrong).sum()), "seconds": seconds}


def datalab(vectors: np.ndarray, labels: np.ndarray, wrong: np.ndarray) -> dict[str, Any]:
    """Return the numbers of Datalab's issues of labels, by nearest neighbours in the vectors."""
    from cleanlab import Datalab

    lab = Datalab({"label": labels}, label_name="label", verbosity=0)
    lab.find_issues(features=vectors, issue_types={"label": {}})
    found = lab.get_issues("label")
    listed = found["is_label_issue"].to_numpy()
    ap = precision_of(wrong, -found["label_score"].to_numpy())
    return {"ap": ap, "listed": int(listed.sum()), "listed wrong": int((listed & wrong).sum())}
