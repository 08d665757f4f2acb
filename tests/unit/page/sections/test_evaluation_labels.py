from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.document import page
from cartograph.page.sections.evaluation_labels import MOST_LISTED, evaluation_labels_section
from cartograph.page.verdict import verdict
from tests.page_audits import looked_at

WRONG = {"expected": 12.4, "low": 3.2, "high": 31.0, "most": 40.0}


def test_each_set_has_a_sentence_and_a_table_of_its_suspects(audit: Audit) -> None:
    assert evaluation_labels_section(audit) is None
    sets = (looked_at(wrong=WRONG), looked_at("dev", rows=0, unknown="few rows"), looked_at("odd", rows=0, why="one class"))
    section = evaluation_labels_section(replace(audit, evaluation_labels=sets))
    assert section is not None
    assert "test: about 12 labels are wrong (95\u00a0% CI 3 to 31); suspects: 3 of 500 labels" in section.lead
    assert "dev: worth a second look: 0 of 500 labels" in section.lead and "cannot be estimated: 500 rows in so many" in section.lead
    ends = {"low": 4.0, "high": 121.0, "most": 150.0}
    close = evaluation_labels_section(replace(audit, evaluation_labels=(looked_at("dev", unknown="little explained", between=ends),)))
    assert (
        close is not None
        and "4 to 120 of all are wrong (95\u00a0% CI), and no closer number can be estimated: the models explain too" in close.lead
    )
    assert section.lead.endswith("odd: no label could be judged: one class")
    every, table = section.blocks
    assert every.cells == [("test", 500, 3, 12, 3, 31), ("dev", 500, 0, None, None, None), ("odd", 500, 0, None, None, None)]
    assert table.caption == "Suspects of test" and [column.title for column in table.columns][2:] == [
        "text",
        "Label",
        "Suggested",
        "Probability",
        "Why",
    ]
    assert len(table.cells) == 3 and table.cells[0][-1] == "<b>why</b>"
    assert "<b>why</b>" not in page(replace(audit, evaluation_labels=sets))


def test_what_is_shown_of_pairs_tables_and_images(audit: Audit) -> None:
    for task, titles in (("pair", ["premise", "hypothesis"]), ("choice", ["sentence", "option1", "option2"]), ("image", [])):
        section = evaluation_labels_section(replace(audit, evaluation_labels=[looked_at(task=task)]))  # type: ignore[arg-type]
        assert section is not None and [column.title for column in section.blocks[1].columns][2:-4] == titles
    section = evaluation_labels_section(replace(audit, evaluation_labels=[looked_at(task="table")]))
    assert section is not None and 1 <= len(section.blocks[1].columns) - 6 <= 8


def test_of_many_suspects_the_first_are_listed(audit: Audit) -> None:
    section = evaluation_labels_section(replace(audit, evaluation_labels=[looked_at(rows=MOST_LISTED + 5)]))
    assert section is not None and len(section.blocks[1].cells) == MOST_LISTED
    assert section.blocks[1].caption == "Suspects of test, the first 200"


def test_the_top_says_how_many_are_wrong_where_some_are_for_sure(audit: Audit) -> None:
    line = "About 12 of the 500 labels of the evaluation set test are wrong, too (95\u00a0% CI 3 to 31)."
    assert line in verdict(replace(audit, evaluation_labels=[looked_at(wrong=WRONG)])).lines
    gathered = looked_at(wrong=WRONG | {"scattered": 20.0})
    line = "labels of the evaluation set test are wrong, too (95\u00a0% CI 3 to 31; to 20 unless errors gather on hard rows)."
    assert f"About 12 of the 500 {line}" in verdict(replace(audit, evaluation_labels=[gathered])).lines
    none = looked_at(wrong=WRONG | {"low": 0.2})
    assert not any("evaluation set test" in said for said in verdict(replace(audit, evaluation_labels=[none])).lines)
