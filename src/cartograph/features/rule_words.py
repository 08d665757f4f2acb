"""A few words from which the labels follow: what a list of keywords leaves, whose errors models learn like right labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Bools, Integers
from cartograph.features.text import TextRows
from cartograph.schema import LABEL, dataset_info
from cartograph.wording import count, counted, cut, listing

MOST_WORDS, EACH, FOUND, FALSE = 40, 5, 0.97, 0.01
"""Most words of a class; rows of the class to each at least; of the rows of each class but one, how many have a word of its own, on rows
that no word was chosen on; and of the rows that have a class's word, how many may be of another class."""

_WORD = r"(?u)\b\w+\b"
_ROWS, _FEWEST, _OFTEN, _SHOWN, _LONGEST = 8_000, 200, 3, 3, 40


class RuleWords(NamedTuple):
    """Words from which labels follow.

    Attributes:
        label: the largest class that has words.
        words: of that class, the most frequent first.
        classes: how many classes have words.
    """

    label: int
    words: list[str]
    classes: int


def rule_words(table: pa.Table) -> RuleWords | None:
    """Return the words from which the labels of texts follow, one class left over; None where they do not, or of fewer than 200 rows.

    Words are chosen on half of the rows, of 8,000 evenly spread ones at most, one by one: that which most of a class's rows have that have
    none yet, and hardly a row of another class has. Whether labels follow from them is seen on the other rows.

    Args:
        table: a set of texts or pairs (``schema.examples_schema``).
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if dataset_info(table.schema).task not in ("single", "pair"):
        return None
    some = table.take(pa.array(np.arange(0, table.num_rows, max(-(-table.num_rows // _ROWS), 1))))
    present, labels = np.unique(some[LABEL].to_numpy(), return_inverse=True)
    if len(labels) < _FEWEST or len(present) < 2:
        return None
    texts = ["\n".join([row] if isinstance(row, str) else row) for row in TextRows(some)]
    # No signs: a question mark tells questions, but no rule gave that label.
    reader = CountVectorizer(binary=True, min_df=_OFTEN, token_pattern=_WORD, dtype=np.int32)
    try:
        has = sparse.csc_array(reader.fit_transform(texts))
    except ValueError:  # Not a word is in three of them.
        return None
    # Classes may take turns, so that every second row would be of one.
    chosen_on = np.random.default_rng(0).random(len(labels)) < 0.5
    largest = int(np.bincount(labels).argmax())
    chosen: dict[int, list[int]] = {}
    left_over: int | None = None
    for label in np.argsort(np.bincount(labels), kind="stable").tolist():
        words = _words_of(has, labels == label, chosen_on)
        if words:
            chosen[label] = words
        elif left_over is None:
            left_over = label
        else:
            return None
    if left_over is None:
        # Each class has words: the largest is as well what has none of the others'.
        chosen.pop(largest)
    first = max(chosen, key=lambda label: int(np.count_nonzero(labels == label)))
    frequency = np.asarray(has.sum(axis=0)).ravel()
    names = reader.get_feature_names_out()
    words = sorted(chosen[first], key=lambda word: (-frequency[word], names[word]))
    return RuleWords(int(present[first]), [str(names[word]) for word in words], len(chosen))


def rule_sentence(found: RuleWords | None, names: Sequence[str]) -> str:
    """Return what it means that labels follow from a few words; empty where they do not.

    Args:
        found: by ``rule_words``.
        names: of the classes.

    >>> rule_sentence(RuleWords(0, ["fish", "bird", "dog", "cat"], 1), ["animal", "other"]).partition(": ")[0]
    'The label `animal` follows from 4 words (`fish`, `bird`, `dog` and 1 more)'
    """
    if found is None:
        return ""
    shown = [f"`{cut(word, _LONGEST)}`" for word in found.words[:_SHOWN]]
    more = len(found.words) - len(shown)
    few = f"{', '.join(shown)} and {count(more)} more" if more else listing(shown)
    which = f"The label `{cut(names[found.label], _LONGEST)}` follows" if found.classes == 1 else f"{count(found.classes)} labels follow"
    of = "from" if found.classes == 1 else f"each from a few words, `{cut(names[found.label], _LONGEST)}` from"
    return (
        f"{which} {of} {counted(len(found.words), 'word')} ({few}): if such a rule gave the labels, its errors look right to every model, "
        "and only reading rows shows them."
    )


def _words_of(has: sparse.csc_array, own: Bools, chosen_on: Bools) -> list[int]:
    """Return the words of which nearly every row of a class has one, and hardly another row; none where there are no such few."""
    here, there = has[chosen_on], has[~chosen_on]
    mine, others = np.asarray(here[own[chosen_on]].sum(axis=0)).ravel(), np.asarray(here[~own[chosen_on]].sum(axis=0)).ravel()
    candidates = np.flatnonzero((mine >= _OFTEN) & (others <= FALSE * mine))
    rows = sparse.csc_array(here[own[chosen_on]][:, candidates])
    left = np.ones(rows.shape[0], dtype=np.int32)
    most = min(MOST_WORDS, rows.shape[0] // EACH)
    words: list[int] = []
    while left.any() and len(words) < most and len(candidates):
        gained = left @ rows
        best = int(np.argmax(gained))
        if not gained[best]:
            break
        words.append(int(candidates[best]))
        left[rows[:, [best]].indices] = 0
    if not words:
        return []
    said = np.asarray(there[:, words].sum(axis=1)).ravel() > 0
    return words if _follows(said, own[~chosen_on]) else []


def _follows(said: Bools, own: Bools) -> bool:
    found: Integers = np.array([np.count_nonzero(said & own), np.count_nonzero(own), np.count_nonzero(said)])
    return bool(found[0] >= FOUND * found[1] and found[1] >= EACH and found[2] - found[0] <= FALSE * found[2])
