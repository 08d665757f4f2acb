"""Each format's own traits, and what bad input says."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.read.delimited import delimiter_of
from cartograph.read.formats import format_of, local_paths, read
from cartograph.read.lines import fields_of
from cartograph.read.quotes import quoting_of
from cartograph.read.rewrite import rewrite
from cartograph.read.source import Batch, Source, join


def source(folder: Path, name: str, content: str | bytes, **options: object) -> Source:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Source(str(path), name, **options)  # type: ignore[arg-type]


def rejected(batch: Batch) -> list[tuple[int, str, str]]:
    return [(record.row, record.reason, record.detail) for record in batch.rejected]


words = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(st.tuples(words, words.filter(bool)), min_size=1, max_size=6))
def test_csv_reads_whatever_a_csv_writer_writes(rows: list[tuple[str, str]], tmp_path: Path) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("a", "b"), *rows])
    batch = read(source(tmp_path, "x.csv", file.getvalue()))
    assert list(zip(*batch.table.to_pydict().values(), strict=True)) == rows


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(words, min_size=1, max_size=6))
def test_jsonl_reads_whatever_json_writes(rows: list[str], tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.jsonl", "\n".join(json.dumps({"a": row}) for row in rows)))
    assert batch.table["a"].to_pylist() == rows


def test_ragged_csv_rows_are_rejected_with_their_number(tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.csv", "a,b\n1,2\n3\n\n4,5,6\n7,8\n"))
    assert batch.table.to_pydict() == {"a": ["1", "7"], "b": ["2", "8"]}
    assert batch.rows.to_pylist() == [1, 4]
    assert rejected(batch) == [
        (2, "wrong number of fields", "1 fields instead of 2"),
        (3, "wrong number of fields", "3 fields instead of 2"),
    ]
    assert [record.record for record in batch.rejected] == ["3", "4,5,6"]


def test_of_lines_that_all_end_with_a_delimiter_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read(source(tmp_path, "x.csv", "a,b c\n1,2,\n3,4,\n"))
    assert str(refused.value).endswith(
        "x.csv: each of its 2 records has 3 fields instead of 2, as its header has. If each line ends with a delimiter, let the header end "
        "with one, too; else set `format`, `delimiter` or `quoting` to what the file has."
    )
    ended = read(source(tmp_path, "y.csv", "a,b c,\n1,2,\n3,4,\n"))
    assert {name: ended.table[name].to_pylist() for name in ("a", "b c")} == {"a": ["1", "3"], "b c": ["2", "4"]}


def test_a_quote_that_is_never_closed_rejects_its_own_row_only(tmp_path: Path) -> None:
    lines = ["a,b", "1,fine", '2,"never closed', *(f"{index},fine" for index in range(3, 3000)), '3000,"closed"']
    batch = read(source(tmp_path, "x.csv", "\n".join(lines) + "\n"))
    assert [row[:2] for row in rejected(batch)] == [(2, "quotes that do not pair")]
    assert batch.rejected[0].record == '2,"never closed'
    assert len(batch.rows) == 2999
    assert batch.rows.to_pylist()[-1] == 3000


def test_a_quoted_field_may_hold_lines(tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.csv", 'a,b\n"one\ntwo",x\nthree,y\n'))
    assert batch.table["a"].to_pylist() == ["one\ntwo", "three"]
    assert batch.rows.to_pylist() == [1, 2]


def test_tsv_quotes_are_text_unless_standard_quoting_is_set(tmp_path: Path) -> None:
    content = 'a\tb\n"He said\tno\n'
    assert read(source(tmp_path, "x.tsv", content)).table["a"].to_pylist() == ['"He said']
    quoted = read(source(tmp_path, "x.tsv", 'a\tb\n"He, ""said"""\tno\n', quoting="standard"))
    assert quoted.table["a"].to_pylist() == ['He, "said"']


