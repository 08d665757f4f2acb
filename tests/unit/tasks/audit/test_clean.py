"""The step `clean` in a real workspace: what it writes, in which format, from which decisions."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.audits.gate_values import check_values
from cartograph.errors import GateError, InputError
from cartograph.ingest.canonical import ingest as canonical
from cartograph.planted.nli import generate
from cartograph.schema import CHANGES, SUBSET, WEIGHTED_SUBSET, dataset_info
from tasks.audit import ingest
from tasks.audit.clean import STEP, Clean, clean_by
from tasks.audit.parameters.ingest import Ingest
from tasks.engine.receipt import fresh
from tasks.engine.running import Outcome, run_step
from tasks.engine.workspace import project_root
from tests.cleaning import make_noise
from tests.ingesting import run_ingest
from tests.workspaces import make_workspace, save, with_sections

pytestmark = pytest.mark.usefixtures("project")
DROP = {"precision": 0.0, "recipe": "drop-flagged"}
ROWS = [f"this is sentence number {number},{('bad', 'good', 'odd')[number % 3]},{number}.50" for number in range(30)]


class Audit:
    """A workspace with ingested rows and suspects made by hand."""

    def __init__(self, flagged: dict[int, tuple[str, float]], *, calibrated: bool = True, **params: Any) -> None:
        section = Ingest.model_validate({"source": "files", "text": "text", **params})
        self.path = path = project_root() / "workspaces" / "reviews"
        self.space = make_workspace(path, ingest=section, noise={}, clean=DROP)
        inputs = {name: self.space.resolve(name) for name in ingest.inputs_of(self.space.settings)}
        [train, *_] = canonical(ingest.read_sets(section, inputs)[0], ingest.columns_of(section), ingest.labelling_of(section))
        save(train.examples, path / "data/ingest/train.parquet")
        self.examples = train.examples
        self.labels = json.loads(self.examples.schema.metadata[b"cartograph"])["labels"]
        uids = dict(zip(self.examples["row"].to_pylist(), self.examples["uid"].to_pylist(), strict=True))
        self.uid = uids
        suggested = {uids[row]: (self.labels.index(label), sure) for row, (label, sure) in flagged.items()}
        save(make_noise(self.examples, suggested), path / "data/noise/noise.parquet")
        self.estimate(len(flagged) if calibrated else None)

    def estimate(self, number: int | None) -> None:
        """Say how many labels are wrong, by estimate; None: too few rows to say."""
        wrong = None if number is None else {"expected": float(number), "low": number / 2.0, "high": number * 2.0, "most": number * 3.0}
        # By hand, so that nothing finds them again among fewer rows.
        record = {
            "detector": "measures",
            "calibrated": number is not None,
            "wrong": wrong,
            "unknown": "few rows" if number is None else None,
        }
        (self.path / "data/noise/noise.json").write_text(json.dumps(record))

    def decide(self, *lines: str) -> None:
        path = self.path / "review" / "decisions.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(("uid,decision,new_label,by,comment", *lines)) + "\n", encoding="utf-8")

    def clean(self, **params: Any) -> Outcome:
        if params:
            self.space = with_sections(self.space, clean=DROP | params)
        return run_step(STEP, self.space)

    def table(self, name: str) -> pa.Table:
        return pq.read_table(self.path / "data/clean" / f"{name}.parquet")

    def content(self, name: str) -> Any:
        return json.loads((self.path / name).read_text(encoding="utf-8"))


def write(path: Path, text: str, encoding: str = "utf-8") -> str:
    path.write_bytes(text.encode(encoding))
    return str(path)


def csv_file(folder: Path) -> str:
    return write(folder / "train.csv", "text,label,weight\r\n" + "\r\n".join(ROWS) + "\r\n")


def test_suspects_are_dropped_each_with_its_reason(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    outcome = audit.clean()
    version = audit.content("data/clean/version.json")
    assert outcome.receipt.summary == f"28 rows, 2 dropped, version {version['version']}"
    assert len(outcome.receipt.summary) <= 58
    changes = audit.table("changes")
    assert changes.schema.equals(CHANGES)
    assert sorted(changes["uid"].to_pylist()) == sorted([audit.uid[4], audit.uid[10]])
    first = next(row for row in changes.to_pylist() if row["uid"] == audit.uid[4])
    assert first == {
        "uid": audit.uid[4],
        "what": "drop",
        "from": "bad",
        "to": None,
        "why": "suspect 1 (0.97): low confidence 1",
        "by": "recipe drop-flagged",
    }
    assert (version["rows"], version["parent_rows"], version["dropped"], version["relabelled"]) == (28, 30, 2, 0)
    assert len(version["version"]) == len(version["parent"]) == 12
    assert audit.content("reports/clean.metrics.json") == {
        "rows.original": 30,
        "rows.cleaned": 28,
        "changes": 2,
        "changes.share": 2 / 30,
        "dropped": 2,
        "relabelled": 0,
        "weighted": 0,
        "decisions": 0,
        "suspects.kept": 0,
        "classes.spared": 0,
        "validation.passed": 1,
        "validation.failed": 0,
    }
    assert not audit.clean().executed


def opinions(tmp_path: Path, wrong: range, **params: Any) -> Audit:
    """Texts whose label is the word in them, but for the rows that are wrong, which the suspects' table knows."""
    words = {"bad": "poor dull weak", "good": "fine great strong"}
    labels = ["bad", "good"] * 60
    given = [{"bad": "good", "good": "bad"}[label] if row in wrong else label for row, label in enumerate(labels, start=1)]
    lines = [f"{words[label]} number {row},{own}" for row, (label, own) in enumerate(zip(labels, given, strict=True), start=1)]
    audit = Audit({}, train=write(tmp_path / "train.csv", "text,label\n" + "\n".join(lines) + "\n"))
    table = pq.read_table(audit.path / "data/noise/noise.parquet")
    known = {audit.uid[row] for row in wrong}
    doubted = [uid in known for uid in table["uid"].to_pylist()]
    other = {uid: 1 - label for uid, label in zip(audit.examples["uid"].to_pylist(), audit.examples["label"].to_pylist(), strict=True)}
    values = {
        "probability": [0.97 if one else 0.03 for one in doubted],
        "flagged": doubted,
        "suggested": [other[uid] for uid in table["uid"].to_pylist()],
        "suggested_probability": [0.95 if one else 0.1 for one in doubted],
    }
    for name, column in values.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), pa.array(column, table.schema.field(name).type))
    save(table, audit.path / "data/noise/noise.parquet")
    audit.estimate(len(wrong))
    audit.clean(recipe="auto", precision=0.8, **params)
    return audit


