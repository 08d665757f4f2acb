"""The strategies that keep the rows of highest or lowest value of one measure (Swayamdipta et al. 2020, §3, Table 2)."""

from __future__ import annotations

from cartograph.selection.strategy import Strategy, by_measure

STRATEGIES = {
    name: Strategy(name, meaning, by_measure(measure, sign, reason), needs=(measure,))
    for name, meaning, measure, sign, reason in (
        ("high-confidence", "the rows of highest confidence: easy to learn", "confidence", 1.0, "easy to learn"),
        ("low-variability", "the rows of lowest variability", "variability", -1.0, "steady"),
        ("high-correctness", "the rows that were right in most epochs", "correctness", 1.0, "often right"),
        ("low-correctness", "the rows that were right in fewest epochs", "correctness", -1.0, "seldom right"),
        ("hard-to-learn", "the rows of lowest confidence", "confidence", -1.0, "hard to learn"),
        ("ambiguous", "the rows of highest variability", "variability", 1.0, "ambiguous"),
    )
}
