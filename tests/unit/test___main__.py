"""The command `cartograph`, where only the library is installed."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cartograph.__main__ import main
from tests.speakers import made_up


def test_a_sheet_of_a_workbook_is_named_behind_its_path_and_others_are_named_where_the_first_has_no_such_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"text": [f"{word} day {place}" for place in range(20) for word in ("good", "bad")], "label": ["yes", "no"] * 20})
    with pd.ExcelWriter("book.xlsx") as book:
        pd.DataFrame({"Category": ["yes"], "Count": [20]}).to_excel(book, sheet_name="Summary", index=False)
        rows.to_excel(book, sheet_name="Data", index=False)
    assert main(["audit", "book.xlsx", "--text", "text", "--label", "label"]) == 2
    assert "has no column `text`; its columns are Category, Count; only its first sheet, `Summary`, was" in capsys.readouterr().err
    assert main(["audit", "book.xlsx:Data", "--text", "text", "--label", "label", "--epochs", "2"]) == 0
    assert "40 rows, 2 classes" in capsys.readouterr().out
    assert len(pd.read_csv("book-audit/cleaned.csv")) == 40
    page = (tmp_path / "book-audit/report.html").read_text()
    assert "cartograph audit book.xlsx:Data --text text" in page
    assert "cleaned.csv: 40 rows, all of them: how many labels are wrong is not known closely enough for one to be changed" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv", "--text", "review", "--label", "kind"], "absent.csv does not exist"),
        (
            ["rows.csv", "--text", "reviews", "--label", "kind"],
            "rows.csv has no column `reviews`; its columns are review, kind; did you mean",
        ),
        (["rows.csv", "--text", "review", "--label", "kind", "--threshold", "2"], "threshold must be in (0, 1)"),
        (
            ["rows.csv", "--text", "review", "--label", "kind", "--epochs", "1"],
            "epochs must be 2 or more, a whole number, or auto, but is 1.",
        ),
        (["rows.csv", "--text", "review", "--label", "kind", "--seed", "-1"], "--seed must be 0 or more, but is -1."),
        (
            ["rows.csv"],
            "rows.csv has no column `text`; its columns are review, kind. Name the texts with --text and the labels with --label; a table",
        ),
        (["rows.csv", "--text", "review"], "has no column `label`; its columns are review, kind. Name the texts with --text and"),
        (
            ["rows.csv", "--text", "review", "--label", "kind", "--labels", "kind"],
            "with --labels where a row has several labels; not both.",
        ),
        (
            ["rows.csv", "--text", "review", "--label", "kind", "--encoding", "klingon"],
            "`klingon` is not a text encoding; set `encoding` to",
        ),
        (
            ["rows.csv", "--text", "review", "--features", "--label", "kind"],
            "--text reads texts alone, --features all columns of a table, ",
        ),
        (["rows.csv", "--text", "review", "--label", "kind", "--labelled-by", "kinds"], "rows.csv has no column `kinds`; its columns are"),
        (["", "--text", "review", "--label", "kind"], "FILE is empty; name the file to audit."),
        (["rows.csv", "--text", "review", "--label", "kind", "--out", "rows.csv"], "rows.csv cannot be read or written: File exists."),
        (
            ["rows.csv", "--text", "review", "--label", "kind", "--out", "rows.csv/in"],
            "rows.csv/in cannot be read or written: Not a",
        ),
    ],
)
def test_what_it_cannot_use_is_an_error_in_a_sentence_and_nothing_is_written(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("review,kind\ngood,a\nbad,b\n")
    assert main(["audit", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ") and message in shown.err and "training" not in shown.out
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_of_a_folder_of_images_it_says_what_audits_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        Image.new("RGB", (4, 4)).save(tmp_path / label / "1.png")
    assert main(["audit", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "reads no images; in Cartograph's project `make audit DATA=FOLDER IMAGE=image` audits a folder" in capsys.readouterr().err


def test_of_one_class_it_says_that_no_suspects_could_be_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("text,label\n" + "".join(f"word {row},a\n" for row in range(40)))
    assert main(["audit", "rows.csv", "--epochs", "2"]) == 0
    assert "suspects.csv: no suspects, since none could be looked for\n" in capsys.readouterr().out


def test_columns_that_could_be_read_beside_the_text_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{row},{'good' if row % 2 else 'bad'} film number {row % 9},{row % 5 + 1},ann,c{row % 3},{'AB'[row % 2]}" for row in range(120)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["id,text,stars,rated_by,shop,label", *rows]))
    assert main(["audit", "rows.csv", "--epochs", "2"]) == 0
    line = "`text` alone is read; `stars` and `shop` are not: with --features in place of --text all columns are read together\n"
    assert line in capsys.readouterr().out
    (tmp_path / "rows.csv").write_text("\n".join(["id,text,label", *(re.sub(",\\d,ann,c\\d", "", row) for row in rows)]))
    assert main(["audit", "rows.csv", "--epochs", "2"]) == 0
    assert "alone is read" not in capsys.readouterr().out


def test_few_doubts_have_a_threshold_that_lists_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = np.random.default_rng(1).integers(0, 9, (160, 6))
    # Six rows have as many words of either class.
    rows = [
        " ".join(f"{'ab'[(row + (row < 6 and place % 2)) % 2]}{word}" for place, word in enumerate(own)) + f",{'ab'[row % 2]}\n"
        for row, own in enumerate(words)
    ]
    Path("rows.csv").write_text("text,label\n" + "".join(rows))
    assert main(["audit", "rows.csv", "--epochs", "2"]) == 0
    shown = capsys.readouterr().out
    found = re.search(r"no suspects; (--threshold \S+) lists the (\d+) rows? doubted most\n", shown)
    assert found and 1 <= int(found[2]) < 50


@pytest.mark.slow
def test_it_says_how_a_table_was_read_what_was_left_out_and_which_column_tells_the_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f'{row},name {row},"{row % 7},{row % 9}0",$1{row % 3},{row % 13 if row % 5 else "on account"},{"ab"[row % 2]},{"AB"[row % 2]}'
        for row in range(600)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["number,name,share,price,paid,grade,label", *rows]))
    assert main(["audit", "rows.csv", "--features"]) == 0
    shown = capsys.readouterr().out
    assert "4 columns: 2 numbers and 2 categories\n" in shown
    assert "`paid`, mostly numbers, is read as categories, since `on account` can't be read as numbers; correct or" in shown
    aside = (
        "left out (names that hardly repeat, row numbers, who labelled, empty, marked so): `number` and `name`; to read them, name them "
    )
    assert f"{aside}and every other column to read with --feature" in shown
    assert "`grade` alone predicts the label of (nearly) every row" in shown
    assert "; how many labels are wrong cannot be estimated: `grade` tells the label of (nearly) every row by itself" in shown
    page = (tmp_path / "rows-audit/report.html").read_text()
    assert "`grade` alone predicts the label of (nearly) every row" in page
    assert (
        "Columns that were not read (names that hardly repeat, row numbers, who labelled, empty, marked so): “number” and “name”." in page
    )


@pytest.mark.slow
def test_rows_that_a_column_links_are_held_out_together_which_it_says_and_so_does_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = made_up(120, 0.1, 2)
    wrong = set((np.flatnonzero(rows.pop("wrong")) + 1).tolist())
    rows.assign(speaker=rows["speaker"].where(rows.index > 80, "ann")).to_csv("rows.csv", index=False)
    assert main(["audit", "rows.csv", "--linked", "speaker", "--out", "odd"]) == 0
    shown = capsys.readouterr().out
    assert (
        "Rows with the same `speaker` are held out together: " in shown
        and "\n“ann” of `speaker` is in 81 of 600 rows (14\xa0%), which" in shown
    )
    rows.to_csv("rows.csv", index=False)
    found = {}
    for name, options in (("without", []), ("with", ["--linked", "speaker"])):
        assert main(["audit", "rows.csv", "--out", name, *options]) == 0
        found[name] = set(pd.read_csv(f"{name}/suspects.csv")["row"])
    assert not found["without"] & wrong and len(found["with"] & wrong) > 10
    page = Path("with/report.html").read_text()
    assert "Rows with the same `speaker` are held out together: 600 of 600 in 120 groups." in page
    assert "cartograph audit rows.csv --text text --label label --linked speaker" in page
    assert main(["audit", "rows.csv", "--linked", "speakers"]) == 2
    assert capsys.readouterr().err.endswith("its columns are text, label, speaker; did you mean `speaker`?\n")


@pytest.mark.slow
def test_class_names_that_differ_in_form_and_placeholders_are_named_on_the_terminal_and_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = ["Yes" if row == 7 else "n/a" if row < 6 else "yes" if row % 2 else "no " if row == 8 else "no" for row in range(60)]
    rows = [f"{'good' if row % 2 else 'bad'} w{row},{label}" for row, label in enumerate(labels)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["audit", "rows.csv"]) == 0
    shown, page = capsys.readouterr().out, (tmp_path / "rows-audit/report.html").read_text()
    same = "Some classes may be the same under different names: `Yes` 1 row, `yes` 26; if they are one class, write them alike"
    missing = "Some classes may stand for a missing label: `n/a` 6 rows; if these rows have no label, leave it empty in the data"
    assert same in shown and same in page and missing in shown and missing in page
    assert "Labels with blanks around them, which are read as without, and left as they are in `cleaned.csv`: 1 (as `no `)." in shown


@pytest.mark.slow
def test_several_labels_in_one_cell_are_named_on_the_terminal_and_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = ["war; love", "war; sea", "sea; love", "war"]
    rows = [f"{labels[row % 4].replace(';', ' and')} w{row},{labels[row % 4]}" for row in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["audit", "rows.csv"]) == 0
    shown, page = capsys.readouterr().out, (tmp_path / "rows-audit/report.html").read_text()
    joined = "Some classes may be several labels in one cell, such as `war; sea`: 4 classes are made of 3 names."
    assert joined in shown and joined in page


@pytest.mark.slow
def test_an_empty_label_is_the_way_out_of_a_placeholder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{'good' if row % 2 else 'bad'} w{row},{'' if row < 6 else 'yes' if row % 2 else 'no'}" for row in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["audit", "rows.csv"]) == 0
    shown = capsys.readouterr().out
    assert "6 rows of 60 set aside: 6 no label" in shown and "Some classes may stand for" not in shown


def test_help_needs_no_heavy_library() -> None:
    code = "import sys, cartograph.__main__ as m; m._parser()\nprint(sorted({'numpy', 'pandas', 'torch', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_a_bare_command_reads_text_and_label_in_whatever_encoding_the_file_is_and_its_page_says_how_to_make_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [["schön", "prächtig", "köstlich", "fröhlich"], ["übel", "häßlich", "öde", "grässlich"]]
    lines = [f"{words[row % 2][row // 2 % 4]} und Nummer {row % 7};{['gut', 'schlecht'][row % 2]}" for row in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["text;label", *lines]), encoding="cp1252")
    assert main(["audit", "rows.csv"]) == 0
    shown = capsys.readouterr().out
    assert "rows.csv is not UTF-8; it is read as cp1252 (another: --encoding NAME)\n60 rows, 2 classes\n" in shown
    assert "; how many labels are wrong cannot be estimated: 60 rows are too few; without that number none is sure enough to " in shown
    assert "cartograph audit rows.csv --text text --label label --encoding cp1252" in (tmp_path / "rows-audit/report.html").read_text()
    assert "schön und Nummer" in (tmp_path / "rows-audit/cleaned.csv").read_text(encoding="cp1252")


@pytest.mark.slow
def test_a_file_without_a_header_has_its_columns_named_by_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{row},{'a good film' if row % 2 else 'a bad film'} number {row % 7},{'good' if row % 2 else 'bad'}" for row in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    assert main(["audit", "rows.csv"]) == 2
    assert "`--columns ,text,label` in `init` and `cartograph audit`" in capsys.readouterr().err
    assert main(["audit", "rows.csv", "--columns", ",text,label"]) == 0
    assert "60 rows, 2 classes\n" in capsys.readouterr().out


@pytest.mark.slow
def test_it_says_how_many_of_how_many_rows_stay_where_some_were_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{['good', 'bad'][row % 2]} film number {row},{'ab'[row % 2]}" for row in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows, ",a", "good film,"]))
    assert main(["audit", "rows.csv"]) == 0
    shown = capsys.readouterr().out
    assert "rows-audit/cleaned.csv: 60 of 62 rows (2 set aside), all that could be used: " in shown


@pytest.mark.parametrize("arguments", [["missing.csv"], ["rows.csv", "--text", "txt"], ["rows.csv", "--text", "text", "--labels", "tags"]])
def test_a_file_that_is_not_as_it_was_said_to_be_is_refused_before_anything_that_trains_is_imported(
    arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("text,label\ngood,a\nbad,b\n")
    program = f"import sys; from cartograph.__main__ import main; code = main({['audit', *arguments]}); print(code, 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "2 False\n"


def test_a_folder_that_cannot_be_written_to_is_found_out_before_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("text,label\ngood,a\nbad,b\n")

    def refused(dir: Path) -> None:
        raise PermissionError(13, "Permission denied", str(dir / "tmp1"))

    monkeypatch.setattr("cartograph.__main__.TemporaryFile", refused)
    assert main(["audit", "rows.csv", "--out", "results"]) == 2
    shown = capsys.readouterr()
    assert shown.err == "error: results cannot be read or written: Permission denied.\n" and "training" not in shown.out


def test_a_model_that_has_not_learnt_is_said_with_what_to_raise_and_epochs_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = [f"{' '.join(rng.choice([f'w{n}' for n in range(300)], 4))} {'good' if row % 2 else 'bad'},{row % 2}" for row in range(300)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["audit", "rows.csv", "--epochs", "2"]) == 0
    shown = capsys.readouterr().out
    assert "The model has not learnt these data: after 2 epochs it " in shown and "Audit them with more than 2 epochs" in shown
    assert "cartograph audit rows.csv --text text --label label --epochs 2" in (tmp_path / "rows-audit/report.html").read_text()


def test_where_no_row_is_a_suspect_it_says_how_to_list_those_doubted_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = [
        f"{' '.join(rng.choice([f'w{n}' for n in range(9)], 3))} {'good' if row % 2 else 'bad'},{rng.random() < 0.8}" for row in range(90)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["audit", "rows.csv", "--threshold", "0.999", "--epochs", "2"]) == 0
    shown = capsys.readouterr().out
    found = re.search(r"rows-audit/suspects\.csv: no suspects; (--threshold \S+) lists the (\d+) rows doubted most\n", shown)
    assert found is not None and 50 <= int(found[2]) <= 90
    assert main(["audit", "rows.csv", *found[1].split(), "--epochs", "2"]) == 0
    only_ranks = "; without an estimate of how many labels are wrong, its `probability` only ranks"
    assert f"rows-audit/suspects.csv: the suspects, most suspect first{only_ranks}\n" in capsys.readouterr().out
    listed = pd.read_csv("rows-audit/suspects.csv")
    assert len(listed) == int(found[2])
    # Few are listed, and nobody knows how many are wrong.
    assert main(["audit", "rows.csv", "--threshold", str(listed["probability"][3]), "--epochs", "2"]) == 0
    shown = capsys.readouterr().out
    found = re.search(r"suspects\.csv: the suspects, most suspect first; --threshold \S+ lists the (\d+) rows doubted most; ", shown)
    assert found is not None and 50 < int(found[1]) <= 90


@pytest.mark.slow
def test_an_interruption_ends_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,label\n" + "".join(f"word {row},{row % 2}\n" for row in range(90)))
    program = (
        # A shell that runs tests in the background lets its children ignore interruptions.
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from cartograph.frames import terminal; terminal.EVERY_SECONDS = 0.0; "
        "from cartograph.__main__ import main; sys.exit(main(['audit', 'rows.csv', '--epochs', '100000']))"
    )
    running = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with running:
        assert running.stdout is not None
        # Once it trains: while Python imports, an interruption may be lost.
        assert any(" examples, " in line for line in running.stdout)
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=120)[1]
    assert (running.returncode, said) == (130, "\nstopped before its results were whole; run the command again.\n")
    assert not (tmp_path / "rows-audit/suspects.csv").exists()


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_how_far_each_part_is_in_a_line_that_goes_away(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ["good fun", "fine film", "good plot", "bad film", "dull plot", "bad"] * 20
    pd.DataFrame({"text": texts, "label": (["pos"] * 3 + ["neg"] * 3) * 20}).to_csv("rows.csv", index=False)
    shown = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("cartograph.frames.terminal.LONG_SECONDS", 0.0)
    monkeypatch.setattr("cartograph.frames.terminal._BETWEEN", 0.0)
    monkeypatch.setattr("cartograph.frames.terminal.EVERY_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr", shown)
    assert main(["audit", "rows.csv"]) == 0
    lines = shown.getvalue().split("\r\x1b[K")
    said = capsys.readouterr().out
    assert (" examples, " in said) is not terminal
    assert ("  10 of 10 folds of models, judging labels, " in said) is not terminal
    if not terminal:
        assert lines == [""]
        return
    assert re.fullmatch(r"  training: [0-9,]+ of [0-9,]+ examples, [0-9,.]+/s, .* left", lines[2])
    assert lines[-2].startswith("  judging labels: 10 of 10 folds of models") and lines[-1] == ""


def test_a_class_that_the_models_do_not_know_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    words = {"good": [f"fine{n}" for n in range(20)], "bad": [f"poor{n}" for n in range(20)]}
    rows = [f"{' '.join(rng.choice(words[kind], 6))},{kind}" for kind in rng.choice(["good", "bad"], 600)]
    rows += [f"{' '.join(rng.choice(words['good'], 6))},odd" for _ in range(7)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["audit", "rows.csv", "--epochs", "2"]) == 0
    shown = capsys.readouterr().out
    assert "The suspects include 7 of the 7 rows of `odd`: the models do not know this class from the others" in shown
    assert "rows-audit/suspects.csv: the suspects, most suspect first\n" in shown


@pytest.mark.slow
@pytest.mark.parametrize("features", [False, True])
def test_what_a_number_cannot_say_is_on_the_terminal_as_on_the_page(
    features: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    words = {"good": [f"fine{n}" for n in range(20)], "bad": [f"poor{n}" for n in range(20)]}
    kinds = rng.choice(["good", "bad"], 600)
    given = [{"good": "bad", "bad": "good"}[kind] if row < 40 else kind for row, kind in enumerate(kinds)]
    if features:
        rows = ["size,label", *(f"{rng.normal() + 6 * (kind == 'good'):.3f},{label}" for kind, label in zip(kinds, given, strict=True))]
    else:
        rows = ["text,label", *(f"{' '.join(rng.choice(words[kind], 6))},{label}" for kind, label in zip(kinds, given, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    assert main(["audit", "rows.csv", "--epochs", "2", *(["--features"] if features else [])]) == 0
    shown, page = capsys.readouterr().out, (tmp_path / "rows-audit/report.html").read_text()
    what = "outcomes, such as a decision or a result" if features else "facts that the texts do not decide"
    said = next(line for line in shown.splitlines() if line.startswith(f"If these labels are {what}"))
    assert said.endswith("like wrong labels.") and said in page