def test_where_labels_are_wrong_a_way_of_cleaning_is_recommended_and_used(tmp_path: Path) -> None:
    audit = opinions(tmp_path, range(1, 81, 2))
    arms = audit.content("data/clean/arms.json")
    assert arms["asked"] == "auto" and arms["recommended"] != "original"
    assert arms["used"] == {"drop": "drop-flagged"}.get(arms["recommended"], arms["recommended"])
    assert arms["arms"]["drop"]["changed"] == arms["arms"]["relabel"]["changed"] == 40
    assert all(arms["arms"][name]["difference"] > 0.02 for name in ("drop", "relabel", "down-weight"))
    assert arms["arms"]["original"]["difference"] == arms["arms"]["original"]["error"] == 0
    assert audit.content("data/clean/version.json")["recipe"] == arms["used"]


def test_where_no_label_is_wrong_the_rows_stay_as_they_are(tmp_path: Path) -> None:
    audit = opinions(tmp_path, range(0))
    arms = audit.content("data/clean/arms.json")
    assert (arms["recommended"], arms["used"]) == ("original", "decisions-only")
    version = audit.content("data/clean/version.json")
    assert version["version"] == version["parent"]


def test_probabilities_that_are_not_estimated_decide_nothing(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95)}, calibrated=False, train=csv_file(tmp_path))
    audit.clean(recipe="auto")
    arms = audit.content("data/clean/arms.json")
    assert (arms["recommended"], arms["used"], arms["arms"]) == ("original", "decisions-only", {})
    assert "could not be estimated" in arms["reason"]


