from __future__ import annotations

import math

import pyarrow as pa

from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.finding_markdown import finding_markdown


def run(material: Material) -> Finding:
    raise NotImplementedError


ASKED = Experiment("seeds", "does the map depend on the seed?", run, "Table 9")


def page(**tables: pa.Table) -> str:
    return finding_markdown(ASKED, Finding("three seeds agree", {}, tables, None))


def test_a_page_has_question_answer_source_and_tables() -> None:
    found = page(agreement=pa.table({"seed": [1, 2], "r": [0.123456, math.nan], "note": ["a|b\nc", None]}))
    assert found == (
        "# seeds: does the map depend on the seed?\n\nThree seeds agree.\n\nSource: Table 9.\n\n## agreement\n\n"
        "| seed | r | note |\n| --- | --- | --- |\n| 1 | 0.1235 | a\\|b c |\n| 2 |  |  |\n"
    )


def test_of_a_long_table_the_first_rows_are_shown() -> None:
    found = page(points=pa.table({"row": range(1041)}))
    assert "| 39 |\n\nThe first 40 of 1,041 rows; all are in points.parquet.\n" in found
    assert "| 40 |" not in found
