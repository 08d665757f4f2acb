"""Columns or words that tell the label by themselves: likely made from it, so that wrong labels are in them too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from cartograph.data.arrays import Integers
from cartograph.data.folds import assign_folds
from cartograph.data.words import WORD_OR_SIGN
from cartograph.features.column_texts import texts_of_columns
from cartograph.features.text import TextRows
from cartograph.schema import LABEL, UID, dataset_info, values_of
from cartograph.wording import cut, listing, percent

EXCEPT = 1000
"""One row in so many may have another label than its column tells, and one in any case."""

ENOUGH = 0.5
"""Share of the rows from which on a word per class that hardly a row of another class has is too much to be chance: of thirty sets of texts
as they are .23 at most (emoji by group), of messages that end with the name of the program that they were filed under .90."""

NEARLY_ALL = 0.8
"""Share of the rows from which on wrong labels would hide behind these words. Below it they may as well be what the classes are about: a
word per class tells 57 % of manual pages by section, and 28 of them labelled wrongly are found and counted as 31 (9 to 88)."""

PREDICTED, BEYOND = 0.9, 10.0
"""How far above the largest class's share a column alone predicts the labels, as a part of what is left there, and how many times as many
rows the others together must get wrong, so that it was likelier made from the labels, and these changed since, than measured. Of 143 public
tables as they are no column is so but some that tell all labels exactly; ten times is next to nothing, eight the most of the others."""

_FEWEST, _LONGEST, _MOST, _FOLDS = 50, 60, 3, 5
_ROWS, _OFTEN = 4_000, 5
_SELDOM = ((100, ENOUGH), (20, NEARLY_ALL))
"""Of how many rows that have a word one may be of another class, and from which share of the rows on such words are too many."""
_LETTER = re.compile(r"\w")


class Telling(NamedTuple):
    """What tells the label by itself.

    Attributes:
        names: columns of a table of features, or words (two in a row count as one) of texts; none where nothing does.
        share: of the rows whose label it predicts, in [0, 1]; 1 for columns that tell it but for one row in a thousand.
        words: whether they are words.
        others: of the rows whose label all other columns together predict; None where that was not asked.
    """

    names: list[str]
    share: float = 1.0
    words: bool = False
    others: float | None = None

    @property
    def nearly_all(self) -> bool:
        """Whether they tell the label of so many rows that wrong labels would look right."""
        return bool(self.names) and (not self.words or self.share >= NEARLY_ALL)


def what_tells(table: pa.Table) -> Telling:
    """Return the columns that tell the label of a table of features, or the words of texts, or of texts among columns, that do."""
    info = dataset_info(table.schema)
    if info.features:
        found = Telling(exactly) if (exactly := telling_columns(table)) else nearly_telling_column(table)
        return found if found.names else telling_words(table)
    return telling_words(table) if info.task in ("single", "pair") else Telling([], words=True)


def telling_words(table: pa.Table) -> Telling:
    """Return, of each class, the word or two that most of its rows and hardly one of another class have, where these tell half of all rows.

    Of 4,000 evenly spread rows at most. Words of fewer than five rows do not count, nor signs alone, nor words of which more than one row
    in a hundred is of another class; one in twenty where they tell four rows in five, as tags do from which some labels were changed.

    Args:
        table: a set of texts or pairs, or a table of features of which texts among its columns are read (``schema.examples_schema``).
    """
    from sklearn.feature_extraction.text import CountVectorizer

    step = max(-(-table.num_rows // _ROWS), 1)
    some = table.take(pa.array(np.arange(0, table.num_rows, step)))
    present, labels = np.unique(some[LABEL].to_numpy(), return_inverse=True)
    read = texts_of_columns(some) if dataset_info(table.schema).features else TextRows(some)
    texts = ["\n".join([row] if isinstance(row, str) else row) for row in read]
    if len(texts) < _FEWEST or len(present) < 2:
        return Telling([], words=True)
    reader = CountVectorizer(binary=True, ngram_range=(1, 2), min_df=_OFTEN, token_pattern=WORD_OR_SIGN, dtype=np.int32)
    try:
        has = reader.fit_transform(texts)
    except ValueError:  # Not a word is in five of them.
        return Telling([], words=True)
    of_class = sparse.csr_array((np.ones(len(labels), np.int32), (np.arange(len(labels)), labels)), shape=(len(labels), len(present)))
    by_class = sparse.csr_array(has.T @ of_class)
    own, label = by_class.max(axis=1).toarray().ravel(), np.asarray(by_class.argmax(axis=1)).ravel()
    others = np.asarray(by_class.sum(axis=1)).ravel() - own
    names = reader.get_feature_names_out()
    # A question mark tells questions, but nobody wrote it from the label.
    word = np.array([_LETTER.search(name) is not None for name in names])
    # So many of other classes would have it by chance: where nearly all rows are of one class, hardly any.
    expected = (own + others) * (1.0 - np.bincount(labels)[label] / len(labels))
    for seldom, enough in _SELDOM:
        sure = np.flatnonzero(word & (others * seldom <= own) & (expected >= np.maximum(_OFTEN, 10 * others)))
        rows, which = np.zeros(len(present), np.int64), np.full(len(present), -1)
        for place in sure[np.argsort(-own[sure], kind="stable")][::-1]:
            rows[label[place]], which[label[place]] = own[place], place
        share = float(rows.sum() / len(texts))
        if share >= enough:
            return Telling([str(names[which[place]]) for place in np.argsort(-rows, kind="stable") if rows[place]], share, words=True)
    return Telling([], words=True)


def telling_columns(table: pa.Table) -> list[str]:
    """Return the features each of which alone tells the label of all rows but a few; none of texts or of fewer than 50 rows.

    A category tells it where all rows with a value have one label; a number or date where its values in their order go through at most
    twice as many labels as there are classes, such as on either side of a threshold. A value that one row alone has tells nothing of it.
    Rows without a value count as one more value, or not at all, if half of the rows or more have one, of more than one label.

    Cost: O(n_rows · log n_rows) a feature.

    Args:
        table: a set (``schema.examples_schema``).
    """
    info, labels = dataset_info(table.schema), table[LABEL].to_numpy()
    if not info.features or len(labels) < _FEWEST or len(np.unique(labels)) < 2:
        return []
    found = []
    for feature in (feature for feature in info.features if feature.kind != "text"):
        column = values_of(table, feature.name).combine_chunks()
        there = column.is_valid().to_numpy(zero_copy_only=False)
        # Whatever gives all filled rows one label is right about nearly all of them, where the other class is rare.
        other = int(there.sum()) - int(np.bincount(labels[there]).max(initial=0))
        partly = ENOUGH <= there.mean() < 1.0 and other >= max(_FEWEST, 10 * len(labels) // EXCEPT)
        if _tells(column, labels, feature.kind) or (partly and _tells(column.filter(there), labels[there], feature.kind)):
            found.append(feature.name)
    return found


def nearly_telling_column(table: pa.Table) -> Telling:
    """Return the feature that alone predicts nearly all labels, where all others together get ten times as many wrong; none elsewhere.

    Such a column was likely made from the labels, some of which were changed since (``PREDICTED``, ``BEYOND``). Of 4,000 evenly spread rows
    at most; what the others predict is found by a forest that did not see the rows, which is grown only where a column may be one.

    Args:
        table: a set (``schema.examples_schema``).
    """
    info = dataset_info(table.schema)
    # Whatever order the rows stand in.
    some = table.sort_by(UID)
    some = some.take(pa.array(np.arange(0, table.num_rows, max(-(-table.num_rows // _ROWS), 1))))
    labels = np.unique(some[LABEL].to_numpy(), return_inverse=True)[1]
    if all(feature.kind == "text" for feature in info.features) or len(labels) < _FEWEST or not labels.any():
        return Telling([])
    features = [feature for feature in info.features if feature.kind != "text"]
    columns = [values_of(some, feature.name).combine_chunks() for feature in features]
    hits = [_hits(column, labels, feature.kind) for column, feature in zip(columns, features, strict=True)]
    best, most = int(np.argmax(hits)), int(np.bincount(labels).max())
    missed = len(labels) - hits[best]
    if hits[best] - most < PREDICTED * (len(labels) - most):
        return Telling([])
    others = _foreseen([column for place, column in enumerate(columns) if place != best], labels) if len(columns) > 1 else most
    if len(labels) - others < BEYOND * max(missed, 1):
        return Telling([])
    return Telling([features[best].name], hits[best] / len(labels), others=others / len(labels))


def _hits(column: pa.Array, labels: Integers, kind: str) -> int:
    """Return of how many rows a column predicts the label: by its values, or by as many stretches of them as twice the classes.

    A value that one row alone has predicts nothing.
    """
    from sklearn.tree import DecisionTreeClassifier

    values = _ranks(column)
    by_value = _counts(values, labels)
    hits = int(by_value[by_value.sum(axis=1) > 1].max(axis=1).sum()) if len(by_value) * 4 <= len(labels) else 0
    if kind == "category":
        return hits
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * by_value.shape[1], random_state=0).fit(values[:, None], labels)
    return max(hits, int((tree.predict(values[:, None]) == labels).sum()))


def _foreseen(columns: Sequence[pa.Array], labels: Integers) -> int:
    """Return of how many rows a forest on some columns that did not see the row predicts the label."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_predict

    values = np.stack([_ranks(column) for column in columns], axis=1)
    folds = assign_folds(labels.astype(np.int64), _FOLDS, np.random.default_rng(0))
    splits = [(np.flatnonzero(folds != part), np.flatnonzero(folds == part)) for part in range(_FOLDS)]
    predicted = cross_val_predict(RandomForestClassifier(100, random_state=0), values, labels, cv=splits)
    return int((predicted == labels).sum())