@pytest.mark.parametrize(
    ("content", "first"),
    [
        ('a\tb\n"one\ntwo"\tno\nx\tyes\n', "one\ntwo"),
        ('a\tb\n"he said ""no"""\tno\nx\tyes\n', 'he said "no"'),
        ('a\tb\n"Hello, you"\tno\nx\tyes\n', "Hello, you"),
        ('a\tb\n"one\ttwo"\tno\nx\tyes\n', "one\ttwo"),
        ('"a"\t"b"\n"one"\t"no"\nx\tyes\n', "one"),
        ('a\tb\n"one"\tno\n"two"\tyes\n', "one"),
        ('a\tb\n"one"\tno\n\tyes\n', "one"),
        ('a\tb\n"Hello."\tno\nx\tyes\n', '"Hello."'),
        ('a\tb\n"Hello, you" he said\tno\n"Hello, you"\tyes\n', '"Hello, you" he said'),
        ('a\tb\n"Hello, you\tno\nx"\tyes\n', '"Hello, you'),
        ('a\tb\nsaid "so"\tno\nx\tyes\n', 'said "so"'),
    ],
)
def test_tsv_quotes_stand_around_fields_where_all_that_are_there_need_them(tmp_path: Path, content: str, first: str) -> None:
    found = source(tmp_path, "x.tsv", content)
    batch = read(found)
    assert batch.table.column_names == ["a", "b"]
    assert (batch.table["a"][0].as_py(), batch.table["b"].to_pylist(), batch.rejected) == (first, ["no", "yes"], ())
    copy = tmp_path / "cleaned.tsv"
    rewrite(found, "b", {1: "maybe"}, copy)
    again = read(Source(str(copy), "cleaned.tsv", quoting=quoting_of(found, "tsv"))).table.to_pylist()
    assert again == [{"a": first, "b": "maybe"}]


def test_a_program_may_quote_its_tsv_as_it_likes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["one", "two\nlines", 'he said "no"', "a\ttab, too"], "b": list("pqpq")})
    for way in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        frame.to_csv(tmp_path / "x.tsv", sep="\t", index=False, quoting=way)
        assert read(Source(str(tmp_path / "x.tsv"), "x.tsv")).table.to_pylist() == frame.to_dict("records")


@pytest.mark.parametrize("first", ["sep=|", '"sep=|"', "SEP=| "])
def test_a_first_line_that_names_the_delimiter_for_spreadsheets_is_believed_and_kept(first: str, tmp_path: Path) -> None:
    path, copy = tmp_path / "rows.csv", tmp_path / "cleaned.csv"
    path.write_bytes(f"{first}\r\nnr|text|label\r\n1|good, fine|yes\r\n2|bad|no\r\n".encode())
    source = Source(str(path), "rows.csv")
    found = read(source)
    assert found.table.to_pylist() == [{"nr": "1", "text": "good, fine", "label": "yes"}, {"nr": "2", "text": "bad", "label": "no"}]
    rewrite(source, "label", {2: "yes"}, copy)
    assert copy.read_bytes() == f"{first}\r\nnr|text|label\r\n2|bad|yes\r\n".encode()
    path.write_text("sep=ab,label\nx,y\n")
    assert read(source).table.column_names == ["sep=ab", "label"]


TITLES = {
    "with commas, a blank line": "Feedback, by Ann, of 2026-11-01\n\n",
    "two lines, a line of delimiters": "Feedback\nby Ann\n;;\n",
    "filled up with delimiters": "Feedback;;\n",
    "filled up, and blank": "Feedback;;\n;;\n",
}


@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_a_title_above_the_header_is_passed_over_and_kept(title: str, tmp_path: Path) -> None:
    text = title + 'id;text;label\n1;"good, fine; fresh";pos\n\n2;bad;neg\n'
    read_from, copy = source(tmp_path, "x.csv", text), tmp_path / "cleaned.csv"
    batch = read(read_from)
    assert batch.table.to_pydict() == {"id": ["1", "2"], "text": ["good, fine; fresh", "bad"], "label": ["pos", "neg"]}
    assert (batch.rows.to_pylist(), delimiter_of(read_from, "csv")) == ([1, 2], ";")
    rewrite(read_from, "label", {1: None, 2: "pos"}, copy)
    assert copy.read_text() == text.replace("\n\n2", "\n2").replace("neg", "pos")