def test_weights_are_a_column_of_the_cleaned_rows_and_shuffled_in_the_random_ones(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    audit.decide(f"{audit.uid[7]},drop,,Bob,", f"{audit.uid[10]},keep,,Bob,")
    outcome = audit.clean(recipe="down-weight")
    assert "each weighted by how likely its label is right" in outcome.receipt.summary
    cleaned, version = audit.table("cleaned"), audit.content("data/clean/version.json")
    assert cleaned.column_names == ["text", "label", "weight", "label_weight"], "the file has a column `weight` of its own"
    assert (version["weighted"], version["rows"], version["dropped"]) == (True, 29, 1) and version["version"] != version["parent"]
    by_text = dict(zip(cleaned["text"].to_pylist(), cleaned["label_weight"].to_pylist(), strict=True))
    own = (audit.path / "data/clean/cleaned.csv").read_bytes().decode()
    before = (tmp_path / "train.csv").read_bytes().decode()
    header, *lines = own.split("\r\n")[:-1]
    assert header == "text,label,weight,label_weight" and [line.rpartition(",")[0] for line in lines] == [
        line for line in before.split("\r\n")[1:-1] if line.split(",")[0] in by_text
    ]
    assert [float(line.rpartition(",")[2]) for line in lines] == pytest.approx(list(by_text.values()), rel=1e-5)
    assert min(by_text, key=lambda text: by_text[text]) == "this is sentence number 3"
    of_its_label = [row["label_weight"] for row in cleaned.to_pylist() if row["label"] == "bad"]
    assert by_text["this is sentence number 9"] == max(of_its_label), "a person kept it"
    assert np.mean(list(by_text.values())) == pytest.approx(1, abs=1e-6)
    subsets = {name: pq.read_table(audit.path / f"data/select/{name}.parquet") for name in ("original", "cleaned", "random")}
    assert subsets["original"].schema.equals(SUBSET)
    assert subsets["cleaned"].schema.equals(WEIGHTED_SUBSET) and subsets["random"].schema.equals(WEIGHTED_SUBSET)
    one, other = (subsets[name]["weight"].to_pylist() for name in ("cleaned", "random"))
    assert sorted(one) == sorted(other) and one != other


def test_the_users_own_file_comes_back_byte_for_byte_but_for_the_changes(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    audit.clean(recipe="relabel")
    before = (tmp_path / "train.csv").read_bytes()
    expected = before.replace(b"number 3,bad", b"number 3,good").replace(b"this is sentence number 9,bad,9.50\r\n", b"")
    assert (audit.path / "data/clean/cleaned.csv").read_bytes() == expected
    cleaned = audit.table("cleaned")
    assert cleaned.column_names == ["text", "label", "weight"]
    assert cleaned.to_pylist() == list(csv.DictReader(io.StringIO(expected.decode())))
    assert [row["what"] for row in audit.table("changes").to_pylist() if row["uid"] == audit.uid[4]] == ["relabel"]
    again = Audit({}, train=str(audit.path / "data/clean/cleaned.csv"))
    assert len(again.examples) == 29


def test_subsets_are_what_the_retraining_reads(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    audit.clean(recipe="relabel")
    original, cleaned, random = (audit.table(f"../select/{name}") for name in ("original", "cleaned", "random"))
    for subset in (original, cleaned, random):
        assert subset.schema.equals(SUBSET)
        assert subset["uid"].to_pylist() == sorted(subset["uid"].to_pylist())
    assert (len(original), len(cleaned), len(random)) == (30, 29, 29)
    labels = dict(zip(*original.to_pydict().values(), strict=True))
    assert dict(zip(*cleaned.to_pydict().values(), strict=True)) == {
        uid: 1 if uid == audit.uid[4] else label for uid, label in labels.items() if uid != audit.uid[10]
    }
    assert dict(zip(*random.to_pydict().values(), strict=True)).items() < labels.items()
    audit.clean(recipe="relabel", seed=14)
    assert audit.table("../select/random") != random
    assert audit.table("../select/cleaned") == cleaned


def test_people_win_over_the_recipe_and_the_file_counts_from_the_day_it_is_there(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    first = audit.clean().receipt
    audit.decide(f"{audit.uid[4]},keep,,Ann,fine", f"{audit.uid[1]},relabel,odd,Bob,", f"{audit.uid[2]},drop,,Bob,twice there")
    second = audit.clean()
    assert second.executed
    assert second.receipt.summary.startswith("28 rows, 2 dropped, 1 relabelled, version ")
    changes = {row["uid"]: row for row in audit.table("changes").to_pylist()}
    assert set(changes) == {audit.uid[1], audit.uid[2], audit.uid[10]}
    assert changes[audit.uid[1]] | {"uid": ""} == {
        "uid": "",
        "what": "relabel",
        "from": "bad",
        "to": "odd",
        "why": "decided in review",
        "by": "Bob",
    }
    assert (changes[audit.uid[2]]["why"], changes[audit.uid[2]]["by"]) == ("twice there", "Bob")
    metrics = audit.content("reports/clean.metrics.json")
    assert [metrics[name] for name in ("suspects.kept", "suspects.open", "decisions.changed")] == [1, 1, 2]
    assert audit.uid[4] not in (audit.path / "reports/review.csv").read_text()
    assert audit.content("data/clean/version.json")["passed_over"] == []
    audit.decide(f"{audit.uid[4]},keep,,Ann,fine", "gone,drop,,Bob,")
    audit.clean()
    (sentence,) = audit.content("data/clean/version.json")["passed_over"]
    assert sentence.startswith("1 of 2 decisions is passed over, since the rows are no longer in the train set")
    (audit.path / "review/decisions.csv").unlink()
    assert audit.clean().receipt == first


def test_the_same_content_is_the_same_version_in_whatever_order_and_by_whomever_it_was_decided(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95)}, train=csv_file(tmp_path))
    lines = [f"{audit.uid[row]},drop,,Ann," for row in (1, 2, 4)]
    audit.decide(*lines)
    audit.clean(recipe="decisions-only")
    changes, version = audit.table("changes"), audit.content("data/clean/version.json")
    audit.decide(*reversed(lines))
    audit.clean()
    assert (audit.table("changes"), audit.content("data/clean/version.json")) == (changes, version)
    audit.decide(*(line.replace("Ann", "Bob") for line in lines[:2]))
    audit.clean(recipe="drop-flagged")
    assert audit.content("data/clean/version.json")["version"] == version["version"]
    audit.decide(*lines[:1])
    audit.clean()
    assert audit.content("data/clean/version.json")["version"] != version["version"]


def test_nothing_to_clean_is_the_original_version(tmp_path: Path) -> None:
    audit = Audit({}, train=csv_file(tmp_path))
    version = (audit.clean(), audit.content("data/clean/version.json"))[1]
    assert version["version"] == version["parent"]
    assert (audit.path / "data/clean/cleaned.csv").read_bytes() == (tmp_path / "train.csv").read_bytes()
    assert len((audit.path / "reports/review.csv").read_text(encoding="utf-8-sig").splitlines()) == 1
    assert audit.content("reports/review.labelstudio.json") == []


def test_decisions_that_are_on_the_sheet_alone_are_not_overwritten(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    audit.clean()
    sheet = audit.path / "reports/review.csv"
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    assert lines[1].endswith(",,,,")
    sheet.write_text("\n".join([lines[0], lines[1][:-4] + ",keep,,,", lines[2]]))
    with pytest.raises(InputError) as error:
        audit.clean(recipe="relabel")
    assert str(error.value) == (
        "workspaces/reviews/reports/review.csv holds decisions about 1 rows that were not taken in and would be lost, since the "
        "sheet is written again. Take them in with `python -m tasks review --workspace workspaces/reviews --import "
        "workspaces/reviews/reports/review.csv --by NAME`, or delete the file."
    )
    assert "keep" in sheet.read_text()
    audit.decide(f"{audit.uid[4]},keep,,Ann,")
    assert audit.clean().executed
    assert audit.uid[4] not in sheet.read_text()


def test_a_class_wholly_suspected_is_left_alone_and_counted(tmp_path: Path) -> None:
    audit = Audit(dict.fromkeys(range(3, 31, 3), ("good", 0.9)), train=csv_file(tmp_path))
    for how in ({"recipe": "drop-flagged"}, {"recipe": "relabel", "relabel_above": 0.5}):
        audit.clean(**how)
        assert audit.content("data/clean/version.json")["changes"] == 0
        assert audit.content("reports/clean.metrics.json")["classes.spared"] == 1


def test_decisions_that_empty_a_class_are_refused_and_leave_what_was_there(tmp_path: Path) -> None:
    audit = Audit({}, train=csv_file(tmp_path))
    audit.clean()
    odd = [uid for row, uid in audit.uid.items() if row % 3 == 0]
    audit.decide(*(f"{uid},drop,,Ann," for uid in odd))
    with pytest.raises(
        GateError, match=r"cleaning would leave class `odd` without rows: of its 10, 10 would be dropped and 0 relabelled\."
    ):
        audit.clean()
    assert audit.content("data/clean/version.json")["changes"] == 0


def test_suspects_whose_probabilities_are_not_estimated_from_the_data_are_only_listed(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95)}, calibrated=False, train=csv_file(tmp_path))
    audit.clean()
    assert audit.content("data/clean/version.json")["changes"] == 0
    assert audit.uid[4] in (audit.path / "reports/review.csv").read_text()


def test_what_is_best_leaves_a_class_to_people_of_which_too_much_would_go(tmp_path: Path) -> None:
    audit = Audit(dict.fromkeys((3, 6, 9), ("good", 0.9)), train=csv_file(tmp_path))
    audit.clean(recipe="auto", max_class_change=0.2)
    assert audit.content("data/clean/validation.json")["passed"]
    rows, noise = audit.examples, audit.table("../noise/noise")
    sections = {most: Clean(recipe="auto", max_class_change=most) for most in (0.2, 0.3)}
    ways = {most: clean_by(section, rows, noise, {}, "drop-flagged", calibrated=True) for most, section in sections.items()}
    assert {most: (len(way.changes), way.too_many) for most, way in ways.items()} == {0.2: (0, ("odd",)), 0.3: (3, ())}


def test_a_class_that_shrinks_too_far_is_a_failed_critical_check(tmp_path: Path) -> None:
    audit = Audit(dict.fromkeys((3, 6, 9), ("good", 0.9)), train=csv_file(tmp_path))
    audit.clean(max_class_change=0.3)
    assert audit.content("data/clean/validation.json")["passed"]
    assert [found.value for found in check_values([audit.content("data/clean/validation.json")])] == [0, 0]
    audit.clean(max_class_change=0.2)
    validation = audit.content("data/clean/validation.json")
    [failed] = [check for check in validation["sets"][0]["checks"] if not check["passed"]]
    assert (failed["check"], failed["expected"], failed["found"]) == (
        "no class shrinks or grows too far",
        "at most 20 % of its rows",
        "`odd` lost 30\u00a0%",
    )
    assert failed["examples"] == ["odd"]
    assert audit.content("reports/clean.metrics.json")["validation.passed"] == 0
    [found] = [found for found in check_values([audit.content("data/clean/validation.json")]) if found.value]
    assert found.gate == "failed_critical_checks"
    assert found.rows == [
        "no class shrinks or grows too far in set `cleaned` (expected at most 20 % of its rows, found `odd` lost 30\u00a0%)"
    ]


def test_validation_has_the_form_of_the_ingested_sets(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95)}, train=csv_file(tmp_path))
    audit.decide(f"{audit.uid[2]},drop,,Bob,")
    audit.clean()
    mine = audit.content("data/clean/validation.json")
    ingested = run_ingest(tmp_path, source="files", train=str(tmp_path / "train.csv"), text="text").validation
    assert list(mine) == sorted(ingested)
    assert sorted(mine["sets"][0]) == sorted(ingested["sets"][0])
    assert sorted(mine["sets"][0]["checks"][0]) == sorted(ingested["sets"][0]["checks"][0])
    assert mine["quarantine"] == {"dropped by Bob": 1, "dropped by recipe drop-flagged": 1}
    entry = mine["sets"][0]
    assert (entry["rows_read"], entry["rows_used"], entry["quarantined"]) == (30, 28, 2)
    assert entry["classes"] == {"bad": 9, "good": 9, "odd": 10}


