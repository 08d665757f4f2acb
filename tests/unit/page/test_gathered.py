from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.page.audit import Audit
from cartograph.page.gathered import gathered_sentence, gathered_table
from tests.page_audits import audit_of_texts, with_suspects


@pytest.fixture(scope="module")
def texts() -> Audit:
    return with_suspects(audit_of_texts(400), flagged=tuple(range(20)))


def with_parts(audit: Audit, **columns: list[str]) -> Audit:
    named = {name.replace("_", " "): pa.array(parts).dictionary_encode() for name, parts in columns.items()}
    return replace(audit, strata=pa.table({"uid": audit.measures["uid"], **named}))


def test_the_sentence_names_where_suspects_gather_and_the_table_all_of_it(texts: Audit) -> None:
    parted = with_parts(texts, column_who=["<b>eve</b>"] * 40 + ["ann"] * 360, order=["1 to 18"] * 18 + ["19 to 400"] * 382)
    assert gathered_sentence(parted) == (
        "Suspects gather where `who` is <b>eve</b> (20 of the 20, among 10\u00a0% of the rows); and in the rows 1 to 18 of the file (18): "
        "ask first how these rows were labelled."
    )
    table = gathered_table(parted)
    assert table is not None and table.cells[0][:4] == ["where `who` is <b>eve</b>", 20, 40, 0.5]
    assert table.cells[0][4] == pytest.approx(2, abs=1)
    file = with_parts(texts, file=["a.csv"] * 40 + ["b.csv"] * 360)
    assert gathered_sentence(file).startswith("Suspects gather in the file a.csv (20 of the 20")


def test_nothing_is_said_where_they_gather_nowhere_or_no_stratum_is_known(texts: Audit) -> None:
    spread = with_parts(texts, column_who=np.where(np.arange(400) % 2, "ann", "bo").tolist())
    assert (gathered_sentence(spread), gathered_table(spread)) == ("", None)
    assert (gathered_sentence(texts), gathered_table(texts)) == ("", None)
