"""Training throughput: our Trainer, recorder and all, beside the usual recipe with every row padded to 128.

`python benchmarks/throughput.py [--rows 1600] [--encoder FOLDER] [--device cpu] [--large] [--images]`

The same network (the small RoBERTa that is made from the data; with `--encoder` also that pretrained encoder), the same rows, batch
size, optimiser and number of steps, on the CPU or, with `--device cuda`, on a GPU, both in bf16 where it has that. The rows have
SNLI's own lengths: they are the first of its development set, read from CARTOGRAPH_DATA or ../shared/data. The usual recipe is Hugging
Face's Trainer with `padding="max_length"` at 128 and nothing recorded. Goal: at least 3 times as many rows a second.

On a GPU also ours with its steps launched kernel by kernel instead of as graphs (`train/step_graphs.py`); and with `--large` a network of
RoBERTa-large's shape (BERT-large's, weights drawn at random, the encoder's tokenizer), in batches of 32 and 96: rows a second after the
first epoch, the share of operations that the parameters beside the embeddings need (6 for each and each token), and what an epoch of
SNLI's 549,367 rows would take; by graphs, by graphs whose weights are converted one by one (autocast), and kernel by kernel.

With `--images` a vision transformer of ViT-Base's shape (weights drawn at random) on made pictures of 256 x 256, read at 224 x 224: ours
beside Hugging Face's Trainer with a data set that decodes and standardises a picture when it is asked for, in as many workers as there are
cores, which are kept from epoch to epoch.
"""

from __future__ import annotations

import argparse
import copy
import gc
import io
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import pyarrow as pa
import torch
from PIL import Image
from real_data import DATA
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    ViTConfig,
    ViTForImageClassification,
)

from cartograph.data.images import png_of
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.models.device import chosen_device, has_bfloat16
from cartograph.models.isolation import available_threads, isolated, require_device, seed_everything
from cartograph.models.registry import model_class
from cartograph.schema import DatasetInfo, examples_schema
from cartograph.train.recipe import Recipe
from cartograph.train.step_graphs import StepGraphs
from cartograph.train.trainer import DynamicsTrainer, Watch

LABELS = ("entailment", "neutral", "contradiction")
LENGTH, PICTURES = 128, 200


def snli(rows: int) -> tuple[DatasetInfo, pa.Table]:
    """Return the first rows of SNLI's development set."""
    columns = [(DATA / f"snli/{name}.dev").read_text(encoding="utf-8").splitlines()[:rows] for name in ("s1", "s2", "labels")]
    info = DatasetInfo("train", "train", "pair", ("premise", "hypothesis"), (), LABELS)
    labels = [LABELS.index(label) for label in columns[2]]
    uids = [f"u{row}" for row in range(rows)]
    return info, pa.table([uids, columns[0], columns[1], labels, ["snli"] * rows, list(range(rows))], schema=examples_schema(info))