def test_the_built_in_corpus_comes_back_as_it_was_generated() -> None:
    audit = Audit({}, source="planted-nli", rows=60, text=["premise", "hypothesis"])
    audit.clean()
    assert audit.table("cleaned").equals(generate(rows=60, seed=13).sets["train"].drop_columns("annotator"))


HOSTILE = (
    'label;text;text;\r\n"bad";"a ""quoted"" one\r\nover two lines";=1+1;x\r\ngood;plain;"; mark";y\r\n\r\n bad ;third;@b;z\r\n'
    "good;fourth;-b;\r\n"
)


def test_quotes_line_breaks_doubled_headers_and_a_mark_survive(tmp_path: Path) -> None:
    train = write(tmp_path / "train.csv", HOSTILE, "utf-8-sig")
    audit = Audit({3: ("good", 0.99)}, train=train, text="text (1)")
    audit.decide(f"{audit.uid[1]},relabel,good,Ann,", f"{audit.uid[4]},relabel,bad,Ann,", f"{audit.uid[2]},keep,,Ann,")
    audit.clean()
    expected = 'label;text;text;\r\ngood;"a ""quoted"" one\r\nover two lines";=1+1;x\r\ngood;plain;"; mark";y\r\nbad;fourth;-b;\r\n'
    assert (audit.path / "data/clean/cleaned.csv").read_bytes() == expected.encode("utf-8-sig")
    assert audit.table("cleaned").column_names == ["label", "text (1)", "text (2)", "column 4"]