def _ranks(column: pa.Array) -> Integers:
    """Return the place of each value among those of a column, from 0 on; of rows without one the last."""
    ranks: Integers = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64) - 1
    return ranks


def _tells(column: pa.Array, labels: Integers, kind: str) -> bool:
    allowed = 1 + len(labels) // EXCEPT
    values = _ranks(column)
    by_value = _counts(values, labels)
    if len(by_value) < 2 or len(labels) - by_value.max(axis=1).sum() > allowed:
        return False
    alone = int((by_value.sum(axis=1) == 1).sum())
    changes = int(np.count_nonzero(np.diff(by_value.argmax(axis=1))))
    few_parts = kind != "category" and changes < 2 * len(np.unique(labels))
    return alone <= allowed or few_parts


def telling_sentence(telling: Telling) -> str:
    """Return what it means for an audit that columns or words tell the label; empty where none do.

    >>> telling_sentence(Telling(["grade"])).partition(": ")[0]
    '`grade` alone predicts the label of (nearly) every row'
    >>> telling_sentence(Telling([": git", ": gcc"], 0.9, words=True)).partition("; ")[0].replace(chr(160), " ")
    'A word per class (`: git` and `: gcc`) tells the label of 90 % of the rows by itself'
    """
    names = telling.names
    if not names:
        return ""
    more = [f"{len(names) - _MOST:,} more"] if len(names) > _MOST else []
    shown = listing([*(f"`{cut(name, _LONGEST)}`" for name in names[:_MOST]), *more])
    if telling.words:
        tells = f"A word per class ({shown}) tells the label of {percent(telling.share)} of the rows by itself"
        hidden = "wrong labels" if telling.nearly_all else "their wrong labels"
        return f"{tells}; if it was written from the label, {hidden} cannot be found: leave it out of the texts."
    if telling.others is not None:
        alone = f"{shown} alone predicts the label of {percent(telling.share)} of the rows, all other columns together of "
        made = "if it was made from the label, wrong labels cannot be found; leave it out"
        return f"{alone}{percent(telling.others)}: {made}."
    one = len(names) == 1
    predicts = "predicts" if one else "each predict"
    made = f"{'it' if one else 'one'} was made from the label, or numbers rows sorted by it"
    return f"{shown} alone {predicts} the label of (nearly) every row: if {made}, wrong labels cannot be found; leave it out."


def _counts(values: Integers, labels: Integers) -> Integers:
    """Return how many rows of each value have each label, ``(n_values, n_classes)``."""
    classes = int(labels.max()) + 1
    sizes = (int(values.max()) + 1, classes)
    counts: Integers = np.bincount(values * classes + labels, minlength=sizes[0] * sizes[1]).reshape(sizes)
    return counts
