"""Do the suspects find the mistakes that people made? Each of SNLI's five annotators beside the majority of the five.

`python benchmarks/annotators.py [--encoder FOLDER]`

2,525 pairs of SNLI's development and test set have the labels of five people each (read from CARTOGRAPH_DATA or ../shared/data). A set
labelled by one of them is audited by the committee; where the majority has another label, that label is taken for wrong. The first is the
author of the sentence, who wrote one of each label to every premise: labels as in SNLI's train set. Beside the committee: the same one
with each pair held out alone, not with those that share a text, and cleanlab on the same words and vectors, both with how alike the two
texts are (`features.comparison`), with its best penalty and the better of two scores. Average precision, and how many labels the committee
says are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tasks.engine.surroundings import prepare

prepare()

import numpy as np  # noqa: E402
from cleanlab_peer import on_features, peer_version, precision_of  # noqa: E402
from noise import Audits  # noqa: E402
from real_data import DATA  # noqa: E402

LABELS = ("entailment", "neutral", "contradiction")


def labelled_by_five() -> tuple[list[tuple[str, ...]], np.ndarray, np.ndarray]:
    """Return the pairs, their majority's labels (n_examples,) and the five annotators' (n_examples, 5)."""
    found: dict[tuple[str, ...], tuple[int, list[int]]] = {}
    for part in ("dev", "test"):
        lines = (DATA / f"snli/annotators/snli_{part}_annotators.derived.jsonl").read_text(encoding="utf-8").splitlines()
        for row in map(json.loads, lines):
            pair, given = (row["sentence1"], row["sentence2"]), row["annotator_labels"]
            if row["gold_label"] in LABELS and len(given) == 5 and set(given) <= set(LABELS) and all(text.strip() for text in pair):
                found.setdefault(pair, (LABELS.index(row["gold_label"]), [LABELS.index(label) for label in given]))
    return list(found), np.array([gold for gold, _ in found.values()]), np.array([given for _, given in found.values()])


def main() -> None:
    """Print a line per annotator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="folder of an encoder; without one, words alone")
    options = parser.parse_args()
    from cartograph.data.linked_rows import linked_texts
    from cartograph.features.comparison import beside_words, comparison_features, with_products
    from cartograph.features.text import text_features
    from cartograph.suspects.committee import committee_scores

    texts, majority, given = labelled_by_five()
    groups, compared, vectors = linked_texts(texts), comparison_features(texts), None
    assert compared is not None
    features = beside_words(text_features(texts), compared)
    if options.encoder:
        with tempfile.TemporaryDirectory() as folder:
            audits = Audits(Path(folder), texts, options.encoder)
            audits.read_by_encoder([LABELS[label] for label in majority])
            vectors = audits.vectors()
            unit = np.hstack([vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * np.sqrt(10), with_products(compared)[0]])
    print(f"cleanlab {peer_version()}, {len(texts):,} pairs, {'words and vectors' if options.encoder else 'words'}")
    print("labels of    | wrong | held out together, number             | held out alone, number                | cleanlab words, vectors")
    for annotator in range(5):
        labels = given[:, annotator]
        wrong, cells = labels != majority, []
        for linked in (groups, None):
            rng = np.random.default_rng(13)
            read = {"vectors": vectors, "apart": True, "groups": linked, "compared": compared}
            doubt = committee_scores(features, labels, list(LABELS), rng, **read).doubt
            number = doubt.wrong
            said = "no number" if number is None else f"{number.expected:.0f} ({number.low:.0f} to {number.high:.0f}, {number.most:.0f})"
            cells.append(f"{precision_of(wrong, doubt.score):.3f}  {said:<30}")
        peers = [on_features([read], labels, wrong, 1)["ap"] for read in ([features, unit] if options.encoder else [features])]
        name = "the author" if annotator == 0 else f"annotator {annotator}"
        print(f"{name:<12} | {wrong.sum():5} | {cells[0]} | {cells[1]} | {'  '.join(f'{value:.3f}' for value in peers)}", flush=True)


if __name__ == "__main__":
    main()