def test_a_label_is_written_as_the_file_writes_it(tmp_path: Path) -> None:
    lines = [f'{{"id": {number}, "a": {{"gold": {number % 2}}}, "text": "row {number}", "x": [1.50, null]}}' for number in range(8)]
    train = write(tmp_path / "train.jsonl", "\n".join(lines))
    audit = Audit({1: ("yes", 0.95), 2: ("no", 0.2)}, train=train, label="a.gold", label_names={"0": "no", "1": "yes"})
    assert audit.labels == ["no", "yes"]
    audit.clean(recipe="relabel")
    written = (audit.path / "data/clean/cleaned.jsonl").read_text().split("\n")
    assert json.loads(written[0]) == {"id": 0, "a": {"gold": 1}, "text": "row 0", "x": [1.5, None]}
    assert written[1:] == lines[2:]
    assert audit.table("cleaned")["a.gold"].to_pylist() == ["1", "0", "1", "0", "1", "0", "1"]


def test_a_label_inside_a_list_is_written_there(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"row {number}", "ann": [{"by": "Ann", "value": "ab"[number % 2]}]}) for number in range(8)]
    train = write(tmp_path / "train.jsonl", "\n".join(lines))
    audit = Audit({1: ("b", 0.95), 2: ("a", 0.2)}, train=train, label="ann.0.value")
    audit.clean(recipe="relabel")
    written = (audit.path / "data/clean/cleaned.jsonl").read_text().split("\n")
    assert json.loads(written[0]) == {"text": "row 0", "ann": [{"by": "Ann", "value": "b"}]}
    assert written[1:] == lines[2:]
    rows = audit.table("cleaned")
    assert [json.loads(cell[0])["value"] for cell in rows["ann"].to_pylist()] == rows["ann.0.value"].to_pylist() == list("bababab")


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_label_inside_a_cell_of_json_is_written_there(tmp_path: Path, delimiter: str) -> None:
    cells = [json.dumps([{"value": number % 2}]) for number in range(8)]
    quoted = [cell if delimiter == "\t" else f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in cells]
    lines = [f"row {number}{delimiter}{cell}" for number, cell in enumerate(quoted)]
    train = write(tmp_path / ("t.tsv" if delimiter == "\t" else "t.csv"), "\n".join([f"text{delimiter}ann", *lines]) + "\n")
    audit = Audit({1: ("1", 0.95), 2: ("0", 0.2)}, train=train, label="ann.0.value")
    audit.clean(recipe="relabel")
    [written] = (audit.path / "data/clean").glob("cleaned.?sv")
    after = written.read_text().splitlines()
    assert after[0] == f"text{delimiter}ann" and after[2:] == lines[2:]
    assert after[1].replace('""', '"').endswith(('[{"value": 1}]', '[{"value": 1}]"'))
    rows = audit.table("cleaned")
    assert [str(json.loads(cell)[0]["value"]) for cell in rows["ann"].to_pylist()] == rows["ann.0.value"].to_pylist()