def ours(recipe: Recipe, info: DatasetInfo, table: pa.Table, model: torch.nn.Module) -> float:
    """Train with dynamics; return the seconds, encoding and epoch files included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        examples = model.encode(table, info)
        watch = Watch(recorder=lambda: DynamicsRecorder(folder / "dynamics", uids=examples.uids))
        DynamicsTrainer(recipe, model, examples, {}, folder / "trainer", watch=watch).train()
        return time.perf_counter() - started


def usual(recipe: Recipe, info: DatasetInfo, table: pa.Table, model: torch.nn.Module) -> float:
    """Train the usual way; return the seconds, tokenising included."""
    started = time.perf_counter()
    texts = [table.column(name).to_pylist() for name in info.fields]
    encoded = model.tokenizer(*texts, padding="max_length", truncation=True, max_length=LENGTH)
    rows = [
        {**{key: torch.tensor(values[row]) for key, values in encoded.items()}, "labels": torch.tensor(label)}
        for row, label in enumerate(table.column("label").to_pylist())
    ]
    plain_training(recipe, model.network, rows)
    return time.perf_counter() - started


def plain_training(recipe: Recipe, network: torch.nn.Module, rows: Any, workers: int = 0) -> None:
    """Train with Hugging Face's Trainer alone."""
    with tempfile.TemporaryDirectory() as name:
        arguments = TrainingArguments(
            output_dir=name,
            num_train_epochs=recipe.epochs,
            per_device_train_batch_size=recipe.batch_size,
            learning_rate=recipe.learning_rate,
            use_cpu=recipe.device == "cpu",
            bf16=has_bfloat16(chosen_device(recipe.device)),
            dataloader_num_workers=workers,
            dataloader_persistent_workers=workers > 0,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        trainer = Trainer(model=network, args=arguments, train_dataset=rows)
        trainer.remove_callback(PrinterCallback)
        trainer.train()


class Decoded(torch.utils.data.Dataset):
    """Pictures as most people's data sets have them: decoded, scaled and standardised one by one."""

    def __init__(self, pngs: list[bytes], labels: list[int], side: int) -> None:
        self.pngs, self.labels, self.side = pngs, labels, side

    def __len__(self) -> int:
        return len(self.pngs)

    def __getitem__(self, row: int) -> dict[str, torch.Tensor]:
        image = Image.open(io.BytesIO(self.pngs[row])).convert("RGB").resize((self.side, self.side), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
        return {"pixel_values": (pixels - 0.5) / 0.5, "labels": torch.tensor(self.labels[row])}


def usual_images(recipe: Recipe, info: DatasetInfo, table: pa.Table, model: torch.nn.Module) -> float:
    """Train on pictures the usual way; return the seconds."""
    started = time.perf_counter()
    rows = Decoded(table.column(info.images[0]).to_pylist(), table.column("label").to_pylist(), model.reading.width)
    plain_training(recipe, model.network, rows, workers=os.cpu_count() or 1)
    return time.perf_counter() - started


def pictures(rows: int, side: int) -> tuple[DatasetInfo, pa.Table]:
    """Return made pictures with the detail of photographs, of two classes; so many are made, and come again."""
    rng = np.random.default_rng(0)
    info = DatasetInfo("train", "train", "image", (), (), ("dark", "light"), ("image",))
    made = []
    drawn = rng.integers(0, 2, PICTURES)
    for label in drawn:
        coarse = Image.fromarray(rng.integers(0, 160, (16, 16, 3), dtype=np.uint8) + np.uint8(60 * label))
        fine = np.asarray(coarse.resize((side, side), Image.Resampling.BICUBIC)) + rng.integers(0, 12, (side, side, 3), dtype=np.uint8)
        made.append(png_of(fine.clip(0, 255).astype(np.uint8), side))
    pngs, labels = [made[row % PICTURES] for row in range(rows)], np.resize(drawn, rows).astype(np.int32)
    columns = [[f"u{row}" for row in range(rows)], pngs, labels, ["made"] * rows, list(range(rows))]
    return info, pa.table(columns, schema=examples_schema(info))


def images(rows: int, runs: int, device: str) -> None:
    """Train a network of ViT-Base's shape on pictures, ours and the usual way."""
    info, table = pictures(rows, 256)
    with tempfile.TemporaryDirectory() as name, isolated(1, available_threads()):
        ViTForImageClassification(ViTConfig()).save_pretrained(name)
        recipe = Recipe(model="vision", pretrained=name, epochs=3, batch_size=32, learning_rate=5e-5, device=device)
        model = model_class("vision").create(info, table, max_length=0, pretrained=name)
        times: dict[str, list[float]] = {"ours": [], "usual": []}
        for run in range(runs):
            for way in list(times)[:: 1 if run % 2 == 0 else -1]:
                seed_everything(recipe.seed)
                times[way].append((ours if way == "ours" else usual_images)(recipe, info, table, copy.deepcopy(model)))
    seconds = {way: float(np.median(values)) for way, values in times.items()}
    done = rows * recipe.epochs
    print(
        f"vision       {rows:,} pictures of 256 x 256, batch {recipe.batch_size}, {recipe.epochs} epochs, {device}: "
        + ", ".join(f"{way} {done / value:.0f} rows/s" for way, value in seconds.items())
        + f", {seconds['usual'] / seconds['ours']:.2f} times as many (median of {runs})",
        flush=True,
    )


def by_kernels(recipe: Recipe, info: DatasetInfo, table: pa.Table, model: torch.nn.Module) -> float:
    """Train as ``ours`` does, without graphs."""
    model.repeats_steps = False
    return ours(recipe, info, table, model)


ARMS = {"ours": ours, "kernel by kernel": by_kernels, "usual": usual}


def compare(recipe: Recipe, rows: int, runs: int) -> None:
    info, table = snli(rows)
    torch.set_num_threads(1)
    with isolated(recipe.seed, 1):
        seed_everything(recipe.seed)
        model = model_class(recipe.model).create(
            info, table, max_length=LENGTH - 2 * (recipe.model == "tiny"), pretrained=recipe.pretrained
        )
        lengths = model.encode(table, info).lengths
        times: dict[str, list[float]] = {name: [] for name in ARMS if recipe.device == "cuda" or name != "kernel by kernel"}
        for run in range(runs):
            for name in list(times)[:: 1 if run % 2 == 0 else -1]:
                seed_everything(recipe.seed)
                times[name].append(ARMS[name](recipe, info, table, copy.deepcopy(model)))
    seconds = {name: float(np.median(values)) for name, values in times.items()}
    done = rows * recipe.epochs
    print(
        f"{recipe.model:<12} {rows:,} rows of {lengths.mean():.1f} tokens (longest {lengths.max()}), batch {recipe.batch_size}, "
        f"{recipe.epochs} epochs, {recipe.device}, one thread: ours {done / seconds['ours']:.1f} rows/s, "
        f"usual {done / seconds['usual']:.1f} rows/s, {seconds['usual'] / seconds['ours']:.2f} times as many (median of {runs})"
        + "".join(f"; {name} {done / value:.1f} rows/s" for name, value in seconds.items() if name not in ("ours", "usual")),
        flush=True,
    )


class Converting(DynamicsTrainer):
    """A training whose graphs read weights of float32, each converted where it is read."""

    def _step_graphs(self) -> StepGraphs:
        return StepGraphs(list(self.model.parameters()), self._batch_loss, self.args.device)


def large(encoder: str, rows: int) -> None:
    """Train a network of RoBERTa-large's shape for two epochs on a GPU."""
    info, table = snli(rows)
    with tempfile.TemporaryDirectory() as name, isolated(1, 1):
        tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False, local_files_only=True)
        shape = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
        BertForSequenceClassification(BertConfig(vocab_size=len(tokenizer), **shape)).save_pretrained(name)
        tokenizer.save_pretrained(name)
        for batch_size in (32, 96):
            for way in ("graphs", "graphs, weights converted one by one", "kernel by kernel"):
                recipe = Recipe(model="transformer", pretrained=name, epochs=2, batch_size=batch_size, learning_rate=1e-5, device="cuda")
                model = model_class("transformer").create(info, table, max_length=LENGTH, pretrained=name)
                model.repeats_steps = way != "kernel by kernel"
                examples = model.encode(table, info)
                trainer = (Converting if "converted" in way else DynamicsTrainer)(recipe, model, examples, {}, Path(name) / "trainer")
                ends = epoch_ends(trainer)
                torch.cuda.reset_peak_memory_stats()
                trainer.train()
                seconds = ends[1] - ends[0]
                count = sum(part.numel() for part in model.parameters()) - model.network.get_input_embeddings().weight.numel()
                rate = 6 * count * float(examples.lengths.sum()) / seconds
                print(
                    f"large        {rows:,} rows, batch {batch_size}, {way}: {rows / seconds:.0f} rows/s, {rate / 1e12:.0f} TFLOP/s, "
                    f"{549_367 * seconds / rows:.0f} s an epoch of SNLI; {torch.cuda.max_memory_allocated() / 2**30:.1f} GB",
                    flush=True,
                )
                del trainer, model
                gc.collect()


def epoch_ends(trainer: DynamicsTrainer) -> list[float]:
    """Return a list that takes the time at which each epoch of a training ends."""
    ends: list[float] = []
    end_epoch = trainer.end_epoch

    def timed() -> None:
        end_epoch()
        torch.cuda.synchronize()
        ends.append(time.perf_counter())

    trainer.end_epoch = timed
    return ends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1600)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--encoder", default="")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--images", action="store_true")
    arguments = parser.parse_args()
    require_device(arguments.device, "`cpu`")
    recipe = Recipe(model="tiny", epochs=2, batch_size=32, learning_rate=0.001, device=arguments.device, threads=1)
    compare(recipe, arguments.rows, arguments.runs)
    if arguments.encoder:
        fine_tuned = replace(recipe, model="transformer", epochs=1, learning_rate=2e-5, pretrained=arguments.encoder)
        compare(
            fine_tuned,
            min(arguments.rows, 320) if arguments.device == "cpu" else arguments.rows,
            1 if arguments.device == "cpu" else arguments.runs,
        )
    if arguments.large:
        large(arguments.encoder, 4_800)
    if arguments.images:
        images(min(arguments.rows, 1_600), arguments.runs, arguments.device)


if __name__ == "__main__":
    main()
