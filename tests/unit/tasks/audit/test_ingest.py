"""The step in a real workspace: when it runs again, what a failed run leaves, and what it says of real datasets."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from cartograph.errors import GateError, InputError
from cartograph.schema import dataset_info
from tasks.audit.ingest import STEP
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.ingest import Ingest
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.ingesting import Ingested, run_ingest, some_rows, write_csv
from tests.workspaces import make_workspace


def space(train: str, **params: Any) -> Workspace:
    return make_workspace(Path(train).parent / "space", ingest={"source": "files", "train": train, "text": "text", **params})


def test_runs_again_only_when_a_file_changes(tmp_path: Path) -> None:
    train = write_csv(tmp_path / "train.csv", "text,label", *some_rows())
    audit = space(train)
    assert run_step(STEP, audit).executed
    assert not run_step(STEP, audit).executed
    assert all(audit.resolve(name).is_file() for name in ingested_sets(audit.settings))
    assert (audit.path / "reports" / "data_docs" / "index.html").is_file()
    write_csv(tmp_path / "train.csv", "text,label", *some_rows(42))
    outcome = run_step(STEP, audit)
    assert (outcome.executed, outcome.receipt.summary) == (True, "42 rows, 2 classes, 0 quarantined")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `ingest` needs .*/none\.csv, which does not exist; correct the path in params\.yaml"):
        run_step(STEP, space(str(tmp_path / "none.csv")))


def test_too_many_unusable_rows_leave_the_old_tables_and_the_list(tmp_path: Path) -> None:
    train = write_csv(tmp_path / "train.csv", "text,label", *some_rows())
    data = tmp_path / "space" / "data"
    run_step(STEP, space(train))
    before = (data / "ingest" / "train.parquet").read_bytes()
    write_csv(tmp_path / "train.csv", "text,label", *some_rows(), *[",good"] * 10)
    with pytest.raises(GateError, match=r"10 empty text\. They are listed in .*/data/ingest\.failed/quarantine\.parquet; correct the file"):
        run_step(STEP, space(train))
    assert (data / "ingest.failed" / "quarantine.parquet").is_file()
    assert (data / "ingest" / "train.parquet").read_bytes() == before
    run_step(STEP, space(train, quarantine_limit=0.5))
    assert not (data / "ingest.failed").exists()


def classes_of(done: Ingested, name: str) -> dict[str, int]:
    return next(entry["classes"] for entry in done.validation["sets"] if entry["set"] == name)


def failed_checks(done: Ingested) -> list[tuple[str, str]]:
    return [(entry["set"], one["check"]) for entry in done.validation["sets"] for one in entry["checks"] if not one["passed"]]


def ingest_file(folder: Path, train: Path, **params: Any) -> Ingested:
    return run_ingest(folder, source="files", train=str(train), **params)


def test_the_bytes_of_all_files_are_counted_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [write_csv(tmp_path / f"{name}.csv", "text,label", *some_rows(40 + place)) for place, name in enumerate(("one", "two", "test"))]
    heard: list[tuple[int, int]] = []
    monkeypatch.setattr("tasks.audit.ingest.progress", lambda *_: nullcontext(lambda done, total: heard.append((done, total))))
    section = {"source": "files", "train": files[:2], "text": "text", "evaluation": {"test": {"files": files[2]}}}
    run_step(STEP, make_workspace(tmp_path / "space", ingest=section))
    sizes = [Path(file).stat().st_size for file in files]
    dones, totals = zip(*heard, strict=True)
    assert set(totals) == {sum(sizes)} and list(dones) == sorted(dones)
    assert {sizes[0], sum(sizes[:2]), sum(sizes)} <= set(dones) and dones[-1] == sum(sizes)


@pytest.mark.realdata
def test_trec_repeats_some_questions_and_shares_some_with_its_test_set(real_data: Path, tmp_path: Path) -> None:
    evaluation = {"test": {"files": str(real_data / "trec/TREC.test")}}
    options = {"format": "label-first", "encoding": "latin-1", "label_separator": ":"}
    done = ingest_file(tmp_path, real_data / "trec/TREC.train", text="text", evaluation=evaluation, **options)
    assert done.summary == "5,452 rows, 6 classes, 0 quarantined"
    assert classes_of(done, "test") == {"ABBR": 9, "DESC": 138, "ENTY": 94, "HUM": 65, "LOC": 81, "NUM": 113}
    assert failed_checks(done) == [("train", "rows do not repeat others"), ("test", "texts are not in the train set too")]


@pytest.mark.realdata
def test_chaosnli_has_nested_fields_and_annotators(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "chaosnli"
    names = {"e": "entailment", "n": "neutral", "c": "contradiction"}
    evaluation = {"mnli": {"files": str(folder / "chaosNLI_mnli_m.jsonl"), "domain": "ood"}}
    columns = {"text": ["example.premise", "example.hypothesis"], "label": "majority_label", "uid": "uid", "annotators": "old_labels"}
    done = ingest_file(tmp_path, folder / "chaosNLI_snli.jsonl", evaluation=evaluation, label_names=names, **columns)
    assert done.summary == "1,514 rows, 3 classes, 0 quarantined"
    assert classes_of(done, "train") == {"contradiction": 280, "entailment": 421, "neutral": 813}
    assert classes_of(done, "mnli") == {"contradiction": 275, "entailment": 741, "neutral": 583}
    first = done.rows("train")[0]
    assert first["uid"] == "2407214681.jpg#0r1n"
    assert first["example.hypothesis"] == "Two kids at a ballgame wash their hands."
    assert first["annotator_labels"] == ["neutral", "neutral", "neutral", "entailment", "entailment"]


@pytest.mark.slow
@pytest.mark.realdata
def test_winogrande_is_multiple_choice(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "winogrande"
    evaluation = {"dev": {"files": str(folder / "dev.jsonl")}}
    columns = {"text": "sentence", "options": ["option1", "option2"], "label": "answer", "uid": ["guid", "qID"]}
    done = ingest_file(tmp_path, folder / "train_xl.jsonl", evaluation=evaluation, **columns)
    assert done.summary == "40,398 rows, 2 classes, 0 quarantined"
    assert classes_of(done, "dev") == {"option1": 628, "option2": 639}
    first = done.rows("train")[0]
    assert (first["uid"], first["option1"], first["option2"], first["label"]) == ("10000", "Ian", "Dennis", 1)
    assert dataset_info(done.table("train").schema).task == "choice"


@pytest.mark.realdata
def test_sst2_and_qnli_have_the_rows_of_their_sources(real_data: Path, tmp_path: Path) -> None:
    sst2 = ingest_file(tmp_path, real_data / "sst2/stsa.binary.train", text="text", format="label-first")
    assert classes_of(sst2, "train") == {"0": 3310, "1": 3610}
    qnli = ingest_file(tmp_path, real_data / "qnli/dev.tsv", text=["question", "sentence"], uid="index")
    assert qnli.summary == "5,463 rows, 2 classes, 0 quarantined"
    assert classes_of(qnli, "train") == {"entailment": 2702, "not_entailment": 2761}
    assert sum('"' in row["sentence"] for row in qnli.rows("train")) > 100


@pytest.mark.realdata
def test_wikiqa_malformed_rows_are_set_aside(real_data: Path, tmp_path: Path) -> None:
    done = ingest_file(tmp_path, real_data / "wikiqa/WikiQA-train.tsv", text=["Question", "Sentence"], label="Label")
    assert done.summary == "20,347 rows, 2 classes, 13 quarantined"
    assert done.validation["quarantine"] == {"wrong number of fields": 13}
    assert done.rows("quarantine")[0]["row"] == 4092


def test_records_that_quotes_put_into_one_are_a_finding(tmp_path: Path) -> None:
    lines = [*some_rows(), '"swallowed from here,good', "all of this row,bad", 'to there",good']
    found = run_ingest(tmp_path, source="files", train=write_csv(tmp_path / "train.csv", "text,label", *lines), text="text")
    [check] = [check for check in found.validation["sets"][0]["checks"] if check["check"] == "quotes swallow no ends of rows"]
    assert (check["passed"], check["unexpected"], check["severity"]) == (False, 1, "warning")


@pytest.mark.parametrize("name", ["e" * 101, "e" * 300, "../up", "a b", "train"])
def test_a_name_of_a_set_is_checked_when_it_is_given(name: str) -> None:
    with pytest.raises(ValueError, match="a name has at most 100 letters"):
        Ingest.model_validate({"source": "files", "train": "t.csv", "text": "text", "evaluation": {name: {"files": "e.csv"}}})


def test_rows_of_an_evaluation_set_that_stand_in_train_are_counted_and_the_others_are_scored_apart(tmp_path: Path) -> None:
    remark = "a wholly different remark about the weather of today"
    train = write_csv(tmp_path / "train.csv", "text,label", *some_rows(), f"{remark},good")
    own = [f"nobody has ever seen the text with number {'x' * number},good" for number in range(1, 7)]
    leaked = ["this is sentence number 1,bad", "This  is SENTENCE number 2,bad", f"{remark}!!,good"]
    test = write_csv(tmp_path / "test.csv", "text,label", *own, *leaked)
    clean = write_csv(tmp_path / "clean.csv", "text,label", *own)
    sets = {"test": {"files": test}, "clean": {"files": clean}}
    found = run_ingest(tmp_path, source="files", train=train, text="text", evaluation=sets)
    entries = {entry["set"]: entry["in_train"] for entry in found.validation["sets"]}
    assert entries["train"] is None
    assert entries["test"] == {"exact": 1, "normalised": 1, "near": 1, "other label": 1}
    assert entries["clean"] == {"exact": 0, "normalised": 0, "near": 0, "other label": 0}
    groups = [row["groups"] for row in found.rows("test")]
    assert groups == [["not in train", "not contradicted"]] * 6 + [None] + [["not contradicted"]] * 2
    assert "groups" not in found.table("clean").column_names


def test_equal_rows_with_different_labels_are_counted_and_the_others_are_scored_apart(tmp_path: Path) -> None:
    train = write_csv(tmp_path / "train.csv", "text,label", *some_rows(), "said twice,good", "Said  TWICE,bad", "said once,good")
    own = [f"a text of the test alone with number {number},{'good' if number % 2 else 'bad'}" for number in range(6)]
    doubtful = ["said once,bad", "said twice,good", "torn in two,good", "torn in two,bad"]
    test = write_csv(tmp_path / "test.csv", "text,label", *own, "said once,good", *doubtful)
    found = run_ingest(tmp_path, source="files", train=train, text="text", evaluation={"test": {"files": test}})
    assert {entry["set"]: entry["contradicted"] for entry in found.validation["sets"]} == {"train": 2, "test": 5}
    members = ["not contradicted" in (row["groups"] or ()) for row in found.rows("test")]
    assert members == [True] * 6 + [False] * 5


def test_what_a_column_links_too_much_or_too_little_is_a_failed_check_and_no_more(tmp_path: Path) -> None:
    def failed(*speakers: str) -> list[tuple[str, str, int]]:
        lines = [f"{line},{speaker}" for line, speaker in zip(some_rows(), speakers, strict=True)]
        train = write_csv(tmp_path / "train.csv", "text,label,speaker", *lines)
        done = run_ingest(tmp_path, source="files", train=train, text="text", linked="speaker")
        assert done.validation["passed"]
        checks = [check for check in done.validation["sets"][0]["checks"] if not check["passed"]]
        assert {check["severity"] for check in checks} <= {"warning"}
        return [(check["check"], check["found"], check["unexpected"]) for check in checks]

    assert failed(*(f"s{row // 4}" for row in range(40))) == []
    [(check, found, rows)] = failed(*(f"s{row}" for row in range(40)))
    assert (check, rows) == ("a column links rows", 40) and found.startswith("no value of `speaker` is in two rows")
    [(check, found, rows)] = failed(*["ann"] * 8, *(f"s{row // 4}" for row in range(32)))
    assert (check, rows) == ("no value links too many rows", 8) and found.startswith("“ann” of `speaker` is in 8 of 40 rows")
    [(check, found, rows)] = failed(*["ann"] * 40)
    assert check == "no value links too many rows" and found.endswith("which are held out on their own")
    found_all = failed(*("ann" if row % 2 else f"s{row // 4}" for row in range(40)))
    assert [(check, rows) for check, _, rows in found_all] == [("no value links too many rows", 20), ("no class is linked as a whole", 20)]
