"""What a grown dataset's second embedding costs: TREC's train set, first without its last 200 rows, then whole.

`python benchmarks/incremental.py [--data shared/data] [--encoder FOLDER]` embeds the questions with a frozen encoder (by default one of
MiniLM's size with random weights: the time is the same) and prints the seconds of the first embedding, of the second that keeps what it
can, and of the second from nothing, and how far the kept vectors are from newly made ones.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from real_data import DATA

from cartograph.models.frozen.embeddings import embed_sets
from cartograph.schema import DatasetInfo, examples_schema

ADDED = 200


def questions(path: Path) -> list[str]:
    """Return each question once."""
    return list(dict.fromkeys(line.split(" ", 1)[1] for line in path.read_text(encoding="latin-1").splitlines()))


def write_set(texts: list[str], path: Path) -> None:
    """Write questions as a set of examples, all with one label: embeddings do not read it."""
    schema = examples_schema(DatasetInfo("train", "train", "single", ("text",), (), ("a", "b")))
    numbers = list(range(1, len(texts) + 1))
    uids = [f"q{number}" for number in numbers]
    columns = {"uid": uids, "text": texts, "label": [0] * len(texts), "source": ["TREC"] * len(texts), "row": numbers}
    pq.write_table(pa.table({field.name: pa.array(columns[field.name], field.type) for field in schema}, schema=schema), path)


def write_encoder(texts: list[str], folder: Path) -> None:
    """Write an encoder of MiniLM's size with random weights, and a vocabulary of the questions' words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({word for text in texts for word in text.split()})]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(words), hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    BertModel(config).save_pretrained(folder)


def embed(encoder: Path, rows: Path, folder: Path, earlier: Path | None) -> tuple[float, int]:
    """Embed a set; return the seconds that took, and how many rows were kept."""
    folder.mkdir()
    started = time.perf_counter()
    found = embed_sets(str(encoder), {"train": rows}, folder, device="cpu", earlier=earlier)
    return time.perf_counter() - started, found.kept


def vectors(folder: Path) -> np.ndarray:
    """Return the vectors of a folder, (n_rows, width)."""
    column = pq.read_table(folder / "train.parquet")["embedding"]
    return np.stack(column.to_numpy())


def main() -> None:
    """Embed three times, and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--encoder", type=Path)
    arguments = parser.parse_args()
    texts = questions(arguments.data / "trec" / "TREC.train")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        encoder = arguments.encoder or folder / "encoder"
        if arguments.encoder is None:
            write_encoder(texts, encoder)
        write_set(texts[:-ADDED], folder / "first.parquet")
        write_set(texts, folder / "whole.parquet")
        first, _ = embed(encoder, folder / "first.parquet", folder / "first", None)
        second, kept = embed(encoder, folder / "whole.parquet", folder / "kept", folder / "first")
        whole, _ = embed(encoder, folder / "whole.parquet", folder / "whole", None)
        apart = np.abs(vectors(folder / "kept") - vectors(folder / "whole")).max()
    print(f"{platform.machine()}, {os.cpu_count()} cores; torch {version('torch')}, transformers {version('transformers')}")
    print(f"first embedding      {len(texts) - ADDED:,} rows  {first:6.1f} s")
    print(f"grown, keeping       {len(texts):,} rows  {second:6.1f} s  ({kept:,} kept)")
    print(f"grown, from nothing  {len(texts):,} rows  {whole:6.1f} s  ({whole / second:.1f} times as long)")
    print(f"largest difference of a number in a vector: {apart:.1e}")


if __name__ == "__main__":
    main()
