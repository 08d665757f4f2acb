"""The CSV files of an audit: safe to open, and no row or column more than there is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cartograph.__main__ import main
from cartograph.data.spreadsheet import read_sheet
from cartograph.frames.audit import audit
from cartograph.frames.tables import write_tables

FORMULA = '=HYPERLINK("http://x","y")'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    folder = tmp_path_factory.mktemp("audit")
    labels = ["good", "bad"] * 400
    words = {"good": ("fine", "lovely", "great"), "bad": ("dull", "poor", "weak")}
    texts = [f"{FORMULA} {' '.join(rng.choice(words[label], 4))} {number}" for number, label in enumerate(labels)]
    for row in range(0, 800, 16):
        labels[row] = "bad"
    frame = pd.DataFrame({"review": texts, "kind": labels, "change": -1.5})
    frame.loc[800] = ["", "good", 2.0]
    frame.to_csv(folder / "reviews.csv", index=False)
    assert (
        main(
            [
                "audit",
                str(folder / "reviews.csv"),
                "--text",
                "review",
                "--label",
                "kind",
                "--recipe",
                "drop-flagged",
                "--out",
                str(folder / "out"),
            ]
        )
        == 0
    )
    return folder


def test_the_command_writes_the_page_the_suspects_the_rows_that_stay_and_those_set_aside(folder: Path) -> None:
    names = ["cleaned.csv", "cleaned.parquet", "report.html", "set-aside.csv", "suspects.csv"]
    assert sorted(path.name for path in (folder / "out").iterdir()) == names
    suspects = pd.read_csv(folder / "out/suspects.csv")
    assert suspects.columns.tolist() == ["row", "review", "kind", "suggested", "probability", "reason", "change"]
    assert len(suspects) > 30 and set(suspects["row"]) <= set(range(1, 801, 16))
    cleaned = pd.read_csv(folder / "out/cleaned.csv")
    sure = suspects["row"][suspects["probability"] >= 0.8]
    assert len(cleaned) == 800 - len(sure) and cleaned.columns.tolist() == ["review", "kind", "change"]
    assert (cleaned["change"] == -1.5).all()
    assert pd.read_csv(folder / "out/set-aside.csv")[["row", "reason"]].values.tolist() == [[801, "empty text"]]


@pytest.mark.parametrize("name", ["suspects.csv", "cleaned.csv"])
def test_no_cell_is_a_formula(folder: Path, name: str) -> None:
    table = pd.read_csv(folder / "out" / name, dtype=str)
    assert table["review"].str.startswith(f"'{FORMULA}").all()
    if name == "suspects.csv":
        sheet = read_sheet((folder / "out" / name).read_bytes(), name, ["row", "review"])
        assert all(record.cells["review"].startswith(FORMULA) for record in sheet)


def test_where_a_cell_got_an_apostrophe_a_parquet_file_has_all_as_they_are(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned, guarded = pd.read_parquet(folder / "out/cleaned.parquet"), pd.read_csv(folder / "out/cleaned.csv", dtype=str)
    assert ("'" + cleaned["review"]).tolist() == guarded["review"].tolist()
    rows = [f'"{"xy"[number % 2]} {number}\rtwo\nthree",{"ab"[number % 2]}' for number in range(40)]
    for first, said in ((rows[0], False), (f'"@{rows[0][1:]}', True)):
        (tmp_path / "rows.csv").write_text("\n".join(["text,label", first, *rows[1:]]), newline="")
        assert main(["audit", str(tmp_path / "rows.csv"), "--epochs", "2", "--out", str(tmp_path / "out")]) == 0
        line = (
            "the same rows, every cell as it is; 1 cell that a spreadsheet would run as a formula got an apostrophe in front in cleaned.csv"
        )
        assert (line in capsys.readouterr().out, (tmp_path / "out/cleaned.parquet").exists()) == (said, said)
        kept = [record.cells["text"] for record in read_sheet((tmp_path / "out/cleaned.csv").read_bytes(), "c", ("text",))]
        assert kept[1] == "y 1\rtwo\nthree" and len(kept) == 40
    assert pd.read_parquet(tmp_path / "out/cleaned.parquet")["text"][0] == "@x 0\rtwo\nthree"


def test_a_parquet_file_that_is_audited_where_it_lies_is_not_lost(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": [f"{'xy'[number % 2]} {number}" for number in range(40)], "label": ["a", "b"] * 20})
    frame.to_parquet(tmp_path / "cleaned.parquet")
    write_tables(audit(tmp_path / "cleaned.parquet", text="text", label="label", epochs=2), tmp_path)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "cleaned.parquet"), frame)
    # Of a file in another form, an earlier audit's is no result of this one.
    frame.to_csv(tmp_path / "rows.csv", index=False)
    write_tables(audit(tmp_path / "rows.csv", text="text", label="label", epochs=2), tmp_path)
    assert not (tmp_path / "cleaned.parquet").exists()


def test_numbers_and_dates_of_a_table_of_features_are_read_back_as_what_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 2, 300)
    columns = {"change": -kinds - rng.random(300).round(3), "seen": "2024-01-31", "mark": "=1+1", "kind": np.where(kinds, "up", "down")}
    frame = pd.DataFrame(columns)
    frame.loc[:14, "kind"] = np.where(kinds[:15], "down", "up")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    write_tables(audit(tmp_path / "rows.csv", features=True, label="kind", epochs=2, threshold=0.1), tmp_path / "out")
    suspects = pd.read_csv(tmp_path / "out/suspects.csv")
    assert len(set(suspects["row"]) & set(range(1, 16))) > 10
    assert suspects["change"].tolist() == frame["change"][suspects["row"] - 1].tolist()
    assert set(suspects["seen"]) == {"2024-01-31"} and set(suspects["mark"]) == {"'=1+1"}


def test_features_may_be_named_like_paths_of_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth, kinds = rng.integers(0, 2, 120), np.array(["p", "q"])
    columns = {name: truth + rng.normal(0.0, 0.4, 120) for name in (".width", "[kg]", "a.b")}
    frame = pd.DataFrame({**columns, "[0]": kinds[rng.integers(0, 2, 120)], "x\\y": kinds[truth], "label": np.array(["no", "yes"])[truth]})
    frame.loc[:4, "label"] = frame["label"].map({"no": "yes", "yes": "no"})
    found = audit(frame, features=True, label="label", epochs=2)
    shown = found.report(tmp_path / "page.html").read_text("utf-8")
    assert len(found.measures) == 120 and all(f"{name}=" in shown for name in (".width", "[kg]", "a.b", "[0]", "x\\y"))
    assert set(found.cleaned().columns) >= set(frame.columns)


def test_cleaned_rows_of_a_file_have_the_types_that_pandas_gives_them_and_files_the_cells_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 2, 600)
    frame = pd.DataFrame({"size": 2 * kinds + rng.random(600).round(3), "code": "007", "age": 30.0, "new": kinds == 1, "kind": kinds})
    frame.loc[:39, "kind"] = 1 - frame.loc[:39, "kind"]
    frame.loc[3, "age"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    found = audit(tmp_path / "rows.csv", features=["size", "age"], label="kind")
    cleaned, there = found.cleaned("drop-flagged"), pd.read_csv(tmp_path / "rows.csv", dtype={"code": str})
    pd.testing.assert_frame_equal(cleaned, there.iloc[cleaned.index - 1].set_axis(cleaned.index), check_dtype=False)
    assert len(cleaned) < 600
    assert "".join(kind.kind for kind in cleaned.drop(columns="code").dtypes) == "ffbi"
    write_tables(found, tmp_path / "out", "drop-flagged")
    suspects = pd.read_csv(tmp_path / "out/suspects.csv", dtype={"code": str})
    assert len(suspects) > 10 and suspects.columns.tolist()[-2:] == ["code", "new"], "what else the file has, for people to sort by"
    assert set(suspects["code"]) == {"007"} and suspects["new"].tolist() == frame["new"][suspects["row"] - 1].tolist()
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert (tmp_path / "out/cleaned.csv").read_text().splitlines() == [lines[row] for row in [0, *cleaned.index]]


def test_labels_that_a_spreadsheet_would_rewrite_stand_as_they_are_among_the_suspects(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    own = np.array([["bad", "poor", "dull"], ["good", "fine", "great"]])
    texts = [" ".join([own[one, rng.integers(3)], own[one, rng.integers(3)], f"w{row % 40}"]) for row, one in enumerate(truth.tolist())]
    given = truth.copy()
    given[:20] = 1 - given[:20]
    frame = pd.DataFrame({"text": texts, "label": np.array(["007", "True"])[given]})
    write_tables(audit(frame, text="text", label="label", epochs=2), tmp_path / "out")
    suspects = pd.read_csv(tmp_path / "out/suspects.csv", dtype=str)
    assert len(suspects) > 10 and set(suspects["label"]) | set(suspects["suggested"]) == {"007", "True"}


def test_lists_are_written_as_json(tmp_path: Path) -> None:
    rows = [{"text": f"text {number} of {'ab'[number % 2]}", "label": "xy"[number % 2], "marks": ["a", "é"]} for number in range(40)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write_tables(audit(tmp_path / "rows.jsonl", text="text", label="label", epochs=2), tmp_path / "out")
    assert set(pd.read_csv(tmp_path / "out/cleaned.csv")["marks"]) == {'["a", "é"]'}


def test_weights_have_the_decimal_comma_that_the_files_other_numbers_have(tmp_path: Path) -> None:
    rows = [(f"{'fine lovely' if number % 2 else 'dull poor'} {number}", f"-{number},5", "xy"[number % 2]) for number in range(80)]
    for separator, commas in ((";", True), (";", False), ("\t", True)):
        lines = [separator.join((text, cost if commas else cost.replace(",", "."), label)) for text, cost, label in rows]
        path = tmp_path / ("rows.csv" if separator == ";" else "rows.tsv")
        path.write_text("\n".join([separator.join(("text", "cost", "label")), *lines]) + "\n")
        write_tables(audit(path, text="text", label="label", epochs=2), tmp_path / "out", "down-weight")
        again = pd.read_csv(tmp_path / "out" / path.name.replace("rows", "cleaned"), sep=separator, decimal="," if commas else ".")
        assert again["weight"].mean() == pytest.approx(1.0) and again["cost"].tolist()[:2] == [-0.5, -1.5]


def test_the_cleaned_rows_keep_the_form_of_their_file(tmp_path: Path) -> None:
    words = {"x": "fine lovely", "y": "dull; poor"}
    rows = [{"text": f"{words['xy'[number % 2]]} {number}", "label": "xy"[number % 2], "more": {"n": number}} for number in range(80)]
    header = "text;label"
    lines = [f'"{row["text"]}";{row["label"]}' for row in rows]
    (tmp_path / "rows.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8-sig")
    write_tables(audit(tmp_path / "rows.csv", text="text", label="label", epochs=2), tmp_path / "semicolons")
    again = (tmp_path / "semicolons/cleaned.csv").read_bytes()
    assert again.startswith(b"\xef\xbb\xbftext;label\n") and b'"dull; poor 1";y\n' in again
    tabs = ["text\tlabel", *(f'a "{row["text"]}\t{row["label"]}' for row in rows)]
    (tmp_path / "rows.tsv").write_text("\n".join(tabs) + "\n")
    write_tables(audit(tmp_path / "rows.tsv", text="text", label="label", epochs=2), tmp_path / "tabs")
    assert (tmp_path / "tabs/cleaned.tsv").read_text() == (tmp_path / "rows.tsv").read_text()
    assert (tmp_path / "tabs/cleaned.csv").read_text().startswith("text,label\n")
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    found = audit(tmp_path / "rows.jsonl", text="text", label="label", epochs=2)
    write_tables(found, tmp_path / "lines")
    assert (tmp_path / "lines/cleaned.jsonl").read_text() == (tmp_path / "rows.jsonl").read_text()
    pd.DataFrame(rows).drop(columns="more").assign(n=range(80)).to_parquet(tmp_path / "rows.parquet")
    write_tables(audit(tmp_path / "rows.parquet", text="text", label="label", epochs=2), tmp_path / "typed", "down-weight")
    typed = pd.read_parquet(tmp_path / "typed/cleaned.parquet")
    assert typed["n"].tolist() == list(range(80)) and typed["weight"].mean() == pytest.approx(1.0)


@pytest.mark.parametrize("path", ["label", "ann.0.value"])
def test_new_labels_and_dropped_rows_are_in_the_copy_in_the_files_own_form(tmp_path: Path, path: str) -> None:
    rng = np.random.default_rng(5)
    words = [("fine", "lovely", "great"), ("dull", "poor", "weak")]
    labels = np.arange(800) % 2
    rows = [{"text": " ".join(rng.choice(words[label], 5)) + f" {row}", "label": int(label)} for row, label in enumerate(labels.tolist())]
    for row in range(0, 800, 16):
        rows[row]["label"] = 1 - rows[row]["label"]
    inside = [row if path == "label" else {"text": row["text"], "ann": [{"value": row["label"], "by": "Ann"}]} for row in rows]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, inside)))
    found = audit(tmp_path / "rows.jsonl", text="text", label=path, epochs=2)
    write_tables(found, tmp_path, "relabel")
    cleaned, records = found.cleaned("relabel"), [json.loads(line) for line in (tmp_path / "cleaned.jsonl").read_text().splitlines()]
    written = [record["label"] if path == "label" else record["ann"][0]["value"] for record in records]
    assert written == cleaned[path].tolist()
    assert sum(rows[number - 1]["label"] != int(label) for number, label in cleaned[path].items()) > 0
    assert all(isinstance(label, int) for label in written)
    if path != "label":
        assert [json.loads(cell[0])["value"] for cell in cleaned["ann"]] == cleaned[path].tolist()
    ranking = found.ranking
    assert len(ranking) == 800 and ranking.index[: len(found.suspects)].tolist() == found.suspects.index.tolist()
    assert (ranking["probability"].diff().dropna() <= 1e-12).all()


@pytest.mark.parametrize("decimals", [",", "."])
def test_suspects_of_a_file_with_semicolons_have_semicolons(tmp_path: Path, decimals: str) -> None:
    rows = [
        (f"{'fine; lovely' if number % 2 else 'dull, poor'} {number % 40}", f"{number}{decimals}5", number % 2) for number in range(300)
    ]
    lines = [f'"{text}";{cost};{"xy"[label ^ (number < 12)]}' for number, (text, cost, label) in enumerate(rows)]
    (tmp_path / "rows.csv").write_text("\n".join(["text;cost;label", *lines, '"";1;x']), encoding="utf-8")
    write_tables(audit(tmp_path / "rows.csv", text="text", label="label", epochs=2), tmp_path / "out")
    suspects = pd.read_csv(tmp_path / "out/suspects.csv", sep=";", decimal=decimals)
    assert len(set(suspects["row"]) & set(range(1, 13))) > 8
    assert suspects["text"].tolist() == [rows[row - 1][0] for row in suspects["row"]]
    assert suspects["probability"].dtype == float and suspects["cost"].tolist() == [row - 0.5 for row in suspects["row"]]
    assert pd.read_csv(tmp_path / "out/set-aside.csv", sep=";")["row"].tolist() == [301]
