"""The first minute: seconds from a file to its page, and the bytes of the page, by the command that a newcomer types.

`python benchmarks/first_minute.py [--output FILE]`, on data from CARTOGRAPH_DATA or ../shared/data: Subj (10,000 sentences, 2 classes) and
the train set of Banking77 (10,003 questions, 77 classes), each as a CSV audited with `cartograph audit`, as its own process. Of the page it
counts what is the same on every page (scripts, styles, markup) and what the rows need (their texts and numbers, the still map).
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from real_data import DATA

SOURCE = Path(__file__).resolve().parents[1] / "src"


def subj() -> Iterator[tuple[str, str]]:
    """Yield text and label of Subj's sentences."""
    for line in (DATA / "subj" / "subj.all").read_text(encoding="latin-1").split("\n"):
        if line:
            label, text = line.split(" ", 1)
            yield text, label


def banking77() -> Iterator[tuple[str, str]]:
    """Yield text and label of Banking77's train set."""
    with (DATA / "banking77" / "train.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["text"], row["category"]


def measure(name: str, rows: list[tuple[str, str]], folder: Path) -> str:
    """Audit rows with the command; return a line of the table."""
    file = folder / f"{name}.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    environment = os.environ | {"PYTHONPATH": os.fspath(SOURCE)}
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "cartograph", "audit", file.name], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    seconds = time.monotonic() - begun
    page = (folder / f"{name}-audit" / "report.html").read_bytes()
    carried = sum(map(len, re.findall(rb'<script[^>]*type="application/json"[^>]*>.*?</script>', page, re.DOTALL)))
    pictures = sum(
        map(len, re.findall(rb"data:image/png;base64,[A-Za-z0-9+/=]+", re.sub(rb"<script[^>]*>.*?</script>", b"", page, flags=re.DOTALL)))
    )
    same = len(page) - carried - pictures
    found = re.search(r"^([\d,]+) suspects?", done.stdout, re.MULTILINE)
    suspects = found[1] if found else "?"
    classes = len({label for _, label in rows})
    return (
        f"{name:<10} {len(rows):>7,} {classes:>7} {suspects:>8} {seconds:>7.1f} {len(page) / 1e6:>8.2f} {same / 1e6:>8.2f} "
        f"{(carried + pictures) / 1e6:>8.2f} {(carried + pictures) / len(rows):>7.0f}"
    )


def main() -> None:
    """Measure each set, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    head = (
        f"{'set':<10} {'rows':>7} {'classes':>7} {'suspects':>8} {'seconds':>7} {'page MB':>8} {'same MB':>8} {'rows MB':>8} {'B/row':>7}"
    )
    lines = [head]
    with tempfile.TemporaryDirectory() as temporary:
        for name, rows in (("subj", list(subj())), ("banking77", list(banking77()))):
            lines.append(measure(name, rows, Path(temporary)))
            sys.stdout.write(f"{lines[-1]}\n")
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if given.output:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
