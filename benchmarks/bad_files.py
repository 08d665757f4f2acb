"""A matrix of bad files: what people and programs do to tables, in every format that is read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [(f"this is a sentence with the number {number}", "good" if number % 2 else "bad") for number in range(60)]

LABELS = {
    "with case": ["True", "true", "TRUE", "False"],
    "null words": ["NA", "null", "None", "nan"],
    "infinities": ["Infinity", "-Infinity", "NaN", "inf"],
    "numbers": ["1", "1.0", "01", "2"],
    "accents": ["caf\u00e9", "cafe\u0301", "the", "tea"],
    "zero width": ["yes", "yes\u200b", "no", "no\ufeff"],
    "escapes": ["\x1b[31mred", "\x07bell", "a\rb", "plain"],
    "markup": ["<script>alert(1)</script>", "[x](javascript:a)", "|", "=1+1"],
    "spaces": [" a", "a ", "a\u00a0", "b"],
    "long": ["l" * 5_000, "m" * 5_000, "a", "b"],
    "right to left": ["\u202eevil", "\u05d0\u05d1", "a", "b"],
    "emoji": ["\U0001f600", "\U0001f469\u200d\U0001f52c", "a", "b"],
    "one class": ["a"],
    "a class each": [f"class {number}" for number in range(60)],
    "a typo": ["good"] * 59 + ["goood"],
    "empty": ["", "good", "bad", " "],
}
TEXTS = {
    "empty": [""],
    "white space": [" ", "\t", "\u00a0", "\u200b"],
    "one character": ["a", "b"],
    "long": ["x" * 200_000, "y"],
    "too long": ["x" * 1_000_001, "y", "z"],
    "control": ["a\x00b", "c\x1bd", "e\x7ff", "plain text"],
    "line ends": ["a\nb", "a\r\nb", "a\rb", "a\u2028b"],
    "quotes": ['a "b" c', '"', '""', "'a"],
    "delimiters": ["a,b", "a;b", "a\tb", "a|b"],
    "formulas": ["=cmd|'/c calc'!A0", "+1", "-1", "@x"],
    "markup": ["<img src=x onerror=alert(1)>", "</script>", "${x}", "{{x}}"],
    "numbers": ["1", "2.5", "1e309", "-0"],
    "all the same": ["the same"],
    "surrogates": ["\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "b"],
    "combining": ["a" + "\u0301" * 500, "b"],
}


def as_csv(rows: list[tuple[str, str]]) -> bytes:
    return ("text,label\n" + "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)).encode()


def as_tsv(rows: list[tuple[str, str]]) -> bytes:
    return ("text\tlabel\n" + "".join("\t".join(row) + "\n" for row in rows)).encode()


def as_jsonl(rows: list[tuple[str, str]]) -> bytes:
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows).encode()


def as_json(rows: list[tuple[str, str]]) -> bytes:
    return json.dumps([{"text": text, "label": label} for text, label in rows]).encode()


def as_parquet(rows: list[tuple[str, str]]) -> bytes:
    return parquet(pa.table({"text": [row[0] for row in rows], "label": [row[1] for row in rows]}))


def parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


WRITERS = {"csv": as_csv, "tsv": as_tsv, "jsonl": as_jsonl, "json": as_json, "parquet": as_parquet}


def bad_files() -> Iterator[tuple[str, str, bytes]]:
    """Yield what is bad, the file's name, and its content."""
    for suffix, write in WRITERS.items():
        for what, labels in LABELS.items():
            yield f"labels: {what}", f"rows.{suffix}", write([(text, labels[place % len(labels)]) for place, (text, _) in enumerate(ROWS)])
        for what, texts in TEXTS.items():
            rows = [(texts[place % len(texts)], label) for place, (_, label) in enumerate(ROWS)]
            yield f"texts: {what}", f"rows.{suffix}", write(rows)
        content = write(ROWS)
        yield "cut short", f"rows.{suffix}", content[: len(content) // 2]
        yield "a byte flipped", f"rows.{suffix}", content[:500] + bytes([content[500] ^ 0xFF]) + content[501:]
        yield "zeros at the end", f"rows.{suffix}", content + b"\x00" * 1000
        yield "twice over", f"rows.{suffix}", content + content
        yield "one row", f"rows.{suffix}", write(ROWS[:1])
        yield "no row", f"rows.{suffix}", write([])
        yield "another format", f"rows.{suffix}", as_jsonl(ROWS) if suffix != "jsonl" else as_parquet(ROWS)
        yield "garbage", f"rows.{suffix}", bytes((7 * place * place + 13) % 256 for place in range(4096))
        yield "empty", f"rows.{suffix}", b""
    text = as_csv(ROWS)
    for what, content in {
        "utf-16": text.decode().encode("utf-16"),
        "utf-8 with a mark": b"\xef\xbb\xbf" + text,
        "latin-1": text.replace(b"sentence", "s\u00e9ntence".encode("latin-1")),
        "old line ends": text.replace(b"\n", b"\r"),
        "mixed line ends": text.replace(b"\n", b"\r\n", 30),
        "a stray quote": text.replace(b'"this is a sentence with the number 7"', b'"this is a sentence with the number 7'),
        "swallowed rows": b'text,label\n"one,good\ntwo,bad\nthree",good\n' + text.partition(b"\n")[2],
        "fields too many": text.replace(b'"good"', b'"good",x', 2),
        "header twice": text + text.partition(b"\n")[0] + b"\n",
        "no header": text.partition(b"\n")[2],
        "columns of one name": text.replace(b"text,label", b"text,text"),
        "semicolons": text.replace(b'","', b'";"').replace(b"text,label", b"text;label"),
    }.items():
        yield what, "rows.csv", content
    for what, name, content in (
        ("cut short", "rows.csv.gz", gzip.compress(text)[:-20]),
        ("no gzip", "rows.csv.gz", text),
        ("unpacks to much", "rows.csv.gz", gzip.compress(b"text,label\n" + b"a" * 60_000_000)),
        ("many small rows", "rows.csv.gz", gzip.compress(b"text,label\n" + b"a,b\n" * 15_000_000)),
        ("cut short", "rows.csv.bz2", bz2.compress(text)[:-20]),
        ("cut short", "rows.jsonl.xz", lzma.compress(as_jsonl(ROWS))[:-20]),
        ("5,000 deep", "rows.jsonl", b"[" * 5_000 + b"]" * 5_000),
        ("keys without end", "rows.jsonl", b"\n".join(json.dumps({f"key {n}": 1}).encode() for n in range(5_000))),
        ("half a surrogate", "rows.jsonl", as_jsonl(ROWS) + b'{"text": "\\ud83d", "label": "good"}\n'),
        ("not objects", "rows.jsonl", b"1\n[]\nnull\n" + as_jsonl(ROWS)),
        ("columns of one name", "rows.parquet", parquet(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]))),
        ("bytes", "rows.parquet", parquet(pa.table({"text": [b"\xff\xfe"] * 30, "label": [b"a", b"b"] * 15}))),
        ("bytes that are text", "rows.parquet", parquet(pa.table({"text": [r[0].encode() for r in ROWS], "label": [r[1] for r in ROWS]}))),
        ("lists", "rows.parquet", parquet(pa.table({"text": [["a", "b"]] * 30, "label": ["a", "b"] * 15}))),
    ):
        yield what, name, content
