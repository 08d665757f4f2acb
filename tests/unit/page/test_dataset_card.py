from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

from cartograph.clean.reviewed import DECIDED
from cartograph.page.audit import Audit
from cartograph.page.dataset_card import dataset_card
from cartograph.page.step_results import Cleaning
from cartograph.schema import CHANGES, FEATURES, LABEL, ROW, SOURCE, UID, VALUES, DatasetInfo, Feature, examples_schema
from tests.page_audits import HOSTILE, check_of, set_entry, small_audit, with_suspects

COLUMNS = pa.schema([("id", pa.int64()), ("text", pa.string()), ("label", pa.string())])


def change(uid: str, before: str, after: str | None, by: str, why: str = "suspect 1 (0.99)") -> dict[str, Any]:
    return {"uid": uid, "what": "drop" if after is None else "relabel", "from": before, "to": after, "why": why, "by": by}


def cleaned(audit: Audit, changes: list[dict[str, Any]], *, weighted: bool = False) -> Audit:
    dropped = sum(one["what"] == "drop" for one in changes)
    version = {"version": "ab12", "parent": "cd34", "digest": "ab12ff", "parent_digest": "cd34ff", "rows": 8 - dropped, "parent_rows": 8}
    version |= {
        "changes": len(changes),
        "dropped": dropped,
        "relabelled": len(changes) - dropped,
        "recipe": "relabel",
        "weighted": weighted,
    }
    return replace(audit, cleaning=Cleaning(pa.Table.from_pylist(changes, CHANGES), version))


@pytest.fixture
def audit() -> Audit:
    suspected = with_suspects(small_audit(), flagged=(6, 2, 0))
    return cleaned(suspected, [change("u6", "no", None, "recipe relabel"), change("u2", "yes", "no", "ann")])


def head_of(card: str) -> dict[str, Any]:
    start, head, _ = card.split("---\n", 2)
    assert start == ""
    content: dict[str, Any] = yaml.safe_load(head)
    return content


def test_its_head_is_what_the_hub_reads(audit: Audit) -> None:
    head = head_of(dataset_card(audit, COLUMNS))
    assert head == {
        "pretty_name": "default, cleaned",
        "license": "unknown",
        "task_categories": ["text-classification"],
        "size_categories": ["n<1K"],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "cleaned.parquet"}]}],
    }
    named = head_of(dataset_card(audit, COLUMNS, license_name="cc-by-4.0", languages=("en", "no")))
    assert (named["license"], named["language"]) == ("cc-by-4.0", ["en", "no"])


def test_it_counts_rows_before_and_after_and_says_what_was_changed_by_whom(audit: Audit) -> None:
    card = dataset_card(audit, COLUMNS)
    before = np.bincount(audit.gold)
    assert f"| no | {before[0]} | {before[0]} |" in card
    assert f"| yes | {before[1]} | {before[1] - 1} |" in card
    assert "| no | dropped | 1 |" in card
    assert "| yes | no | 1 |" in card
    assert "Decided by: ann (1), recipe relabel (1)." in card
    assert "Of 2 changes, 1 was decided by people" in card
    assert "1 suspect is in this version with the label given." in card
    assert "version `cd34` of the train set (SHA-256 of its content: `cd34ff`)" in card
    assert "The class yes lost most: 25" in card


def test_what_is_not_known_is_a_limit_that_it_states(audit: Audit) -> None:
    card = dataset_card(audit, COLUMNS)
    assert "The licence of the data is not known." in card
    assert "The language of the data was not stated." in card
    assert "No models were trained to compare" in card
    named = dataset_card(audit, COLUMNS, license_name="mit", languages=("en",))
    assert "licence of the data" not in named
    assert "language of the data" not in named