HEADERS = {
    "a blank line beneath": "text,label\n\ngood,pos\nbad,neg\n",
    "an index without a name": ",label\n\ngood,pos\nbad,neg\n",
    "a label without a name": "text,\ngood,pos\nbad,neg\n",
    "cells that are empty": "text,label\ngood,\n,neg\nbad,neg\n",
    "one column": "text\n\ngood\nbad\n",
}


@pytest.mark.parametrize("text", HEADERS.values(), ids=HEADERS)
def test_a_header_is_no_title(text: str, tmp_path: Path) -> None:
    found = read(source(tmp_path, "x.csv", text)).table
    assert found.column_names == [name or f"column {place}" for place, name in enumerate(text.split("\n")[0].split(","), start=1)]
    assert "good" in found.column(0).to_pylist()


def test_the_csv_delimiter_is_guessed_from_the_header(tmp_path: Path) -> None:
    assert read(source(tmp_path, "x.csv", "a;b\n1,5;2\n")).table.to_pydict() == {"a": ["1,5"], "b": ["2"]}


def test_tsv_splits_at_tabs_whatever_the_header_holds(tmp_path: Path) -> None:
    assert read(source(tmp_path, "x.tsv", "a,b\tc\n1\t2\n")).table.to_pydict() == {"a,b": ["1"], "c": ["2"]}


def test_columns_of_a_file_without_a_header_are_those_of_the_source(tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.tsv", "1\t2\n3\t4\n", columns=("a", "b")))
    assert batch.table.to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}


def test_columns_named_twice_are_numbered(tmp_path: Path) -> None:
    assert read(source(tmp_path, "x.csv", "a,b,a,\n1,2,3,4\n")).table.column_names == ["a (1)", "b", "a (2)", "column 4"]


def test_wrong_encoding_names_line_and_byte(tmp_path: Path) -> None:
    content = "label,text\nx,fine\nx,caf\u00e9\n".encode("latin-1")
    with pytest.raises(InputError) as error:
        read(source(tmp_path, "x.csv", content))
    assert str(error.value) == (
        "x.csv is not utf-8 text: line 3 has 0xe9 at byte 23 of the file; it reads as cp1252: set `encoding: cp1252` "
        "(--encoding cp1252) if that is right, else to the file's own, such as cp1250 or cp1251."
    )
    assert content[23] == 0xE9
    assert read(source(tmp_path, "x.csv", content, encoding="latin-1")).table["text"].to_pylist() == ["fine", "café"]


def test_wrong_encoding_far_into_a_file_names_line_and_byte(tmp_path: Path) -> None:
    good = b"a plain line\n" * 200_000
    with pytest.raises(InputError, match=rf"line 200001 has 0xff at byte {len(good) + 2} of the file"):
        read(source(tmp_path, "x.jsonl", good + b"ab\xff\n"))


def test_utf16_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    text = "label,text\nx,café\n"
    with pytest.raises(InputError, match=r"it begins with the mark of utf-16; set `encoding: utf-16` \(--encoding utf-16\)"):
        read(source(tmp_path, "x.csv", text.encode("utf-16")))
    assert read(source(tmp_path, "x.csv", text.encode("utf-16"), encoding="utf-16")).table["text"].to_pylist() == ["café"]
    assert read(source(tmp_path, "x.csv", text.encode("utf-8-sig"))).table.column_names == ["label", "text"]


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`utf-9` is not a text encoding; set `encoding` to one such as utf-8, latin-1"):
        read(source(tmp_path, "x.csv", "a\n1\n", encoding="utf-9"))


