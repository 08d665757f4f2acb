from __future__ import annotations

from dataclasses import replace

import numpy as np

from cartograph.compare.selections import TrainedSelections
from cartograph.compare.versions import EvaluationSet, compare_versions
from cartograph.page.audit import Audit
from cartograph.page.sections.selections import selections_section
from cartograph.page.step_results import Selections
from tests.page_audits import with_selections


def test_selections_are_shown_in_a_table_dots_and_curves(audit: Audit) -> None:
    assert selections_section(audit) is None
    section = selections_section(with_selections(audit))
    assert section is not None
    assert [block.kind for block in section.blocks] == ["table", "dots", "charts", "table"]
    assert "On far (out of distribution), ambiguous-0.25 beats a random sample of the same size." in section.lead
    rows = section.content()["blocks"][0]["cells"]
    assert [row[0] for row in rows] == ["100 % train", "random", "ambiguous", "random", "ambiguous"]
    assert rows[4] == ["ambiguous", "the rows of highest variability", 0.25, 10, "75.0 ± 0.0 ▲"]


def test_no_selection_is_compared_with_chance_where_every_random_training_failed(audit: Audit) -> None:
    section = selections_section(with_selections(audit, failed=("random",)))
    assert section is not None
    assert "No training on a random sample of the same size learnt anything, so no selection can be compared with chance." in section.lead
    assert "measurably beats" not in section.lead
    assert [block.kind for block in section.blocks] == ["table", "charts", "table"]


def test_the_best_of_the_seeds_by_the_validation_set_stands_beside_the_means(audit: Audit) -> None:
    gold = np.arange(100) % 2
    right = {("original", 1): (90, 50), ("original", 2): (80, 70), ("random-0.5", 1): (60, 90), ("random-0.5", 2): (64, 40)}
    sets = [
        EvaluationSet(name, "id", gold, {run: np.where(np.arange(100) < each[place], gold, 1 - gold) for run, each in right.items()})
        for place, name in enumerate(("dev", "test"))
    ]
    chosen = TrainedSelections({"random-0.5": ("random", 0.5)}, {"original": 200, "random-0.5": 100})
    found = compare_versions(sets, dict.fromkeys(right, False), ["accuracy"], resamples=100, seed=1, pairs=chosen.pairs())
    section = selections_section(replace(audit, selections=Selections(found, chosen)))
    assert section is not None
    [best] = [block for block in section.content()["blocks"] if "of the best of 2 seeds by dev" in str(block.get("caption"))]
    assert best["cells"] == [["100 % train", 1.0, "1", "90.0", "50.0"], ["random", 0.5, "2", "64.0", "40.0"]]