def test_between_which_numbers_the_wrong_labels_lie_is_said_of_all_and_then_of_those_nobody_looked_at(audit: Audit) -> None:
    ends = {"low": 1.2, "high": 5.0, "most": 7.0}
    found = with_suspects(audit, calibrated=False, wrong=None, unknown="hard rows", between=ends)
    said = "1 to 5 labels of the original are wrong \\(95 % CI\\), and no closer number can be estimated: even the rows "
    assert said in dataset_card(found, COLUMNS)
    decided = pa.table([["u2", "u3"], [True, False]], schema=DECIDED)
    seen = replace(found, cleaning=replace(found.cleaning, decided=decided))
    said = "People looked at 2 of 8 labels and changed or dropped 1; 0 to 4 of the others are wrong \\(95 % CI\\), and no closer number "
    assert said in dataset_card(seen, COLUMNS)


def test_where_nothing_was_changed_it_says_so() -> None:
    card = dataset_card(cleaned(small_audit(), []), COLUMNS)
    assert "No row was dropped and no label changed." in card
    assert "suspects were not looked for" in card
    weighted = dataset_card(cleaned(small_audit(), [], weighted=True), COLUMNS.append(pa.field("weight", pa.float32())))
    assert "Every row has a weight" in weighted
    assert "Training that ignores the weights is training on the original." in weighted


def test_it_says_which_rows_were_held_out_together_in_plain_text(audit: Audit) -> None:
    sets = [set_entry("train", "train", [check_of("x")]) | {"linked": "Rows with the same `<who>` are held out together."}]
    card = dataset_card(replace(audit, validation={"passed": True, "sets": sets, "quarantine": {}}), COLUMNS)
    assert "- Rows with the same \\`&lt;who&gt;\\` are held out together.\n" in card
    assert "held out together" not in dataset_card(audit, COLUMNS)


def test_names_and_reasons_of_the_data_stay_text(audit: Audit) -> None:
    assert audit.cleaning is not None
    hostile = cleaned(audit, [change("u6", "no", None, f"{HOSTILE}\n---\n# x | y [z](javascript:w)")])
    named = replace(hostile, how_made=replace(hostile.how_made, name=f"x: '{HOSTILE}\nlicense: mit"))
    card = dataset_card(named, COLUMNS.append(pa.field("`|<b>", pa.string())))
    assert head_of(card)["license"] == "unknown"
    assert head_of(card)["pretty_name"].startswith(f"x: '{HOSTILE}")
    body = card.split("\n---\n", 1)[1]
    assert "<" not in body.replace("&lt;", "")
    assert "](javascript" not in body
    assert not [line for line in body.splitlines() if line.startswith(("---", "# x |"))]


def test_the_same_audit_gives_the_same_bytes(audit: Audit) -> None:
    assert dataset_card(audit, COLUMNS) == dataset_card(audit, COLUMNS)


def test_an_audit_that_cleaned_nothing_has_no_card() -> None:
    with pytest.raises(ValueError, match="has none"):
        dataset_card(small_audit(), COLUMNS)


def test_it_says_what_the_columns_of_a_table_hold() -> None:
    audit = small_audit()
    info = DatasetInfo(
        "train", "train", "table", (FEATURES,), (), ("no", "yes"), features=(Feature("size", "number"), Feature("job", "category"))
    )
    values = [{"size": None if row == 3 else float(row), "job": "clerk" if row % 2 else "pilot"} for row in range(8)]
    columns = {UID: audit.examples[UID].to_pylist(), FEATURES: ["x"] * 8, VALUES: values, LABEL: audit.examples[LABEL].to_pylist()}
    columns |= {name: audit.examples[name].to_pylist() for name in (SOURCE, ROW)}
    schema = examples_schema(info)
    examples = pa.table(
        [pa.array(columns[name], schema.field(name).type) for name in schema.names],
        schema=schema,
    )
    card = dataset_card(
        cleaned(replace(audit, examples=examples), []), pa.schema([("uid", pa.string()), ("size", pa.float64()), ("job", pa.string())])
    )
    assert "8 rows of 8, in 2 classes, each described by 1 number and 1 category." in card
    assert "| uid | string | identifies the row |" in card
    assert "| size | double | feature, number: 0 to 7; 12\u00a0% missing |" in card
    assert "| job | string | feature, category: 2 values |" in card
