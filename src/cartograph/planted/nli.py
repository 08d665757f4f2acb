"""The built-in corpus: natural-language inference with planted truth, so that what an audit finds can be scored.

Three things are planted. *Flipped* rows carry a wrong label. *Ambiguous* rows have no single right one: they come as nearly
equal twins with two different labels. *Give-away* words in the hypothesis change no label, but in three quarters of the train
and validation rows one goes with the label that the writer had in mind; the challenge set has none. A flip is an error of the
label, made after the hypothesis was written: the word in a flipped row goes with the true label, not with the given one.
Ambiguous rows carry no such word.

Labels go wrong in three ways, as they do where people label for pay. *Slips* hit any row, and any other label as often.
*One-way* errors mistake one class for its neighbour: contradictions are called neutral. *Careless* ones are those of an
annotator who has a tenth of the rows, and says entailment in nine of ten without reading them. Who labelled a row is in a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from cartograph import schema
from cartograph.planted import nli_words
from cartograph.planted.corpus import PlantedCorpus
from cartograph.planted.nli_grammar import LABELS, Dice, Grammar, Pair
from cartograph.planted.nli_scene import with_word

__all__ = ["LABELS", "SMALLEST", "WRONG", "generate"]

SMALLEST = 60
"""Fewest train rows: with these the smallest set has ten rows."""

WRONG = {"slip": 0.02, "one-way": 0.05, "careless": 0.06}
"""Share of the train rows whose label is wrong, by what made it wrong."""
_HITS: dict[str, Callable[[str], bool]] = {
    "slip": lambda label: True,
    "one-way": lambda label: label == "contradiction",
    "careless": lambda label: label != "entailment",
}
_MISTAKEN_FOR = {"one-way": "neutral", "careless": "entailment"}
_ANNOTATORS = ("Abe", "Bea", "Cal", "Dot", "Eli", "Fay", "Gus", "Hal", "Ida", "Joy")
_CARELESS = _ANNOTATORS[4]
_AMBIGUOUS = 0.08
_GIVE_AWAY = 0.75
_EVALUATION = 6

Kind = Literal["plain", "flipped", "ambiguous"]


class _Row(NamedTuple):
    premise: str
    hypothesis: str
    label: str
    kind: Kind = "plain"
    true_label: str | None = None
    error: str | None = None
    give_away: bool = False


def generate(rows: int, seed: int) -> PlantedCorpus:
    """Generate the sets ``train``, ``validation`` (in distribution) and ``challenge`` (out of distribution).

    Columns: uid, premise, hypothesis, label and annotator, all strings. The same arguments give the same corpus.

    Of every set, 8 % of the rows are ambiguous; the others are balanced over the labels. Of the train rows, 13 % are flipped after
    that (``WRONG``). The challenge set also uses words held out from the others, and has no give-away words. No premise occurs
    twice in the whole corpus. A claim, its give-away word left aside, occurs at most three times, or ``rows / 1000`` times where
    that is more: a pair that would break this is drawn again.

    Args:
        rows: number of train rows; each evaluation set has a sixth of that.
        seed: of the generator.

    Raises:
        ValueError: fewer than ``SMALLEST`` rows.
    """
    if rows < SMALLEST:
        raise ValueError(f"the built-in corpus needs at least {SMALLEST} train rows, not {rows}")
    rng = np.random.default_rng([seed, rows])
    writer = _Writer(Dice(rng), most=max(3, rows // 1000))
    written = {
        "train": writer.write(rows, wrong=WRONG),
        "validation": writer.write(rows // _EVALUATION),
        "challenge": writer.write(rows // _EVALUATION, challenge=True),
    }
    uids = iter(_uids(sum(map(len, written.values())), rng))
    sets: dict[str, pa.Table] = {}
    truth = []
    for name, content in written.items():
        own = [next(uids) for _ in content]
        columns = {field: [getattr(row, field) for row in content] for field in ("premise", "hypothesis", "label")}
        columns["annotator"] = _annotators(content, np.random.default_rng([seed, rows, len(sets)]))
        sets[name] = pa.table({schema.UID: own} | columns)
        truth += [(uid, name, row.kind, row.true_label, row.error, row.give_away) for uid, row in zip(own, content, strict=True)]
    return PlantedCorpus(sets, pa.table([list(column) for column in zip(*truth, strict=True)], schema=schema.TRUTH))


def _annotators(rows: Sequence[_Row], rng: np.random.Generator) -> list[str]:
    """Return who labelled each row: one has a tenth of them, the careless errors of the set among these, the others share what is left."""
    hers = np.array([row.error == "careless" for row in rows])
    tenth = len(rows) // len(_ANNOTATORS)
    # A third of what she was given is entailment, so that she is right about it.
    for may, number in ((np.array([row.true_label == LABELS[0] and row.error is None for row in rows]), tenth // 3), (~hers, tenth)):
        left = np.flatnonzero(may & ~hers)
        wanted = min(number, max(tenth - int(hers.sum()), 0), len(left))
        hers[rng.choice(left, size=wanted, replace=False)] = True
    others = [name for name in _ANNOTATORS if name != _CARELESS]
    drawn = rng.integers(len(others), size=len(rows)).tolist()
    return [_CARELESS if own else others[number] for own, number in zip(hers.tolist(), drawn, strict=True)]


def _uids(count: int, rng: np.random.Generator) -> list[str]:
    """Return distinct random names that reveal nothing and no reader takes for numbers."""
    numbers = np.unique(rng.integers(0, 16**10, size=2 * count))
    return [f"r{number:010x}" for number in rng.permutation(numbers)[:count].tolist()]


class _Writer:
    """Writes the sets of one corpus; remembers what was written, and writes another pair rather than the same again."""

    def __init__(self, dice: Dice, most: int) -> None:
        self._dice = dice
        self._most = most
        self._premises: set[str] = set()
        self._hypotheses: Counter[str] = Counter()

    def write(self, n_rows: int, *, wrong: Mapping[str, float] | None = None, challenge: bool = False) -> list[_Row]:
        grammar = Grammar(self._dice, held_out=challenge)
        ambiguous = self._ambiguous(grammar, round(_AMBIGUOUS * n_rows))
        clear = self._clear(grammar, n_rows - len(ambiguous), 0 if challenge else round(_GIVE_AWAY * n_rows))
        for error, share in (wrong or {}).items():
            self._mislabel(clear, error, round(share * n_rows))
        return self._dice.shuffled(ambiguous + clear)

    def _ambiguous(self, grammar: Grammar, n_rows: int) -> list[_Row]:
        rows: list[_Row] = []
        while len(rows) < n_rows:
            situation = nli_words.CONTESTED[len(rows) // 2 % len(nli_words.CONTESTED)]
            twins = grammar.contested(situation)
            if self._is_new(*twins):
                labels = self._dice.shuffled(situation.labels)
                rows += [_Row(*pair, label, "ambiguous") for pair, label in zip(twins, labels, strict=True)]
        return rows[:n_rows]

    def _clear(self, grammar: Grammar, n_rows: int, n_words: int) -> list[_Row]:
        has_word = self._dice.shuffled([place < n_words for place in range(n_rows)])
        rows = []
        for place in range(n_rows):
            label = LABELS[place % len(LABELS)]
            premise, hypothesis = self._pair(grammar, label)
            if has_word[place]:
                hypothesis = with_word(hypothesis, self._dice.pick(nli_words.GIVE_AWAY[label]), first=self._dice.chance(0.5))
            rows.append(_Row(premise, hypothesis, label, true_label=label, give_away=has_word[place]))
        return rows

    def _pair(self, grammar: Grammar, label: str) -> Pair:
        while not self._is_new(pair := grammar.pair(label)):
            pass
        return pair

    def _is_new(self, *pairs: Pair) -> bool:
        premises, hypothesis = {premise for premise, _ in pairs}, pairs[0][1]
        if premises & self._premises or self._hypotheses[hypothesis] + len(pairs) > self._most:
            return False
        self._premises |= premises
        self._hypotheses[hypothesis] += len(pairs)
        return True

    def _mislabel(self, rows: list[_Row], error: str, number: int) -> None:
        """Make so many of the labels that are still right wrong, in place."""
        may = [place for place, row in enumerate(rows) if row.error is None and _HITS[error](row.label)]
        for place in self._dice.shuffled(may)[:number]:
            label = _MISTAKEN_FOR.get(error) or self._dice.other(LABELS, rows[place].label)
            rows[place] = rows[place]._replace(label=label, kind="flipped", error=error)