def test_compressed_text_is_read(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n1,2\n")
    assert read(source(tmp_path, "x.csv.gz", whole)).table.to_pydict() == {"a": ["1"], "b": ["2"]}
    with pytest.raises(InputError, match=r"x\.csv\.gz is not a whole compressed file"):
        read(source(tmp_path, "x.csv.gz", whole[:-6]))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: bytes(pa.compress(content, "zstd", asbytes=True)),
}


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_files_are_read_from_their_beginning_again_and_in_other_encodings(suffix: str, tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"{number} {'x' * 200}"}) for number in range(2000)]
    batch = read(source(tmp_path, f"x.jsonl{suffix}", PACKED[suffix]("\n".join(lines).encode())))
    assert batch.table["text"].to_pylist()[::1999] == [f"{number} {'x' * 200}" for number in (0, 1999)]
    latin = PACKED[suffix]("text\ncafé\n".encode("latin-1"))
    assert read(source(tmp_path, f"x.csv{suffix}", latin, encoding="latin-1")).table["text"].to_pylist() == ["café"]
    with pytest.raises(InputError, match="is not utf-8 text: line 2"):
        read(source(tmp_path, f"y.csv{suffix}", latin))


DAMAGED = [(suffix, how) for suffix in PACKED for how in ("cut", "changed", "other")]
DAMAGED.remove((".zst", "changed"))  # It has no checksum: changed bytes may be another text.


@pytest.mark.parametrize(("suffix", "damage"), DAMAGED)
def test_a_damaged_compressed_file_is_refused_in_a_sentence(suffix: str, damage: str, tmp_path: Path) -> None:
    content = PACKED[suffix]("\n".join(f"{number * 7919 % 1000},x" for number in range(3000)).encode())
    middle = len(content) // 2
    damaged = {"cut": content[:middle], "changed": content[:middle] + bytes(60) + content[middle + 60 :], "other": b"text,label\na,b\n"}
    with pytest.raises(InputError, match=rf"x\.csv\{suffix} is not a whole compressed file"):
        read(source(tmp_path, f"x.csv{suffix}", damaged[damage]))


def test_json_values_become_text(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "share": 0.5, "whole": 2.0, "yes": True, "none": None, "inner": {"a": {"b": "deep"}, "empty": {}}, "list": ["x", 1]},
        {"id": 2, "more": "only here", "list": None},
    ]
    batch = read(source(tmp_path, "x.jsonl", "\n".join(map(json.dumps, rows))))
    assert batch.table.slice(0, 1).to_pylist() == [
        {
            "id": "1",
            "share": "0.5",
            "whole": "2",
            "yes": "true",
            "none": None,
            "inner.a.b": "deep",
            "inner.empty": None,
            "list": ["x", "1"],
            "more": None,
        }
    ]
    assert batch.table["more"].to_pylist() == [None, "only here"]


def test_broken_json_lines_are_rejected(tmp_path: Path) -> None:
    lines = ['{"a": "1"}', "{broken", "", "[1]", '{"a": "\\ud800"}', "{}", '{"a": "2"}', '{"a": ' + "[" * 100_000]
    batch = read(source(tmp_path, "x.jsonl", "\n".join(lines)))
    assert batch.table.to_pydict() == {"a": ["1", "2"]}
    assert batch.rows.to_pylist() == [1, 7]
    reasons = [(2, "not valid JSON"), (4, "not a JSON object"), (5, "not valid Unicode"), (6, "not a JSON object"), (8, "not valid JSON")]
    assert [record[:2] for record in rejected(batch)] == reasons


