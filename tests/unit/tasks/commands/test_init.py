"""A workspace for one's own data: what is written, what is said, and what is refused."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
import yaml

from cartograph.data.images import png_of
from cartograph.errors import InputError
from tasks.audit import fetch, ingest
from tasks.commands.init import init
from tasks.commands.profiles import PROFILES
from tasks.engine.running import run_step
from tasks.pipelines import STEPS, open_workspace, steps_of
from tests import lakes
from tests.ingesting import some_rows, write_csv
from tests.training_sets import write_files

_QNLI = ("entailment", "not_entailment")


@pytest.fixture(autouse=True)
def space(project: Path) -> Path:
    """The folder of the workspace that is made."""
    return project / "workspaces" / "reviews"


@pytest.fixture
def train(tmp_path: Path) -> str:
    return write_csv(tmp_path / "reviews.csv", "text,label", *some_rows(), ",good")


def test_makes_params_and_pipeline_and_says_what_it_understood(
    space: Path, train: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = write_csv(tmp_path / "dev.csv", "Body,label", *some_rows(10))
    other = write_csv(tmp_path / "other.csv", "Body,label", *some_rows(6))
    init("workspaces/reviews", [train], text=["text,Body"], evaluation=[f"dev={dev}", f"far={other}:ood"])
    assert sorted(path.name for path in space.iterdir()) == ["dvc.yaml", "params.yaml"]
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "train: 40 rows from reviews.csv"
    assert said[1] == "  classes  bad 20, good 20"
    assert said[2] == "  text  5 to 5 words, median 5"
    assert said[3] == "  set aside  1 of 41 rows (2.4\u00a0%): 1 empty text"
    assert "dev: 10 rows from dev.csv, in distribution" in said
    assert "far: 6 rows from other.csv, out of distribution" in said
    start = said.index("First rows of train:")
    assert said[start + 1 : start + 4] == [
        "  bad: this is sentence number 0",
        "  good: this is sentence number 1",
        "  bad: this is sentence number 2",
    ]
    assert said[-2:] == ["  python -m flows.audit --workspace workspaces/reviews", "  dvc repro workspaces/reviews/dvc.yaml"]


def test_params_are_whole_commented_and_valid(space: Path, train: str, tmp_path: Path) -> None:
    init("workspaces/reviews", [train])
    text = (space / "params.yaml").read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    models = {step.name: step.params for step in STEPS if step.params.model_fields}
    assert content.keys() == models.keys()
    for section in content.keys() - {"ingest"}:
        assert content[section] == models[section]().model_dump(mode="json") | PROFILES["standard"].get(section, {}), section
    assert content["ingest"] | {"train": []} == {
        "source": "files",
        "train": [],
        "evaluation": {},
        "text": ["text"],
        "options": [],
        "label": "label",
        "uid": None,
        "annotators": None,
        "linked": None,
        "labelled_by": None,
        "groups": [],
        "format": None,
        "encoding": None,
        "columns": [],
        "label_separator": None,
        "label_names": {},
        "labels": [],
        "unlabelled": ["-"],
        "quarantine_limit": 0.05,
        "features": [],
        "categories": [],
        "image": None,
        "image_side": 256,
        "min_class_count": 10,
        "max_characters": 10000,
        "max_megabytes": 2000.0,
    }
    keys = [line for line in text.splitlines() if line.startswith("  ") and not line.startswith("    ")]
    assert [line for line in keys if " # " not in line] == []
    assert open_workspace(space).name == "reviews"


def test_a_column_that_links_rows_is_named_and_what_it_links_is_said(
    space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{line},{'ann' if row < 8 else row // 4}" for row, line in enumerate(some_rows())]
    init("workspaces/reviews", [write_csv(tmp_path / "spoken.csv", "text,label,speaker", *lines)], linked="speaker")
    said = capsys.readouterr().out
    assert "  linked  Rows with the same `speaker` are held out together: 40 of 40 in 9 groups.\n" in said
    assert "  linked  “ann” of `speaker` is in 8 of 40 rows (20\xa0%), which are held out together, so" in said
    assert yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))["ingest"]["linked"] == "speaker"


def test_paths_inside_the_project_are_kept_relative(space: Path, train: str) -> None:
    inside = space / "train.csv"
    space.mkdir(parents=True)
    shutil.copy(train, inside)
    init("workspaces/reviews", [str(inside)])
    content = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
    assert content["ingest"]["train"] == ["workspaces/reviews/train.csv"]
    assert inside.exists()


def test_an_existing_workspace_is_replaced_only_by_force(space: Path, train: str) -> None:
    init("workspaces/reviews", [train])
    before = (space / "params.yaml").read_bytes()
    with pytest.raises(InputError, match=r"reviews is a workspace already; edit its params\.yaml, or replace that with --force"):
        init("workspaces/reviews", [train])
    with pytest.raises(InputError, match="has no column `txt`"):
        init("workspaces/reviews", [train], text=["txt"], force=True)
    assert (space / "params.yaml").read_bytes() == before
    init("workspaces/reviews", [train], label_separator=":", force=True)
    assert yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))["ingest"]["label_separator"] == ":"


def test_nothing_half_made_is_left(space: Path, train: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv does not exist; correct the path"):
        init("workspaces/reviews", [str(tmp_path / "nowhere.csv")])
    assert not space.exists()

    def full(workspace: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tasks.commands.new_workspace.write", full)
    with pytest.raises(OSError, match="No space"):
        init("workspaces/reviews/deeper", [train])
    assert not space.exists()


@pytest.mark.parametrize(
    ("workspace", "message"),
    [
        ("../elsewhere", r"elsewhere is not inside the project .*; make it under workspaces/"),
        (".", r"is not inside the project .*; make it under workspaces/"),
        ("src", r"src is neither empty nor a workspace; give a new folder, such as workspaces/src"),
        ("params.yaml", r"params\.yaml is a file; name a folder to make, such as workspaces/params"),
    ],
)
def test_a_place_that_cannot_be_a_workspace_is_refused(workspace: str, message: str, train: str, project: Path) -> None:
    (project / "src" / "cartograph").mkdir(parents=True)
    (project / "params.yaml").touch()
    with pytest.raises(InputError, match=message):
        init(workspace, [train])


def test_what_is_shown_of_the_data_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = write_csv(tmp_path / "x.csv", "text,label", *(f"\x1b[2Jcleared [red]{row}" for row in some_rows()))
    init("workspaces/reviews", [hostile])
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "  bad: \ufffd[2Jcleared [red]this is sentence number 0" in said


def test_a_model_takes_its_recipe_and_folder(space: Path, train: str, tmp_path: Path) -> None:
    init("workspaces/reviews", [train], model="transformer", pretrained=str(tmp_path))
    section = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))["train"]
    assert section["model"] == "transformer"
    assert section["pretrained"] == str(tmp_path)
    assert section["learning_rate"] == 0.00002


def test_of_a_model_that_starts_from_nothing_the_folder_is_a_frozen_encoder(space: Path, train: str, tmp_path: Path) -> None:
    init("workspaces/reviews", [train], pretrained=str(tmp_path))
    sections = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
    assert sections["train"]["model"] == "bow" and sections["train"].get("pretrained") is None
    assert sections["embed"]["pretrained"] == str(tmp_path)


def test_evaluation_sets_written_wrong_are_refused(train: str) -> None:
    with pytest.raises(InputError, match=r"--eval dev\.csv: an evaluation set is written NAME=FILE, or NAME=FILE:ood"):
        init("workspaces/reviews", [train], evaluation=["dev.csv"])
    with pytest.raises(InputError, match=r"set `dev` is given as id and as ood"):
        init("workspaces/reviews", [train], evaluation=[f"dev={train}", f"dev={train}:ood"])


def test_an_unknown_model_names_the_file_it_would_stand_in(train: str) -> None:
    with pytest.raises(InputError, match=r"workspaces/reviews/params\.yaml: `train\.model`"):
        init("workspaces/reviews", [train], model="gpt")


@pytest.mark.realdata
def test_init_says_what_it_finds_in_trec(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trec = real_data / "trec"
    init(
        "workspaces/reviews",
        [str(trec / "TREC.train")],
        evaluation=[f"test={trec}/TREC.test"],
        format="label-first",
        encoding="latin-1",
        label_separator=":",
    )
    said = capsys.readouterr().out
    assert "train: 5,452 rows from TREC.train\n  classes  ABBR 86, DESC 1,162, ENTY 1,250, HUM 1,223, LOC 835, NUM 896\n" in said
    assert "test: 500 rows from TREC.test, in distribution\n" in said
    assert "  DESC: How did serfdom develop in and then leave Russia ?\n" in said


@pytest.mark.slow
@pytest.mark.realdata
def test_init_says_what_it_finds_in_snli(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def lines(part: str) -> str:
        return f"premise={real_data}/snli/s1.{part},hypothesis={real_data}/snli/s2.{part},label={real_data}/snli/labels.{part}"

    init(
        "workspaces/reviews",
        [lines("dev"), str(real_data / "snli/counterfactual/original/train.tsv")],
        evaluation=[f"test={lines('test')}", f"diagnostics={real_data}/nli_diagnostics/diagnostic-full.tsv:ood"],
        text=["premise,sentence1,Premise"],
        text_pair="hypothesis,sentence2,Hypothesis",
        label="label,gold_label,Label",
    )
    said = capsys.readouterr().out
    assert (
        "train: 11,508 rows from s1.dev+s2.dev+labels.dev, train.tsv\n  classes  contradiction 3,828, entailment 3,891, neutral 3,789\n"
        in said
    )
    assert "diagnostics: 1,104 rows from diagnostic-full.tsv, out of distribution\n" in said
    assert "test: 9,824 rows from s1.test+s2.test+labels.test, in distribution\n" in said


def test_a_preset_names_columns_classes_and_conversions(space: Path, tmp_path: Path) -> None:
    rows = [
        f'{{"guid": "g{number}", "sentence": "It was _ {number}.", "option1": "a", "option2": "b", "answer": "{1 + number % 2}"}}'
        for number in range(12)
    ]
    target = '"target": {"span1_text": "%s", "span1_index": %d, "span2_text": "she", "span2_index": 3}'
    schemas = [
        f'{{"text": "Ann told Bea she won.", {target % (noun, place)}, "label": {label}}}'
        for noun, place, label in (("Ann", 0, "true"), ("Bea", 2, "false"))
    ]
    for name, lines in (("train", rows), ("wsc", schemas)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    init("workspaces/reviews", [str(tmp_path / "train.jsonl")], evaluation=[f"wsc={tmp_path / 'wsc.jsonl'}:ood"], preset="winogrande")
    ingest = open_workspace(space).settings["ingest"]
    assert (ingest.options, ingest.label, ingest.uid) == ((("option1",), ("option2",)), ("answer",), ("guid",))
    assert ingest.evaluation["wsc"].files[0].format == "wsc"
    assert ingest.train[0].format is None


def test_a_preset_leaves_out_columns_that_a_file_lacks(space: Path, tmp_path: Path) -> None:
    lines = [
        "premise\thypothesis\tlabel",
        *(f"a {number}\tb\t{['entailment', 'neutral', 'contradiction'][number % 3]}" for number in range(12)),
    ]
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n")
    init("workspaces/reviews", [str(tmp_path / "train.tsv")], preset="snli", text=["premise"], text_pair="hypothesis")
    ingest = open_workspace(space).settings["ingest"]
    assert (ingest.uid, ingest.annotators, ingest.text) == ((), (), (("premise",), ("hypothesis",)))
    assert ingest.labels == ("entailment", "neutral", "contradiction")
    assert ingest.groups[2] == "Logic"


def test_both_columns_of_pairs_may_be_named_by_text(space: Path, tmp_path: Path) -> None:
    rows = [f"a {number},b {number},{number % 2}" for number in range(12)]
    (tmp_path / "train.csv").write_text("\n".join(["one,two,label", *rows]) + "\n")
    init("workspaces/reviews", [str(tmp_path / "train.csv")], text=["one", "two"])
    assert open_workspace(space).settings["ingest"].text == (("one",), ("two",))
    for text, pair in ((["one", "two"], "label"), (["one", "two", "label"], ""), (["one", ""], "")):
        with pytest.raises(InputError, match="expected one text column, or two for pairs, but got 'one', "):
            init("workspaces/reviews", [str(tmp_path / "train.csv")], text=text, text_pair=pair, force=True)
    assert open_workspace(space).settings["ingest"].text == (("one",), ("two",)), "nothing is overwritten"


def test_multinli_is_read_as_glue_has_it(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = ("entailment", "neutral", "contradiction")
    head = ["index", "promptID", "pairID", "genre", "sentence1", "sentence2", "label1", "gold_label"]
    rows = [[str(n), "31193", f"{n}n", "government", f"A law {n}.", f"It says {n}.", labels[n % 3], labels[n % 3]] for n in range(30)]
    (tmp_path / "train.tsv").write_text("\n".join("\t".join(row) for row in (head, *rows)) + "\n")
    voted = [*head[:-1], "label2", "label3", "label4", "label5", "gold_label"]
    dev = [[*row[:-1], *[row[-1]] * 4, row[-1]] for row in rows[:9]] + [[*rows[9][:-1], *["neutral"] * 4, "-"]]
    (tmp_path / "dev.tsv").write_text("\n".join("\t".join(row) for row in (voted, *dev)) + "\n")
    init("workspaces/reviews", [str(tmp_path / "train.tsv")], evaluation=[f"matched={tmp_path / 'dev.tsv'}"], preset="multinli")
    ingest = open_workspace(space).settings["ingest"]
    assert (ingest.uid, ingest.label[0], ingest.labels) == (("pairID",), "gold_label", labels)
    said = capsys.readouterr().out
    assert "train: 30 rows from train.tsv\n  classes  entailment 10, neutral 10, contradiction 10\n" in said
    assert "matched: 9 rows from dev.tsv, in distribution\n" in said


def test_qnli_is_read_as_glue_has_it(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{n}\tWhat is {n}?\t{n} is a number.\t{('entailment', 'not_entailment')[n % 2]}" for n in range(20)]
    (tmp_path / "train.tsv").write_text("\n".join(["index\tquestion\tsentence\tlabel", *rows]) + "\n")
    init("workspaces/reviews", [str(tmp_path / "train.tsv")], preset="qnli")
    ingest = open_workspace(space).settings["ingest"]
    assert (ingest.text, ingest.uid) == ((("question",), ("sentence",)), ("index",))
    assert "train: 20 rows from train.tsv\n  classes  entailment 10, not_entailment 10\n" in capsys.readouterr().out


def test_the_papers_recipe_is_that_of_the_presets_task(space: Path, tmp_path: Path) -> None:
    write_csv(
        tmp_path / "train.tsv",
        "index\tquestion\tsentence\tlabel",
        *(f"{row}\twho {row}?\tit is {row}.\t{_QNLI[row % 2]}" for row in range(40)),
    )
    train = [str(tmp_path / "train.tsv")]
    init("workspaces/reviews", train, preset="qnli", model="transformer", pretrained="x/y", recipe="paper")
    params = open_workspace(space).settings["train"]
    assert (params.epochs, params.batch_size, params.learning_rate, params.schedule_epochs) == (5, 96, 2.4722e-5, 20)  # type: ignore[attr-defined]
    assert (params.model, params.pretrained, params.max_length) == ("transformer", "x/y", 128)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"recipe": "fast"}, "--recipe fast: there is no such recipe; there is paper"),
        ({"recipe": "paper"}, "name one with --preset: snli, multinli, qnli, winogrande"),
        ({"recipe": "paper", "preset": "qnli", "text": ["text"]}, "the model is bow; add --model transformer --pretrained FOLDER"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(train: str, given: dict[str, str | list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        init("workspaces/reviews", [train], **{"label": "label", **given})  # type: ignore[arg-type]


def test_an_unknown_preset_is_refused(train: str) -> None:
    with pytest.raises(InputError, match="--preset sst: there is no such preset; there are snli, multinli, qnli, winogrande"):
        init("workspaces/reviews", [train], preset="sst")


def test_a_file_at_a_url_is_fetched_once_for_init_and_the_first_audit(space: Path, train: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = Path(train).as_uri()
    init("workspaces/reviews", [url])
    assert "train: 40 rows from reviews.csv" in capsys.readouterr().out
    audit = open_workspace(space)
    assert audit.settings["ingest"].train[0].path == url  # type: ignore[attr-defined]
    assert [step.name for step in steps_of(audit.settings)][:2] == ["fetch", "ingest"]
    assert "workspaces/reviews/data/fetch" in (space / "dvc.yaml").read_text()
    assert run_step(fetch.STEP, audit).receipt.summary == "1 files, 0.0 MB, 0 fetched"
    run_step(ingest.STEP, audit)
    assert not run_step(fetch.STEP, audit).executed


def test_a_workspace_is_made_for_a_folder_of_images(space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    files = {
        f"{label}/{number}.png": png_of(rng.integers(0, 255, (9, 12, 3), dtype=np.uint8), 99) for label in "ab" for number in range(12)
    }
    init("workspaces/reviews", [str(write_files(tmp_path / "photos", files))], image="image")
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["train: 24 rows from photos", "  classes  a 12, b 12", "  image  12 to 12 pixels wide, 9 to 9 high, colour"]
    content = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
    assert content["train"]["model"] == "cnn" and content["features"]["source"] == "pixels" and content["ingest"]["text"] == []
    assert open_workspace(space).settings["ingest"].image == ("image",)  # type: ignore[attr-defined]


def test_force_does_not_replace_the_parameters_of_a_running_audit(space: Path, train: str) -> None:
    init("workspaces/reviews", [train])
    before = (space / "params.yaml").read_bytes()
    with open_workspace(space).lock("an audit"):
        with pytest.raises(InputError, match=r"is busy: `an audit` \(process \d+ on .*\) holds it"):
            init("workspaces/reviews", [train], text=["text"], label_separator=":", force=True)
        assert (space / "params.yaml").read_bytes() == before
    init("workspaces/reviews", [train], text=["text"], label_separator=":", force=True)
    assert (space / "params.yaml").read_bytes() != before


@pytest.mark.parametrize(
    ("name", "said"), [("n" * 300, "at most 100 bytes"), ("a/" * 200 + "b", "at most 100 bytes"), ("a\nb", "no line ends")]
)
def test_a_name_that_no_workspace_can_have_is_refused(train: str, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        init(f"workspaces/{name}", [train])
    with pytest.raises(InputError, match=r"^workspace "):
        open_workspace(f"workspaces/{name}")


@pytest.mark.parametrize("path", ["f" * 300 + ".csv", "a\0b.csv", "d/" * 3000 + "x.csv"])
def test_a_path_that_no_file_can_have_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="cannot be the path of a file"):
        init("workspaces/reviews", [path])


def test_a_column_whose_name_has_a_comma_can_be_named(space: Path, tmp_path: Path) -> None:
    table = "\n".join(['"text, raw",label', *some_rows()])
    (tmp_path / "rows.csv").write_text(table + "\n")
    init("workspaces/reviews", [str(tmp_path / "rows.csv")], text=["body,text\\, raw"])
    assert yaml.safe_load((space / "params.yaml").read_text())["ingest"]["text"] == [["body", "text, raw"]]


def test_a_workspace_is_made_for_a_query(
    space: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = sqlite3.connect(tmp_path / "reviews.db")
    connection.execute("create table reviews (text text, label text, held integer)")
    connection.executemany(
        "insert into reviews values (?, ?, ?)", [(*line.split(","), place > 30) for place, line in enumerate(some_rows())]
    )
    connection.commit()
    monkeypatch.setenv("REVIEWS_DB", f"sqlite:///{tmp_path}/reviews.db")
    asked = {
        "database": "env:REVIEWS_DB",
        "query": "select text, label from reviews where not held",
        "watermark": "select count(*) from reviews",
    }
    init("workspaces/reviews", evaluation=["test=SELECT text, label FROM reviews WHERE held"], **asked)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "train: 31 rows from REVIEWS_DB.parquet"
    assert "test: 9 rows from REVIEWS_DB.parquet, in distribution" in said
    content = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
    assert content["ingest"]["train"] == [asked]
    assert content["fetch"]["follow"] is True
    for wrong in ({"train": ["x.csv"], **asked}, {}, {"query": "select 1"}, {"train": ["x.csv"], "watermark": "select 1"}):
        with pytest.raises(InputError, match=r"--train|--database|--query"):
            init("workspaces/others", **wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_workspace_is_made_for_a_table_which_it_pins(
    kind: str, space: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = lakes.delta(tmp_path) if kind == "delta" else lakes.iceberg(tmp_path, monkeypatch)
    first, second = lake.write(lakes.rows(0, 30)), lake.write(lakes.rows(30, 50))
    name, options = lake.entry["table"], {"catalog": lake.entry.get("catalog", "")}
    init("workspaces/reviews", table=name, evaluation=[f"test=table:{name}@{first}"], columns="id,text,label", uid="id", **options)
    said = capsys.readouterr().out
    assert f"{name}: {kind.title()} table, {lake.version} {second}, columns id, text, label; its entry in params.yaml pins this" in said
    assert "train: 50 rows from" in said
    assert "test: 30 rows from" in said
    content = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
    assert content["ingest"]["train"] == [{**lake.entry, lake.version: second, "columns": ["id", "text", "label"]}]
    assert content["ingest"]["evaluation"]["test"]["files"] == [{**lake.entry, lake.version: first}]
    assert content["fetch"]["follow"] is False
    assert run_step(fetch.STEP, open_workspace(space)).receipt.summary.startswith("2 files, 0.0 MB, 0 fetched")


def test_a_table_may_be_followed_and_wrong_options_are_named(space: Path, tmp_path: Path) -> None:
    lake = lakes.delta(tmp_path)
    lake.write(lakes.rows(0, 30))
    name = lake.entry["table"]
    init("workspaces/reviews", table=name, follow=True)
    content = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
    assert (content["ingest"]["train"], content["fetch"]["follow"]) == ([lake.entry], True)
    for wrong in ({"table": name, "train": ["x.csv"]}, {"train": ["x.csv"], "catalog": "env:X"}, {"table": f"{name}@77"}):
        with pytest.raises(InputError, match=r"--table|has no (version|snapshot) 77"):
            init("workspaces/others", **wrong)