def test_an_array_of_objects_stays_one(tmp_path: Path) -> None:
    rows = [{"text": f"row {number} é", "label": "yes" if number % 2 else "no"} for number in range(8)]
    train = write(tmp_path / "train.json", json.dumps(rows))
    audit = Audit({1: ("yes", 0.95), 2: ("no", 0.2)}, train=train)
    audit.clean(recipe="relabel")
    assert json.loads((audit.path / "data/clean/cleaned.json").read_text(encoding="utf-8")) == [rows[0] | {"label": "yes"}, *rows[2:]]


def test_label_first_lines_keep_their_encoding_and_a_cut_label_is_written_whole(tmp_path: Path) -> None:
    text = "DESC:manner How did  serfs fare ?\nENTY:animal What is a café\n\nDESC:def What is x ?\nENTY:other y\n"
    train = write(tmp_path / "TREC.train", text, "latin-1")
    audit = Audit({1: ("ENTY", 0.99)}, train=train, format="label-first", encoding="latin-1", label_separator=":")
    audit.clean(recipe="relabel")
    expected = text.replace("DESC:manner", "ENTY").replace("\n\n", "\n")
    assert (audit.path / "data/clean/cleaned.train").read_bytes() == expected.encode("latin-1")


def test_a_compressed_tsv_with_quotes_in_its_texts(tmp_path: Path) -> None:
    text = 'label\ttext\nyes\tsay "a\nno\tsay "b"\nyes\t"c\nno\td\n'
    (tmp_path / "train.tsv.gz").write_bytes(gzip.compress(text.encode()))
    audit = Audit({1: ("no", 0.99)}, train=str(tmp_path / "train.tsv.gz"))
    audit.clean(recipe="relabel")
    assert (audit.path / "data/clean/cleaned.tsv").read_text() == text.replace("yes\tsay", "no\tsay", 1)


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    schema = pa.schema([("text", pa.large_string()), ("label", pa.int8()), ("vector", pa.list_(pa.float32())), ("when", pa.date32())])
    rows = [{"text": f"row {number}", "label": number % 2, "vector": [number / 3], "when": None} for number in range(8)]
    pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / "train.parquet")
    audit = Audit({1: ("1", 0.95), 2: ("0", 0.2)}, train=str(tmp_path / "train.parquet"))
    audit.clean(recipe="relabel")
    cleaned = audit.table("cleaned")
    assert cleaned.schema.equals(schema)
    assert cleaned.to_pylist() == pa.Table.from_pylist([rows[0] | {"label": 1}, *rows[2:]], schema).to_pylist()


