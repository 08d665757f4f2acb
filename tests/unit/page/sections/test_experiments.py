from __future__ import annotations

import base64
from dataclasses import replace

import pyarrow as pa

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.chart_blocks import Picture
from cartograph.page.sections.experiments import LARGEST_PICTURE, experiments_section
from cartograph.page.step_results import ExperimentAnswer
from tests.page_audits import experiment_answer


def test_experiments_show_question_answer_picture_and_tables(audit: Audit) -> None:
    assert experiments_section(audit) is None
    failed = ExperimentAnswer("steps", "", "", "RuntimeError: no memory", failed=True)
    section = experiments_section(replace(audit, experiments=[experiment_answer(), failed]))
    assert section is not None
    assert section.lead.startswith("1 experiment of Swayamdipta et al. 2020 on this train set: seeds. steps failed; ")
    shown, table, other = section.blocks
    assert isinstance(shown, Picture) and isinstance(table, Table) and isinstance(other, Picture)
    assert (shown.title, shown.text, shown.note) == ("seeds: do maps agree?", "Mean r 0.51.", "(footnote 6)")
    assert base64.b64decode(shown.source.removeprefix("data:image/png;base64,")) == b"png"
    assert table.folded and table.cells[0] == ["1", "0.5123", "<b>u</b>"]
    assert table.cells[1][1] is None and len(str(table.cells[1][2])) == 80
    assert (other.title, other.text, other.source) == ("steps", "Failed. RuntimeError: no memory", "")


def test_experiments_stay_within_bounds(audit: Audit) -> None:
    many = pa.table({"row": list(range(1000))})
    section = experiments_section(
        replace(audit, experiments=[experiment_answer(picture=b"x" * (LARGEST_PICTURE + 1), tables={"all": many})])
    )
    assert section is not None
    shown, table = section.blocks
    assert isinstance(shown, Picture) and isinstance(table, Table)
    assert shown.source == "" and shown.note.endswith("the figure is too large for the page)")
    assert len(table.cells) == 25 and table.caption == "seeds, all, the first 25 of 1,000 rows"
