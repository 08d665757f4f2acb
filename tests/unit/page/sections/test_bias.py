from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.sections.bias import bias_section
from cartograph.page.step_results import Bias
from tests.page_audits import audit_of_images, block_of, with_bias


def test_accuracies_before_and_after_the_filter_are_named_by_their_training_rows(audit: Audit) -> None:
    section = bias_section(with_bias(audit))
    assert section is not None
    lead = section.lead.replace("\u00a0", " ")
    assert "On dev a linear model on words is right on 80.0 % of the rows when it learns from all, on 75.0 %" in lead
    assert "and on 50.0 % when it learns from what the filter kept" in lead
    assert lead.endswith("Report a model's accuracy on those rows beside that on all.")
    table = block_of(section, Table)
    assert table.cells[0][3:10] == [80.0, 75.0, 50.0, 50.0, 70.0, pytest.approx(55.0), 10]  # type: ignore[attr-defined]
    assert table.cells[1][1] == "text alone"  # type: ignore[attr-defined]


def test_a_sample_that_models_learnt_from_is_said(audit: Audit) -> None:
    whole = with_bias(audit)
    assert whole.bias is not None
    said = []
    for rows, looked_up in ((100, 1000), (20_000, 1)):
        section = bias_section(replace(whole, bias=replace(whole.bias, sample={"rows": rows, "of": 20_000, "neighbours_of": looked_up})))
        assert section is not None
        said.append(("Models learn from a random 100 of the 20,000 train rows here" in section.lead, section.blocks[-1].caption))  # type: ignore[attr-defined]
    assert [said[0][0], said[1][0]] == [True, False]
    assert said[0][1] == "Cosine distances to the nearest train rows"


def test_bias_says_that_images_have_no_words() -> None:
    from cartograph.bias.accuracies import ACCURACIES
    from cartograph.bias.neighbours import NEIGHBOURS
    from cartograph.bias.words import REVEALING

    usual = {
        "input": "whole input",
        "train_rows": 9,
        "seed": 1,
        "set": "dev",
        "test_rows": 9,
        "accuracy": 0.5,
        "majority": 0.2,
        "top5": 0.9,
    }
    rows = [
        usual | {"model": "cnn", "trained_on": version, "tested_on": tested}
        for version in ("full", "random", "filtered")
        for tested in ("full", "filtered")
    ]
    found = Bias(pa.Table.from_pylist(rows, schema=ACCURACIES), REVEALING.empty_table(), NEIGHBOURS.empty_table())
    section = bias_section(replace(audit_of_images(5), bias=found))
    assert section is not None and "Images have no words" in section.lead and "convolutional network is right on 50.0" in section.lead
    top = section.blocks[1]
    assert top.cells == [["convolutional network", "dev", 90.0, 90.0, 90.0]]  # type: ignore[attr-defined]