def test_json_arrays_are_read(tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.json", '\n [{"a": "1"},\n 7, {"a": "2"}]'))
    assert batch.table["a"].to_pylist() == ["1", "2"]
    assert batch.rows.to_pylist() == [1, 3]
    with pytest.raises(InputError, match=r"x\.json is not valid JSON: line 1, column 13: Expecting"):
        read(source(tmp_path, "x.json", '[{"a": "1"} {'))


def test_nan_is_nothing_also_in_an_object_on_one_line(tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.json", '{"data": [{"text": "a", "label": NaN}, {"text": "b", "label": "x"}]}'))
    assert batch.table["label"].to_pylist() == [None, "x"]


def test_too_many_different_keys_are_refused(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({f"key{index}": "x"}) for index in range(5000))
    with pytest.raises(InputError, match="more than 4096 different keys"):
        read(source(tmp_path, "x.jsonl", lines))


def test_a_file_without_a_readable_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of its 2 records can be read as jsonl; the first, row 1: not valid JSON \(Expecting value"):
        read(source(tmp_path, "x.jsonl", "label text\nlabel text\n"))
    with pytest.raises(InputError, match=r"x\.csv holds no rows"):
        read(source(tmp_path, "x.csv", "a,b\n"))
    with pytest.raises(
        InputError, match=r"x\.csv holds no rows; it is a web page or XML, perhaps of a login or an error: save the file itself"
    ):
        read(source(tmp_path, "x.csv", "\n<!DOCTYPE html><title>Sign in</title>\n"))


def test_label_first_lines_become_labels_and_texts(tmp_path: Path) -> None:
    batch = read(source(tmp_path, "x.txt", "DESC:manner How  did it ?\n\n  NUM\tSeven\nLOC\n", format="label-first"))
    assert batch.table.to_pydict() == {"label": ["DESC:manner", "NUM", "LOC"], "text": ["How  did it ?", "Seven", ""]}
    assert batch.rows.to_pylist() == [1, 3, 4]


def test_files_of_fields_must_have_as_many_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "b.txt").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"do not run in step: .*b\.txt ends after 2 lines, others go on"):
        read(Source(f"text={tmp_path}/a.txt,label={tmp_path}/b.txt", "a.txt+b.txt"))


def test_a_path_names_its_fields() -> None:
    assert fields_of("premise=x/s1,2.dev,label=y=z.txt") == {"premise": "x/s1,2.dev", "label": "y=z.txt"}
    assert fields_of("year=2020/data.parquet") == {}
    assert local_paths("hub:name@config:train") == ()
    assert local_paths("a=1.txt,b=2.txt") == ("1.txt", "2.txt")


def test_parquet_types_become_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1, None], pa.int16()),
            "label": pa.array([1.0, 2.5]),
            "flag": [True, None],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "inner": pa.array([{"text": "x", "more": {"n": 1}}, None]),
            "votes": pa.array([[1, 2], None]),
            "image": pa.array([b"\x00", None]),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    batch = read(Source(str(tmp_path / "x.parquet"), "x.parquet"))
    assert batch.table.to_pydict() == {
        "id": ["1", None],
        "label": ["1", "2.5"],
        "flag": ["true", None],
        "kind": ["a", "b"],
        "inner.text": ["x", None],
        "inner.more.n": ["1", None],
        "votes": [["1", "2"], None],
    }


def test_a_file_that_is_not_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.parquet is not a Parquet file that can be read"):
        read(source(tmp_path, "x.parquet", b"PAR1 and then nothing"))


