"""Texts in several wordings, which no column links."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cartograph.frames.rows import Rows, read_rows, warn_of_links
from cartograph.ingest.near_copies import near_copies_sentence

STARTS, ENDS = ("ba", "de", "ki", "lo", "mu", "ra", "so", "tu", "vi", "we"), ("lm", "nter", "st", "ck", "rd")
WORDS = [f"{start}{end}" for start in STARTS for end in ENDS]


def questions(wordings: int) -> pd.DataFrame:
    """Questions of ten words, each as often as asked for with a word missing; which question it is."""
    rng = np.random.default_rng(4)
    asked = [rng.choice(WORDS, 10).tolist() for _ in range(300 // wordings)]
    gaps = [(place, gap) for place in range(len(asked)) for gap in rng.choice(10, wordings, replace=False)]
    texts = [" ".join(asked[place][:gap] + asked[place][gap + 1 :]) for place, gap in gaps]
    labels, names = (["ab"[place % 2] for place, _ in gaps], [f"q{place}" for place, _ in gaps])
    return pd.DataFrame({"text": texts, "label": labels, "question": names})


def read(frame: pd.DataFrame, **options: str) -> Rows:
    return read_rows(frame, "text", "label", **options)  # type: ignore[arg-type]


def test_the_column_that_says_which_texts_belong_together_is_named() -> None:
    frame = questions(5).assign(country="no", row=range(300))
    rows = read(frame)
    sentence = near_copies_sentence(rows.ingested.near_copies, rows.not_read)
    number, _, distinct, *_ = sentence.split()
    assert 200 < int(number) <= int(distinct) <= 300 and " different texts are near copies of another, so that " in sentence
    assert sentence.endswith("most of these have the same `question`: --linked question holds them out together.")
    with pytest.warns(UserWarning, match="`question`: linked=question holds them out together"):
        warn_of_links(rows)
    unknown = near_copies_sentence(
        rows.ingested.near_copies, {name: values for name, values in rows.not_read.items() if name != "question"}
    )
    assert unknown.endswith("; if a column says which belong together, name it with --linked.")


def test_it_is_named_too_where_all_texts_end_alike() -> None:
    ending = (
        " this message and what is attached to it is confidential and may be read by nobody but whom it was written to; whoever else has "
        "received it is asked to tell the sender, to delete it everywhere, and to keep no copy of any part, on paper or on any machine"
    )
    frame = questions(5)
    rows = read(frame.assign(text=frame["text"] + np.where(np.arange(len(frame)) % 5 < 2, ending, "")))
    assert rows.ingested.near_copies is not None
    pairs = rows.ingested.near_copies.pairs
    asked = frame["question"].to_numpy()
    assert np.mean(asked[pairs[:, 0]] == asked[pairs[:, 1]]) < 0.8, "many near copies are of another question"
    assert near_copies_sentence(rows.ingested.near_copies, rows.not_read).endswith("--linked question holds them out together.")


def test_values_may_be_lists_and_missing_ones_are_not_the_same() -> None:
    frame = questions(5)
    lists = [np.array([name, 1], object) for name in frame["question"]]
    rows = read(frame.assign(question=pd.Series(lists, index=frame.index)))
    assert near_copies_sentence(rows.ingested.near_copies, rows.not_read).endswith("--linked question holds them out together.")
    missing = read(frame.assign(question=None))
    assert near_copies_sentence(missing.ingested.near_copies, missing.not_read).endswith("name it with --linked.")


def test_of_other_texts_and_of_linked_ones_nothing_is_said() -> None:
    for rows in (read(questions(1)), read(questions(5), linked="question"), read(questions(5).iloc[:40])):
        assert near_copies_sentence(rows.ingested.near_copies, rows.not_read) == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_links(read(questions(1)))


@pytest.mark.slow
@pytest.mark.realdata
def test_of_sets_as_they_are_nothing_is_said(real_data: Path) -> None:
    texts = {
        name: (real_data / name).read_text(encoding="latin-1").rstrip("\n").split("\n")
        for name in ("trec/TREC.train", "sst2/stsa.binary.train", "subj/subj.all", "customer_reviews/custrev.all", "snli/s2.dev")
    }
    texts = {name: [line.partition(" ")[2] for line in lines] if "snli" not in name else lines for name, lines in texts.items()}
    texts["banking77"] = pd.read_csv(real_data / "banking77/train.csv")["text"].tolist()
    for name, lines in texts.items():
        rows = read(pd.DataFrame({"text": lines, "label": ["ab"[place % 2] for place in range(len(lines))]}))
        assert near_copies_sentence(rows.ingested.near_copies, rows.not_read) == "", name
