"""Words that give a label away: pointwise mutual information of word and label, and the baseline that has nothing else.

PMI(word, label) = log p(word, label) − log p(word) p(label), over rows that have the word, with pseudo-counts added to every joint
count (Gururangan et al., NAACL 2018). Max-PMI predicts the label of the largest PMI among a row's words (Le Bras et al. 2020, Table 1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats, Integers
from cartograph.data.words import WORD
from cartograph.schema import LABEL, DatasetInfo, dataset_info, schema_of

Words = Iterable[frozenset[str]]

_BLOCK = 20_000

_WORD = re.compile(rf"{WORD}(?:['’]{WORD})?")
_SEPARATOR = ": "


@dataclass(frozen=True)
class WordTable:
    """Counts and mutual information of words and labels in a train set.

    Attributes:
        words: distinct words, sorted; with several fields the field's name, a colon and a blank stand before each.
        counts: (n_words, n_classes) rows of each label that have the word.
        pmi: (n_words, n_classes) in nats; > 0: the word speaks for the label.
    """

    words: tuple[str, ...]
    counts: Integers
    pmi: Floats


def words_of(table: pa.Table) -> tuple[Iterator[frozenset[str]], Integers, int]:
    """Return the distinct words of every row, made as they are read, the label of every row, and the number of classes.

    Of a choice every option is a row of its own, whose label is whether it is the right one.
    """
    info = dataset_info(table.schema)
    labels = table[LABEL].to_numpy().astype(np.int64)
    rows = (row for start in range(0, table.num_rows, _BLOCK) for row in _words_in(table.slice(start, _BLOCK), info))
    if info.task == "choice":
        return rows, (labels[:, None] == np.arange(len(info.options))).astype(np.int64).reshape(-1), 2
    return rows, labels, len(info.labels)


def _words_in(table: pa.Table, info: DatasetInfo) -> Iterator[frozenset[str]]:
    fields = info.options if info.task == "choice" else info.text
    rows = zip(*(table[name].to_pylist() for name in fields), strict=True)
    if info.task == "choice" or len(fields) == 1:
        return (frozenset(_WORD.findall(text.lower())) for row in rows for text in row)
    return (
        frozenset(f"{name}{_SEPARATOR}{word}" for name, text in zip(fields, row, strict=True) for word in _WORD.findall(text.lower()))
        for row in rows
    )


def count_words(rows: Words, labels: Integers, n_classes: int, smoothing: float) -> WordTable:
    """Return the table of words of a train set.

    Args:
        rows: distinct words of each row, read once.
        labels: (n_examples,) label ids.
        n_classes: number of classes.
        smoothing: added to the count of each word with each label; 100 suits hundreds of thousands of rows, 10 a few thousand.
    """
    counted: list[Counter[str]] = [Counter() for _ in range(n_classes)]
    for row, label in zip(rows, labels.tolist(), strict=True):
        counted[label].update(row)
    words = tuple(sorted(set().union(*counted)))
    counts = np.array([[found[word] for found in counted] for word in words], np.int64).reshape(len(words), n_classes)
    smoothed = counts + smoothing
    joint = smoothed / smoothed.sum()
    pmi = np.log(joint) - np.log(joint.sum(axis=1, keepdims=True)) - np.log(joint.sum(axis=0, keepdims=True))
    return WordTable(words, counts, pmi)


def predict_by_words(table: WordTable, rows: Words, n_options: int = 0) -> Integers:
    """Return the label that Max-PMI predicts for each row: of an unknown row the label of the most frequent words.

    Args:
        table: of the train set.
        rows: distinct words of each row.
        n_options: of a choice: options per row; the one is predicted whose words speak most for being right.
    """
    place = {word: number for number, word in enumerate(table.words)}
    usual = np.full(table.pmi.shape[1], -np.inf)
    usual[int(table.counts.sum(axis=0).argmax())] = -1e9
    best = np.array([table.pmi[known].max(axis=0) if (known := [place[word] for word in row if word in place]) else usual for row in rows])
    predicted: Integers = (best[:, 1].reshape(-1, n_options) if n_options else best).argmax(axis=1).astype(np.int64)
    return predicted


def revealing_words(table: WordTable, label: int, number: int, least: int = 10) -> list[int]:
    """Return the places of the words that speak most for a label, among those that ``least`` rows have, most revealing first."""
    common = np.flatnonzero(table.counts.sum(axis=1) >= least)
    order = np.lexsort((common, -table.pmi[common, label]))
    return [int(common[place]) for place in order[:number] if table.pmi[common[place], label] > 0]


REVEALING = schema_of(
    {
        "listed": "string",
        "label": "int32",
        "rank": "int32",
        "word": "string",
        "rows_before": "int64",
        "share_before": "double",
        "pmi_before": "double",
        "rows_after": "int64",
        "share_after": "double?",
        "pmi_after": "double?",
    }
)
"""The words that speak most for a label ``before`` a filter or ``after`` it (``listed``): rows that have the word, the share of them with
the label, and PMI, on both sides; null where no row has the word any more. Of a choice label 1 is the right option."""


def words_table(before: pa.Table, after: pa.Table, *, number: int, smoothing: float) -> pa.Table:
    """Return ``REVEALING`` of a train set and what a filter left of it.

    Args:
        before: ``schema.examples_schema``.
        after: some of its rows.
        number: words listed per label and side.
        smoothing: of ``count_words``.
    """
    tables = {name: count_words(*words_of(rows), smoothing) for name, rows in (("before", before), ("after", after))}
    places = {name: {word: place for place, word in enumerate(table.words)} for name, table in tables.items()}
    found = []
    for listed, table in tables.items():
        for label in range(table.pmi.shape[1]):
            for rank, place in enumerate(revealing_words(table, label, number), start=1):
                row: dict[str, object] = {"listed": listed, "label": label, "rank": rank, "word": table.words[place]}
                for name, other in tables.items():
                    row |= _of_word(other, places[name].get(table.words[place]), label, name)
                found.append(row)
    return pa.Table.from_pylist(found, schema=REVEALING)


def _of_word(table: WordTable, place: int | None, label: int, name: str) -> dict[str, object]:
    if place is None:
        return {f"rows_{name}": 0, f"share_{name}": None, f"pmi_{name}": None}
    rows = int(table.counts[place].sum())
    return {f"rows_{name}": rows, f"share_{name}": float(table.counts[place, label] / rows), f"pmi_{name}": float(table.pmi[place, label])}