def test_multiple_choice_labels_point_at_the_other_option(tmp_path: Path) -> None:
    lines = [f"the _ {n},left{n},right{n},{('right' if n % 2 else 'left') + str(n)}" for n in range(8)]
    train = write(tmp_path / "train.csv", "\n".join(["text,a,b,answer", *lines]) + "\n")
    audit = Audit({1: ("b", 0.95)}, train=train, options=["a", "b"], label="answer")
    audit.clean(recipe="relabel")
    assert audit.table("cleaned")["answer"].to_pylist()[:3] == ["right0", "right1", "left2"]
    numbered = write(tmp_path / "numbered.csv", "\n".join(["text,a,b,answer", *(f"the _ {n},l{n},r{n},{n % 2 + 1}" for n in range(8))]))
    audit = Audit({1: ("b", 0.95)}, train=numbered, options=["a", "b"], label="answer")
    audit.clean(recipe="relabel")
    assert audit.table("cleaned")["answer"].to_pylist()[:3] == ["2", "2", "1"]


def test_several_files_each_with_its_own_names_and_an_unusable_row(tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv", "text,label,extra\n" + "".join(f"one {n},{'yes' if n % 2 else 'no'},e{n}\n" for n in range(6)))
    two = write(tmp_path / "two.csv", "text,gold\n,yes\n" + "".join(f"two {n},{'YES' if n % 2 else 'NO'}\n" for n in range(20)))
    audit = Audit(
        {},
        train=[one, two],
        label=["label", "gold"],
        label_names={"YES": "yes", "NO": "no"},
        quarantine_limit=0.2,
        labels=["no", "yes"],
    )
    third = next(row["uid"] for row in audit.examples.to_pylist() if row["text"] == "two 2")
    audit.decide(f"{third},relabel,yes,Ann,")
    audit.clean()
    cleaned = audit.table("cleaned")
    assert cleaned.column_names == ["text", "label", "extra", "gold"]
    assert len(cleaned) == 26
    assert next(row for row in cleaned.to_pylist() if row["text"] == "two 2") == {
        "text": "two 2",
        "label": None,
        "extra": None,
        "gold": "YES",
    }
    assert sorted(path.name for path in (audit.path / "data/clean").iterdir()) == [
        "arms.json",
        "changes.parquet",
        "cleaned.parquet",
        "decided.parquet",
        "validation.json",
        "version.json",
    ]


def test_a_file_that_changed_since_it_was_ingested_is_found(tmp_path: Path) -> None:
    audit = Audit({}, train=csv_file(tmp_path))
    write(tmp_path / "train.csv", (tmp_path / "train.csv").read_text().replace("number 7,", "number seven,"))
    with pytest.raises(InputError, match=r"train\.csv is not what it was when it was ingested; run the audit again with `--force ingest`"):
        audit.clean()


def test_suspects_of_other_rows_are_refused(tmp_path: Path) -> None:
    audit = Audit({}, train=csv_file(tmp_path))
    save(make_noise(audit.examples.slice(3), {}), audit.path / "data/noise/noise.parquet")
    with pytest.raises(InputError, match=r"do not belong to this train set: 3 of its 30 rows are not among the 27 in noise\.parquet"):
        audit.clean()


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    audit = Audit({4: ("good", 0.95), 10: ("good", 0.6)}, train=csv_file(tmp_path))
    first = audit.clean(recipe="relabel").receipt
    assert run_step(STEP, audit.space, force=True).receipt == first
    assert fresh(STEP, audit.space)


def test_a_label_that_the_format_cannot_carry_is_refused(tmp_path: Path) -> None:
    train = write(tmp_path / "train.txt", "a one\nb two\na three\nb four\n")
    audit = Audit({}, train=train, format="label-first", label_names={"b": "not a"}, labels=["a", "not a", "no one's", "é"])
    audit.decide(f"{audit.uid[1]},relabel,not a,Ann,", f"{audit.uid[3]},drop,,Ann,")
    with pytest.raises(GateError, match="class `a` without rows"):
        audit.clean()
    audit.decide(f"{audit.uid[1]},relabel,not a,Ann,")
    audit.clean()
    assert (audit.path / "data/clean/cleaned.txt").read_text() == "b one\nb two\na three\nb four\n"
    audit.decide(f"{audit.uid[1]},relabel,no one's,Ann,")
    with pytest.raises(InputError, match=r"train\.txt: the class `no one's` cannot be written in front of a text, for it holds"):
        audit.clean()
    ascii_only = Audit({}, train=train, format="label-first", encoding="ascii", label_names={"b": "not a"}, labels=["a", "not a", "é"])
    ascii_only.decide(f"{ascii_only.uid[1]},relabel,é,Ann,")
    with pytest.raises(InputError, match=r"train\.txt: a new label cannot be written as ascii \('é'\)\."):
        ascii_only.clean()


REAL = {
    "trec": {"train": "trec/TREC.train", "encoding": "latin-1", "format": "label-first", "label_separator": ":"},
    "winogrande": {"train": "winogrande/train_xl.jsonl", "text": "sentence", "options": ["option1", "option2"], "label": "answer"},
    "snli": {"train": "snli/counterfactual/original/train.tsv", "text": ["sentence1", "sentence2"], "label": "gold_label"},
}


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_that_was_cleaned_is_read_as_what_it_was_cleaned_to(name: str, real_data: Path) -> None:
    section = REAL[name] | {"train": str(real_data / REAL[name]["train"])}
    before = Audit({}, **section)
    places = [1 + place for place in np.random.default_rng(1).choice(len(before.examples), 200, replace=False).tolist()]
    rows = [before.examples["row"][place - 1].as_py() for place in places]
    given = [before.labels[before.examples["label"][place - 1].as_py()] for place in places]
    others = [before.labels[(before.labels.index(label) + 1) % len(before.labels)] for label in given]
    audit = Audit(
        {row: (label, 0.95 if index % 2 else 0.5) for index, (row, label) in enumerate(zip(rows, others, strict=True))}, **section
    )
    outcome = audit.clean(recipe="relabel", max_class_change=9)
    assert f"{len(before.examples) - 100:,} rows, 100 dropped, 100 relabelled" in outcome.receipt.summary
    assert audit.content("data/clean/validation.json")["passed"]
    [own] = [path for path in (audit.path / "data/clean").iterdir() if path.stem == "cleaned" and path.suffix != ".parquet"]
    again = Audit({}, **section | {"train": str(own)}).examples
    subset = dict(zip(*audit.table("../select/cleaned").to_pydict().values(), strict=True))
    fields = dataset_info(before.examples.schema).fields
    expected = [row | {"label": subset[row["uid"]]} for row in before.examples.to_pylist() if row["uid"] in subset]
    assert [[row[field] for field in (*fields, "label")] for row in again.to_pylist()] == [
        [row[field] for field in (*fields, "label")] for row in expected
    ]
    assert len(audit.table("cleaned")) == len(expected)
