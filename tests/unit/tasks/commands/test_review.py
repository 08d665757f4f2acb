"""The command `review` as it is typed: sheets written, filled in, and taken in again."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from cartograph.data.spreadsheet import read_sheet
from tasks.__main__ import main
from tasks.audit import report
from tasks.audit.blind import FOUND, blind_found
from tasks.commands.dvc_yaml import in_sync, write
from tasks.pipelines import open_workspace
from tests.cleaning import make_examples, make_noise
from tests.workspaces import open_new, save

ROWS = [(f"u{number:03d}", f"=text {number}", number % 3) for number in range(120)]


@pytest.fixture(autouse=True)
def space(project: Path) -> Path:
    """The folder of an audit with 60 suspects among 120 rows."""
    path = project / "workspaces" / "reviews"
    open_new(path, ingest={"source": "files", "train": "t.csv", "text": "text"})
    examples = make_examples(ROWS)
    suspects = {f"u{number:03d}": (1 if number % 3 != 1 else 2, 0.9) for number in range(60)}
    save(examples, path / "data/ingest/train.parquet")
    save(make_noise(examples, suspects), path / "data/noise/noise.parquet")
    return path


def review(*arguments: str, code: int = 0) -> None:
    assert main(["review", "--workspace", "workspaces/reviews", *arguments]) == code


def fill(sheet: Path, target: Path, **answers: tuple[str, str, str]) -> str:
    """Fill in some rows of a sheet as a person would; returns the filled file."""
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    filled = [lines[0]]
    for line in lines[1:]:
        uid = line.split(",")[1]
        filled.append(line[:-4] + "," + ",".join(answers[uid]) + "," if uid in answers else line)
    target.write_text("\n".join(filled) + "\n", encoding="utf-8")
    return str(target)


def decisions(space: Path) -> list[tuple[str, ...]]:
    records = read_sheet((space / "review/decisions.csv").read_bytes(), "d", ("uid",))
    return [tuple(record.cells[name] for name in ("uid", "decision", "new_label", "by")) for record in records]


def test_a_sheet_goes_out_and_comes_back(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(open_workspace(space))
    review()
    said = capsys.readouterr().out
    assert "workspaces/reviews/reports/review.csv: 60 suspects to decide on." in said
    assert "python -m tasks review --workspace workspaces/reviews --import workspaces/reviews/reports/review.csv --by NAME" in said
    assert len(json.loads((space / "reports/review.labelstudio.json").read_text())) == 60
    assert (space / "reports/review.labelstudio.xml").read_text().startswith("<View>")
    filled = fill(
        space / "reports/review.csv", tmp_path / "f.csv", u003=("keep", "", ""), u004=("relabel", "odd", "Bob"), u005=("drop", "", "")
    )
    review("--import", filled, "--by", "Ann")
    assert decisions(space) == [("u003", "keep", "", "Ann"), ("u004", "relabel", "odd", "Bob"), ("u005", "drop", "", "Ann")]
    assert "3 rows decided (1 keep, 1 drop, 1 relabel), 3 of them by this import." in capsys.readouterr().out
    assert in_sync(open_workspace(space))
    assert "workspaces/reviews/review/decisions.csv" in (space / "dvc.yaml").read_text()
    review("--import", filled, "--by", "Ann")
    review()
    assert "57 suspects to decide on (3 rows are decided)." in capsys.readouterr().out
    assert "u003" not in (space / "reports/review.csv").read_text()


def test_a_changed_mind_replaces_and_another_persons_contradicts(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review("--out", str(tmp_path / "s.csv"))
    assert not (space / "reports/review.csv").exists()
    assert (tmp_path / "s.labelstudio.json").exists()
    review("--import", fill(tmp_path / "s.csv", tmp_path / "1.csv", u003=("keep", "", "Ann")))
    review("--import", fill(tmp_path / "s.csv", tmp_path / "2.csv", u003=("drop", "", "Ann")))
    assert decisions(space) == [("u003", "drop", "", "Ann")]
    before = (space / "review/decisions.csv").read_bytes()
    capsys.readouterr()
    review("--import", fill(tmp_path / "s.csv", tmp_path / "3.csv", u003=("keep", "", "Bob")), code=2)
    said = " ".join(capsys.readouterr().err.split())
    assert "3.csv line 5: uid 'u003' is decided twice, as keep by Bob, and as drop by Ann in review/decisions.csv line 2; settle it" in said
    assert (space / "review/decisions.csv").read_bytes() == before


def test_a_label_studio_export_is_taken_in(space: Path, tmp_path: Path) -> None:
    review()
    tasks = json.loads((space / "reports/review.labelstudio.json").read_text())
    results = [{"from_name": "decision", "type": "choices", "value": {"choices": ["drop"]}}]
    for task in tasks[:2]:
        task["annotations"] = [{"completed_by": {"email": "ann@example.org"}, "result": results}]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    review("--import", str(tmp_path / "export.json"))
    assert decisions(space) == [("u000", "drop", "", "ann@example.org"), ("u001", "drop", "", "ann@example.org")]


def test_a_sheet_that_a_spreadsheet_saved_as_its_own_file_is_taken_in(
    space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    review()
    filled = fill(space / "reports/review.csv", tmp_path / "f.csv", u003=("keep", "", ""), u004=("relabel", "odd", "Bob"))
    book = Workbook()
    for row in csv.reader(Path(filled).read_text(encoding="utf-8").splitlines()):
        book.worksheets[0].append([cell or None for cell in row])
    book.save(tmp_path / "filled.XLSX")
    review("--import", str(tmp_path / "filled.XLSX"), "--by", "Ann")
    assert decisions(space) == [("u003", "keep", "", "Ann"), ("u004", "relabel", "odd", "Bob")]
    (tmp_path / "broken.xlsx").write_bytes((tmp_path / "filled.XLSX").read_bytes()[:200])
    capsys.readouterr()
    review("--import", str(tmp_path / "broken.xlsx"), code=2)
    assert "broken.xlsx is not an Excel workbook that can be read" in " ".join(capsys.readouterr().err.split())


def test_where_no_row_is_a_suspect_the_sheet_asks_about_those_doubted_most(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise = make_noise(make_examples(ROWS), {})
    save(noise, space / "data/noise/noise.parquet")
    review()
    assert "review.csv: 50 rows to decide on, the most doubted first, since no label is a suspect." in capsys.readouterr().out
    lines = (space / "reports/review.csv").read_text(encoding="utf-8-sig").splitlines()
    first = noise.sort_by("rank")["uid"].to_pylist()[:50]
    assert [line.split(",")[1] for line in lines[1:]] == first
    review("--further", "5")
    assert "review.csv: 5 rows to decide on." in capsys.readouterr().out
    never = noise.set_column(noise.schema.get_field_index("probability"), "probability", pa.array([0.0] * noise.num_rows))
    save(never.cast(noise.schema), space / "data/noise/noise.parquet")
    review()
    assert "review.csv: 0 suspects to decide on." in capsys.readouterr().out


def test_what_is_filled_in_on_the_sheet_itself_is_not_overwritten(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review()
    sheet = space / "reports/review.csv"
    fill(sheet, sheet, u007=("drop", "", ""))
    review(code=2)
    assert "holds decisions about 1 rows that were not taken in" in " ".join(capsys.readouterr().err.split())
    review("--import", str(space / "reports/review.csv"), "--by", "Ann")
    review()
    assert "u007" not in (space / "reports/review.csv").read_text()


def blind_answers(sheet: Path, target: Path, answer: str, but: str = "") -> str:
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    filled = [lines[0], *(f"{line[:-1]}{but if but and number % 4 == 0 else answer}," for number, line in enumerate(lines[1:]))]
    target.write_text("\n".join(filled), encoding="utf-8")
    return str(target)


def test_a_blind_sheet_goes_out_and_two_come_back(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review("--blind")
    [sheet] = (space / "review").glob("blind-*.csv")
    [key] = (space / "review").glob("blind-*.key.json")
    said = capsys.readouterr().out
    assert "50 suspects and 50 other rows, shuffled." in said
    assert "one of: bad, good, odd, ambiguous." in said
    assert "noise" in key.read_text()
    assert not set(sheet.read_text(encoding="utf-8-sig").splitlines()[0].split(",")) & {"uid", "given_label", "predicted", "rank"}
    review("--blind")
    one, other = blind_answers(sheet, tmp_path / "ann.csv", "good"), blind_answers(sheet, tmp_path / "bob.csv", "good", "ambiguous")
    capsys.readouterr()
    review("--import", one, "--import", other)
    assert capsys.readouterr().out.startswith("agreement of two annotators on 100 rows: 75 %, Cohen's kappa 0.00; 25 left to discuss\n")
    numbers = json.loads((space / "reports/blind.metrics.json").read_text())
    assert numbers["agreement.raw"] == 0.75
    assert numbers["predicted_noise.rows"] + numbers["predicted_clean.rows"] == 75
    examples, noise = (pq.read_table(space / name) for name in ("data/ingest/train.parquet", "data/noise/noise.parquet"))
    found = blind_found(space / FOUND, examples, noise)
    assert found is not None and found["labels.mislabelled"] == numbers["labels.mislabelled"]
    assert FOUND in report.STEP.inputs_in(open_workspace(str(space))), "the next page reads it"
    [answers] = (space / "review").glob("blind-*.answers.csv")
    assert answers.read_text(encoding="utf-8-sig").startswith("item,uid,predicted,given_label,answer of ann,answer of bob\n")
    review("--import", one, "--by", "Ann")
    assert json.loads((space / "reports/blind.metrics.json").read_text())["annotators"] == 1
    blind_answers(sheet, sheet, "good")
    review("--blind", code=2)
    assert "is filled in already; import it" in " ".join(capsys.readouterr().err.split())


def test_an_older_blind_sheet_can_still_be_taken_in(space: Path, tmp_path: Path) -> None:
    review("--blind")
    [first] = (space / "review").glob("blind-*.csv")
    save(make_noise(make_examples(ROWS), {f"u{number:03d}": (1, 0.9) for number in range(60, 120)}), space / "data/noise/noise.parquet")
    review("--blind")
    assert len(list((space / "review").glob("blind-*.csv"))) == 2
    review("--import", blind_answers(first, tmp_path / "ann.csv", "good"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,answer\n../../x-001,good\n", "is the blind sheet '../../x', which was not drawn in"),
        ("item,answer\nbabcdef-001,good\n", "is the blind sheet 'babcdef', which was not drawn in"),
        ("uid,decision,new_label,by\nu001,,,\n", "holds no decision; fill in the column `decision` with keep, drop or relabel."),
        (
            "uid,decision,new_label,by\nx1,drop,,Ann\nx2,drop,,Ann\n",
            "is about another dataset: none of its 2 decisions names a uid of the 120",
        ),
        ("uid,text\nu001,x\n", "has no column `decision`; its columns are uid, text."),
        ("", "is empty, or has no header that can be read."),
    ],
)
def test_what_cannot_be_taken_in_is_said(
    space: Path, content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.csv").write_text(content)
    review("--import", str(tmp_path / "f.csv"), code=2)
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (space / "review/decisions.csv").exists()


def test_usage_that_makes_no_sense_is_said(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b.csv").write_text("item,answer\n")
    (tmp_path / "d.csv").write_text("uid,decision\n")
    expected = {
        ("--blind", "--import", "x"): "--import reads a filled sheet",
        ("--import", str(tmp_path / "none.csv")): "none.csv is not there; name the file that was filled in.",
        ("--import", str(tmp_path / "b.csv"), "--import", str(tmp_path / "d.csv")): "b.csv is a blind sheet, the other is not",
        ("--import", str(tmp_path / "d.csv"), "--import", str(tmp_path / "d.csv")): "d.csv is named twice",
        ("--out", str(tmp_path / "d.csv")): "d.csv exists already; name another file for the sheet.",
    }
    for arguments, message in expected.items():
        review(*arguments, code=2)
        assert message in " ".join(capsys.readouterr().err.split())
    shutil.rmtree(space / "data/noise")
    review(code=2)
    assert "there are no suspects to review yet" in " ".join(capsys.readouterr().err.split())
    open_new(space.with_name("pairs"), collect={})
    assert main(["review", "--workspace", "workspaces/pairs"]) == 2
    assert "workspaces/pairs asks nothing yet: there is no review/round-01.csv" in " ".join(capsys.readouterr().err.split())
    assert main(["review", "--workspace", "~nobody-of-that-name/x"]) == 2
    assert "does not exist" in " ".join(capsys.readouterr().err.split())


def test_it_waits_for_no_audit(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_workspace(space).lock("an audit"):
        review(code=2)
    assert "is busy: `an audit`" in " ".join(capsys.readouterr().err.split())


def test_where_errors_go_on_below_the_list_the_next_rows_are_asked_about(
    space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    review("--out", str(tmp_path / "s.csv"))
    wrong = {f"u{number:03d}": ("drop", "", "Ann") for number in range(60)}
    capsys.readouterr()
    review("--import", fill(tmp_path / "s.csv", tmp_path / "1.csv", **wrong))
    said = capsys.readouterr().out
    way = "python -m tasks review --workspace workspaces/reviews --further 50"
    assert f"People changed 20 of the last 20 labels down the list: errors go on below it. The next rows: {way}" in said
    review("--further", "50")
    assert "review.csv: 50 rows to decide on (60 rows are decided)." in capsys.readouterr().out
    assert len(json.loads((space / "reports/review.labelstudio.json").read_text())) == 50
    right = {f"u{number:03d}": ("keep", "", "Ann") for number in range(60, 120)}
    review("--import", fill(space / "reports/review.csv", tmp_path / "2.csv", **right))
    said = capsys.readouterr().out
    assert "110 rows decided (50 keep, 60 drop), 50 of them by this import." in said and "go on" not in said


def test_further_rows_go_with_the_list_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for other in (["--blind"], ["--import", "f.csv"]):
        review("--further", "5", *other, code=2)
        assert "--further adds rows to the suspects that are asked about; leave out --import and --blind." in capsys.readouterr().err
    review("--further", "-1", code=2)