def test_parquet_with_text_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    pq.write_table(pa.table({"text": broken}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet is damaged"):
        read(Source(str(tmp_path / "x.parquet"), "x.parquet"))


def test_class_labels_of_a_data_set_are_named(tmp_path: Path) -> None:
    from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

    features = Features({"text": Value("string"), "label": ClassLabel(names=["neg", "pos"])})
    rows = Dataset.from_dict({"text": ["a", "b", "c"], "label": [1, 0, -1]}, features=features)
    DatasetDict({"train": rows, "test": rows.select([2, 0])}).save_to_disk(str(tmp_path / "saved"))
    rows.to_parquet(str(tmp_path / "saved.parquet"))
    wanted = ["pos", "neg", None]
    assert read(Source(str(tmp_path / "saved"), "saved", split="train")).table["label"].to_pylist() == wanted
    assert read(Source(str(tmp_path / "saved"), "saved", split="test")).table["text"].to_pylist() == ["c", "a"]
    assert read(Source(str(tmp_path / "saved" / "train"), "train")).table["label"].to_pylist() == wanted
    assert read(Source(str(tmp_path / "saved.parquet"), "saved.parquet")).table["label"].to_pylist() == wanted
    with pytest.raises(InputError, match=r"saved has the splits train, test; name one, as in `\{path: saved, split: train\}`"):
        read(Source(str(tmp_path / "saved"), "saved"))
    with pytest.raises(InputError, match="saved has no split `dev`; it has train, test"):
        read(Source(str(tmp_path / "saved"), "saved", split="dev"))


def test_shards_of_a_data_set_are_read_in_order(tmp_path: Path) -> None:
    data = tmp_path / "plain_text"
    data.mkdir()
    for number, texts in enumerate((["a", "b"], ["c"])):
        pq.write_table(pa.table({"text": texts}), data / f"train-0000{number}-of-00002.parquet")
    pq.write_table(pa.table({"text": ["d"]}), data / "test-00000-of-00001.parquet")
    (tmp_path / "loader.py").write_text("raise SystemExit('a script of the data set was run')")
    batch = read(Source(str(tmp_path), "set", split="train"))
    assert batch.table["text"].to_pylist() == ["a", "b", "c"]
    assert batch.rows.to_pylist() == [1, 2, 3]
    (tmp_path / "other").mkdir()
    pq.write_table(pa.table({"text": ["d"]}), tmp_path / "other" / "train.parquet")
    with pytest.raises(InputError, match=r"split `train` in several folders \(other, plain_text\); name one of them"):
        read(Source(str(tmp_path), "set", split="train"))


def test_arrow_shards_are_read_and_folders_without_data_refused(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "name-train.arrow"), "wb") as file, pa.ipc.new_stream(file, pa.schema([("text", pa.string())])) as writer:
        writer.write_table(pa.table({"text": ["a", "b"]}))
    assert read(Source(str(tmp_path), "set")).table["text"].to_pylist() == ["a", "b"]
    (tmp_path / "none").mkdir()
    with pytest.raises(
        InputError, match=r"none holds no data set: no `state\.json` of `save_to_disk`, no \.parquet, no \.arrow file and no image; name"
    ):
        read(Source(str(tmp_path / "none"), "none"))


def test_a_hub_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets
    import huggingface_hub.constants

    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError, match=r"hub:someone/something:train cannot be fetched: .*save it with `save_to_disk`, and name that folder"
    ):
        read(Source("hub:someone/something:train", "something"))
    with pytest.raises(InputError, match=r"`hub:` is not a hub id; write `hub:NAME`"):
        read(Source("hub:", "nothing"))


def test_a_format_is_guessed_from_the_content(tmp_path: Path) -> None:
    assert format_of(source(tmp_path, "a.txt", '{"a": 1}\n').path) == "jsonl"
    assert format_of(source(tmp_path, "b.txt", "a\tb\n1\t2\n").path) == "tsv"
    with pytest.raises(
        InputError,
        match=r"the format of c\.txt cannot be guessed from its name or content; .*, or set `format` in params\.yaml to one of csv, tsv",
    ):
        read(source(tmp_path, "c.txt", "label and text\n"))
    with pytest.raises(InputError, match=r"d\.png is an image; name the folder that holds the images, with a sub-folder per class"):
        read(source(tmp_path, "d.png", "no matter what"))
    with pytest.raises(InputError, match="there is no format `sheet`; there are csv"):
        read(source(tmp_path, "c.txt", "label and text\n", format="sheet"))
    with pytest.raises(InputError, match="is a folder; a source of format csv is a file"):
        read(Source(str(tmp_path), "folder", format="csv"))
    with pytest.raises(InputError, match=r"d\.csv is of format csv, which has no splits; leave `split` out"):
        read(source(tmp_path, "d.csv", "a\n1\n", split="train"))


def test_a_column_that_is_a_list_in_some_batches_becomes_text() -> None:
    def batch(values: list[object]) -> Batch:
        return Batch(pa.table({"a": pa.array(values)}), pa.array([1] * len(values), pa.int64()))

    assert join([batch(["x"]), batch([["y", "z"]])]).table["a"].to_pylist() == ["x", '["y", "z"]']
    nulls = Batch(pa.table({"a": pa.array([None], pa.string())}), pa.array([1], pa.int64()))
    assert join([nulls, batch([["y"]])]).table["a"].to_pylist() == [None, ["y"]]
