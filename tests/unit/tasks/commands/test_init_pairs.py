from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.errors import GateError, InputError
from tasks.collection.pairs import STEP
from tasks.commands.init_pairs import init_pairs
from tasks.engine.running import run_step
from tasks.pipelines import open_workspace


def test_a_workspace_is_made_of_files_that_can_be_collected_from(project: Path, tmp_path: Path) -> None:
    folder = project / "workspaces" / "pairs"
    one, latin = tmp_path / "one.csv", tmp_path / "latin.csv"
    one.write_text("left,right,label\na,b,1\n", encoding="utf-8")
    latin.write_text("left,right,label\n" + "".join(f"é{n},ö{n},1\né{n},ü{n},0\n" for n in range(20)), encoding="latin-1")
    for train, wanted in (
        (str(one), "the train split has no positive pair among its 0; too many stated pairs are connected for splits to be drawn"),
        ("https://name:secret@host/p.csv?key=1", "https://host/p.csv is a URL; a collection reads files on disk: fetch it first"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(wanted)}"):
            init_pairs("workspaces/pairs", train=[train])
        assert not folder.exists()
    init_pairs("workspaces/pairs", train=[str(latin)], encoding="latin-1")
    assert "  encoding: latin-1 " in (folder / "params.yaml").read_text(encoding="utf-8")


def test_the_encodings_of_pairs_and_tables_are_found_out_and_told(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links, left, right = (tmp_path / f"{name}.csv" for name in ("links", "left", "right"))
    links.write_text("left_id,right_id,label\n" + "".join(f"key number {n} ö,w{n},1\n" for n in range(20)), encoding="cp1252")
    left.write_text("id,name\n" + "".join(f"key number {n} ö,naïve a radio for the “café” {n}\n" for n in range(20)), encoding="cp1252")
    right.write_text("id,name\n" + "".join(f"w{n},café {n}\n" for n in range(20)), encoding="utf-8")
    tables = {"left_table": str(left), "right_table": str(right)}
    init_pairs("workspaces/pairs", train=[str(links)], preset="records", **tables)
    given = yaml.safe_load((project / "workspaces/pairs/params.yaml").read_text(encoding="utf-8"))["pairs"]
    assert given["train"] == [{"path": str(links), "encoding": "cp1252"}]
    assert given["left_table"]["encoding"] == "cp1252"
    assert "encoding" not in given["right_table"]
    said = capsys.readouterr().out
    assert "links.csv is not UTF-8; it reads as cp1252, which its entry in params.yaml says as `encoding`." in said
    assert "left.csv is not UTF-8; it is read as cp1252." in said
    assert "20 left and 20 right utterances, 20 stated pairs" in said


def test_files_without_a_header_are_read_by_position_and_broken_rows_are_set_aside(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{2 * n},{2 * n + 1},Wo denn №{n}?,Where is it №{n}?,{n % 2}".encode() for n in range(60)]
    lines[3] = b"6,7,caf\xe9?,Where?,1"
    lines[8] = b"16,17,What?,,0"
    lines[10] = b"20,21,What is this?,What?,0,more"
    path = tmp_path / "quora.csv"
    path.write_bytes(b"\n".join(lines))
    init_pairs("workspaces/pairs", train=[str(path)], preset="qqp", columns="qid1,qid2,question1,question2,is_duplicate")
    said = capsys.readouterr().out
    wanted = (
        "set aside  3 of 60 rows (5\u00a0%): 1 not in the file's encoding, 1 no right utterance, 1 wrong number of fields "
        "(as in row 11, 6 fields instead of 5: a field with the separator in it has to stand in double quotes)\n"
        "114 utterances, 57 stated pairs, 29 of them positive"
    )
    assert wanted in said
    space = open_workspace(project / "workspaces/pairs")
    run_step(STEP, space)
    aside = pq.read_table(space.resolve("data/pairs") / "quarantine.parquet").to_pylist()
    assert [(one["row"], one["reason"]) for one in aside] == [
        (4, "not in the file's encoding"),
        (9, "no right utterance"),
        (11, "wrong number of fields"),
    ]
    params = project / "workspaces/pairs/params.yaml"
    params.write_text(params.read_text(encoding="utf-8").replace("quarantine_limit: 0.05", "quarantine_limit: 0.04"), encoding="utf-8")
    with pytest.raises(GateError, match=r"^3 of 60 rows \(5\s%\) cannot be used, more than the 4\s% of `pairs\.quarantine_limit`: 1 not"):
        run_step(STEP, open_workspace(project / "workspaces/pairs"))


def test_a_file_that_has_a_header_takes_no_columns(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,label\na,b,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"^pairs\.csv has the names of its columns in its first line; leave `columns` out\.$"):
        init_pairs("workspaces/pairs", train=[str(path)], columns="left,right,label")
