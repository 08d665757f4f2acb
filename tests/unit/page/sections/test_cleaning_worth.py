from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.compare.versions import DIFFERENCES, Comparison, EvaluationSet, compare_versions
from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.chart_blocks import Dots
from cartograph.page.sections.cleaning_worth import cleaning_worth_section
from cartograph.page.step_results import Cleaning
from cartograph.schema import CHANGES
from tests.page_audits import block_of, with_versions
from tests.report_audit import retrained


def test_models_are_dots_with_intervals_on_one_scale(audit: Audit) -> None:
    section = cleaning_worth_section(with_versions(audit))
    assert section is not None
    assert section.lead.startswith("Cleaning raised accuracy by ")
    assert "cleaned (with rows dropped, relabelled or weighted, as above)" in block_of(section, Dots).note
    assert "1 of 3 trainings on random ended no better than chance: failed" in section.lead
    challenge, validation, differences = block_of(section, Dots).plots
    assert (challenge.title, validation.title) == ("challenge", "validation")
    assert challenge.meaning.startswith("out of distribution") and validation.meaning.startswith("in distribution")
    assert [dot.name for dot in challenge.dots] == ["original", "cleaned", "random"]
    assert [len(dot.marks) for dot in challenge.dots] == [3, 3, 2]
    for plot in (challenge, validation, differences):
        for dot in plot.dots:
            assert plot.x_range[0] < dot.low <= dot.value <= dot.high < plot.x_range[1]
    assert challenge.x_range[1] - challenge.x_range[0] == pytest.approx(validation.x_range[1] - validation.x_range[0])
    assert [dot.name for dot in differences.dots[:3]] == ["cleaned − original", "cleaned − random", "random − original"]
    assert differences.zero


def test_models_are_numbers_in_tables(audit: Audit) -> None:
    tables = {item.caption: item for item in cleaning_worth_section(with_versions(audit)).blocks if isinstance(item, Table)}
    assert list(tables) == ["Trained on each version", "Differences in points", "Every model, in per cent"]
    first = tables["Trained on each version"].cells[0]
    assert first[:7] == ["challenge", "out of distribution", 800, "original", 8, 3, 0]
    assert 60 < first[7] < 76
    assert len(tables["Every model, in per cent"].cells) == 18
    assert [cells[-1] for cells in tables["Every model, in per cent"].cells].count("failed") == 2


def test_where_every_training_failed_the_section_says_so(audit: Audit) -> None:
    rng = np.random.default_rng(0)
    whole = retrained(rng)
    summary = whole.summary.to_pandas().assign(seeds=0, failed=3)
    summary[["mean", "sd", "low", "high"]] = None
    nothing = Comparison(whole.evaluation, pa.Table.from_pandas(summary, whole.summary.schema), DIFFERENCES.empty_table())
    section = cleaning_worth_section(replace(audit, comparison=nothing))
    assert section is not None
    assert "3 of 3 trainings on cleaned ended no better" in section.lead
    assert not [item for item in section.blocks if isinstance(item, Dots)]


def test_an_audit_without_a_comparison_has_no_section(audit: Audit) -> None:
    assert cleaning_worth_section(audit) is None


def test_trainings_that_broke_off_are_listed_with_their_reasons(audit: Audit) -> None:
    sets = [EvaluationSet("held", "id", np.array([0, 1, 1, 0]), {("original", 1): np.array([0, 1, 1, 0])})]
    runs = {("original", 1): False, ("original", 2): True, ("cleaned", 1): True}
    comparison = compare_versions(sets, runs, ["accuracy"], resamples=100, seed=1)
    broken = [{"subset": "original", "seed": 2, "reason": "RuntimeError: no memory."}]
    section = cleaning_worth_section(replace(audit, comparison=comparison, broken=broken))
    assert section is not None
    assert "1 of 1 training on cleaned ended no better than chance" in section.lead
    assert "original with seed 2 stopped with an error and is left out of the means: RuntimeError: no memory." in section.lead
    assert "of 2 trainings on original" not in section.lead


def test_where_cleaning_changed_nothing_no_differences_of_zero_are_shown(audit: Audit) -> None:
    compared = with_versions(audit)
    zero = compared.comparison.differences.to_pandas().assign(difference=0.0, low=0.0, high=0.0)
    same = replace(compared.comparison, differences=pa.Table.from_pandas(zero, DIFFERENCES, preserve_index=False))
    section = cleaning_worth_section(replace(compared, comparison=same))
    assert section.lead.startswith("Cleaning changed nothing, so there is nothing to compare: `cleaned` is the original")
    weighted = Cleaning(CHANGES.empty_table(), {"weighted": True}, None)
    other = cleaning_worth_section(replace(compared, comparison=same, cleaning=weighted))
    assert other.lead.startswith("Models trained on `cleaned` and on `original` are right on the same rows")
    assert [plot.title for plot in block_of(section, Dots).plots] == ["challenge", "validation"]
    assert "Differences in points" not in [block.caption for block in section.blocks if isinstance(block, Table)]
