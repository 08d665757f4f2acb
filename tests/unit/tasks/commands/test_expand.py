"""The command `expand` as it is typed: from a file without labels to a sheet of what to label next."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import softmax

from cartograph.data.spreadsheet import Record, read_sheet
from cartograph.maps.measures import Measures
from cartograph.maps.table import map_table
from cartograph.schema import LINKED, DatasetInfo, examples_schema
from cartograph.train.fit import fit
from cartograph.train.inference import infer
from cartograph.train.recipe import Recipe
from tasks.__main__ import main
from tests.workspaces import open_new, save

INFO = DatasetInfo("train", "train", "single", ("text",), (), ("bad", "good"))
WORDS = [f"word{number}" for number in range(30)]


def text(rng: np.random.Generator, unsure: bool) -> str:
    return " ".join([*rng.choice(WORDS, 6), "perhaps" if unsure else "surely"])


@pytest.fixture(autouse=True)
def space(project: Path) -> Path:
    """The folder of an audit with 200 rows, of which those with the word `perhaps` are variable."""
    path = project / "workspaces" / "reviews"
    open_new(path, ingest={"source": "files", "train": "t.csv", "text": "text", "uid": "id"})
    rng = np.random.default_rng(1)
    unsure = rng.random(200) < 0.3
    uids = [f"u{row:03d}" for row in range(200)]
    columns = [uids, [text(rng, one) for one in unsure], pa.array(np.arange(200) % 2, pa.int32()), ["t.csv"] * 200, list(range(1, 201))]
    examples = pa.Table.from_arrays([pa.array(values) for values in columns], schema=examples_schema(INFO))
    variability = np.where(unsure, 0.4, 0.1) + rng.normal(0, 0.02, 200)
    save(examples, path / "data/ingest/train.parquet")
    measures = map_table(uids, np.arange(200) % 2, Measures(np.where(unsure, 0.5, 0.9), variability, np.ones(200)))
    save(measures, path / "data/measure/measures.parquet")
    return path


@pytest.fixture
def pool(tmp_path: Path, space: Path) -> Path:
    """A file of 60 rows: every third unsure, and four that are left out."""
    rng = np.random.default_rng(2)
    rows = [text(rng, number % 3 == 0) for number in range(60)]
    known = pq.read_table(space / "data/ingest/train.parquet")["text"][4].as_py()
    rows += [f"  {known.upper()} ", rows[0], "", rows[1].replace(" ", "  ")]
    path = tmp_path / "pool.csv"
    path.write_text("id,text\n" + "".join(f'p{number},"{row}"\n' for number, row in enumerate(rows)), encoding="utf-8")
    return path


def expand(*arguments: str, code: int = 0) -> None:
    assert main(["expand", *arguments, "--workspace", "workspaces/reviews"]) == code


def lines(path: Path) -> list[Record]:
    return read_sheet(path.read_bytes(), path.name, ("rank", "text", "label"))


def test_what_is_known_of_the_map_is_not_known_by_linked_rows(space: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = space / "data/ingest/train.parquet"
    speaker = np.arange(200) // 4
    examples = pq.read_table(path)
    texts = pa.array([f"all that speaker{number} says of thing{number}" for number in speaker])
    examples = examples.set_column(1, examples.schema.field("text"), texts)
    variability = np.random.default_rng(3).random(50)[speaker]
    confidence = np.where(variability > 0.5, 0.5, 0.9)
    measures = map_table(examples["uid"].to_pylist(), np.arange(200) % 2, Measures(confidence, variability, np.ones(200)))
    save(measures, space / "data/measure/measures.parquet")
    unknown = "no better than a random one"
    save(examples, path)
    expand(str(pool))
    assert unknown not in capsys.readouterr().out
    save(examples.append_column(LINKED, pa.array(speaker, pa.int32())), path)
    expand(str(pool))
    assert unknown in capsys.readouterr().out


def test_a_sheet_lists_what_to_label_next(space: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expand(str(pool), "--rows", "25")
    said = capsys.readouterr().out
    assert f"{pool}: 64 rows, 1 have an empty text, 1 are in the train set, 2 repeat another." in said
    assert "25 rows to label next, expected variability" in said and "(all 60:" in said
    assert "How well texts show which rows of this map are ambiguous: rank correlation 0." in said
    found = lines(space / "reports/expand.csv")
    assert [record.cells["rank"] for record in found] == [str(rank) for rank in range(1, 26)]
    assert all("perhaps" in record.cells["text"] for record in found[:20])
    assert all("surely" in record.cells["text"] for record in found[20:])
    assert {record.cells["label"] for record in found} == {""}
    assert {record.cells["like_label"] for record in found} <= {"bad", "good"}
    first = found[0].cells
    assert first["file"] == "pool.csv" and first["uid"] == f"p{int(first['row']) - 1}"
    assert "perhaps" in first["like_text"] and first["like_uid"].startswith("u")
    before = (space / "reports/expand.csv").read_bytes()
    expand(str(pool), "--rows", "25")
    assert (space / "reports/expand.csv").read_bytes() == before


def test_the_model_that_drew_the_map_decides_where_there_is_one(space: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = pq.read_table(space / "data/ingest/train.parquet")
    fitted = fit(Recipe(epochs=2, threads=1, device="cpu"), examples, {}, space / "fit")
    shutil.copytree(fitted.model, space / "data/train/model")
    expand(str(pool), "--rows", "60")
    said = capsys.readouterr().out
    assert "They are sorted by how uncertain the model behind the map is, most uncertain first." in said
    assert "probability of another label than the likeliest" in said
    found = lines(space / "reports/expand.csv")
    unsure = [float(record.cells["unsure"]) for record in found]
    assert unsure == sorted(unsure, reverse=True) and 0 < unsure[-1] < unsure[0] <= 0.5
    table = pa.table({name: [record.cells[name] for record in found] for name in ("uid", "text")})
    columns = [table["uid"], table["text"], pa.array([0] * 60, pa.int32()), ["p"] * 60, list(range(60))]
    rows = pa.Table.from_arrays([pa.array(values) if isinstance(values, list) else values for values in columns], schema=examples.schema)
    again = infer(Recipe(threads=1, device="cpu"), fitted.model, rows).logits[0].astype(float)
    np.testing.assert_allclose(1 - softmax(again, axis=1).max(axis=1), unsure, atol=1e-3)


def test_a_formula_in_the_pool_is_text_on_the_sheet_and_uids_may_be_missing(space: Path, tmp_path: Path) -> None:
    hostile = '=HYPERLINK("http://x") perhaps word1'
    file = tmp_path / "pool.jsonl"
    file.write_text(f'{{"text": {hostile!r}}}\n'.replace("'", "\x00").replace('"http://x"', '\\"http://x\\"').replace("\x00", '"'), "utf-8")
    expand(str(file), "--out", str(tmp_path / "sheet.csv"))
    assert b"'=HYPERLINK" in (tmp_path / "sheet.csv").read_bytes()
    [record] = lines(tmp_path / "sheet.csv")
    assert record.cells["text"] == hostile
    assert "uid" not in record.cells


def test_labels_that_somebody_filled_in_are_not_written_over(space: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expand(str(pool))
    sheet = space / "reports/expand.csv"
    content = sheet.read_text(encoding="utf-8-sig")
    filled = content.replace(',"",', ",good,", 1) if ',"",' in content else content.replace(",,", ",good,", 1)
    assert filled != content
    sheet.write_text(filled, encoding="utf-8")
    expand(str(pool), code=2)
    assert "has labels filled in; move it, or write a fresh one elsewhere with --out FILE" in capsys.readouterr().err
    assert sheet.read_text(encoding="utf-8") == filled
    expand(str(pool), "--out", str(sheet), code=2)
    assert "exists already; name another file" in capsys.readouterr().err


def test_a_map_that_texts_do_not_tell_of_is_said_to_be_so(space: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(5)
    uids = [f"u{row:03d}" for row in range(200)]
    save(
        map_table(uids, np.zeros(200, int), Measures(rng.random(200), rng.random(200) / 2, np.ones(200))),
        space / "data/measure/measures.parquet",
    )
    expand(str(pool))
    assert "this order is no better than a random one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,words\n1,a\n", "pool.csv has no column `text`"),
        ("id,text\n1,\n", "the pool has no rows left to choose from"),
        ("", "is empty"),
    ],
)
def test_a_pool_that_cannot_be_used_is_refused(tmp_path: Path, content: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pool.csv").write_text(content, encoding="utf-8")
    expand(str(tmp_path / "pool.csv"), code=2)
    assert message in capsys.readouterr().err


def test_an_audit_without_a_map_or_of_images_is_refused(space: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (space / "data/measure/measures.parquet").unlink()
    expand(str(pool), code=2)
    assert "there is no map yet" in capsys.readouterr().err
    open_new(space, ingest={"source": "digits"})
    expand(str(pool), code=2)
    assert "of images" in capsys.readouterr().err
