from __future__ import annotations

import copy
import doctest
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, IterableDataset
from transformers import (
    BatchEncoding,
    RobertaConfig,
    RobertaForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)

from cartograph.dynamics import callback
from cartograph.dynamics.callback import DynamicsCallback
from cartograph.dynamics.epoch_files import Dynamics, epoch_file, read_dynamics
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.errors import InputError

ROWS, CLASSES = 22, 3
UIDS = [f"row {row:02d}" for row in range(ROWS)]

pytestmark = pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true")


def rows(number: int = ROWS) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [{"input_ids": [0, *rng.integers(4, 20, 4).tolist(), 2], "labels": int(rng.integers(0, CLASSES))} for _ in range(number)]


def network(**changes: Any) -> RobertaForSequenceClassification:
    torch.manual_seed(0)
    size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8, "max_position_embeddings": 12}
    return RobertaForSequenceClassification(RobertaConfig(vocab_size=20, num_labels=CLASSES, **size, **changes))


def arguments(folder: Path, **changes: Any) -> TrainingArguments:
    settings = {
        "num_train_epochs": 2,
        "per_device_train_batch_size": 4,
        "learning_rate": 0.01,
        "use_cpu": True,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "log_level": "error",
        "dataloader_pin_memory": False,
    }
    return TrainingArguments(str(folder / "trainer"), **settings | changes)


def train(folder: Path, model: nn.Module | None = None, data: Any = None, *, resume: str | None = None, **changes: Any) -> Trainer:
    """Train with the callback, as its user does: nothing but `callbacks=` is said of it."""
    given = {name: changes.pop(name) for name in ("uids", "labels") if name in changes}
    parts = {name: changes.pop(name) for name in ("data_collator", "compute_loss_func", "eval_dataset") if name in changes}
    also = changes.pop("callbacks", [])
    recording = DynamicsCallback(folder / "dynamics", **{"uids": UIDS} | given)
    trainer = Trainer(
        network() if model is None else model,
        arguments(folder, **changes),
        train_dataset=rows() if data is None else data,
        callbacks=[recording, *also],
        **parts,
    )
    trainer.train(resume_from_checkpoint=resume and str(folder / "trainer" / resume))
    return trainer


class _WithIds(Trainer):
    """What has to be written today: ids in the batch, taken out again, and recorded, in a Trainer of one's own."""

    recorder: DynamicsRecorder

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], return_outputs: bool = False, **kwargs: Any) -> Any:
        ids = inputs.pop("row", None)
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **kwargs)
        if ids is not None:
            self.recorder.record([UIDS[row] for row in ids.tolist()], outputs.logits, inputs["labels"])
        return (loss, outputs) if return_outputs else loss


def expected(folder: Path, **changes: Any) -> tuple[Dynamics, dict[str, torch.Tensor]]:
    """Return the dynamics that ids in the batch give, and the weights of that training."""
    data = [{**row, "row": number} for number, row in enumerate(rows())]
    trainer = _WithIds(network(), arguments(folder, remove_unused_columns=False, **changes), train_dataset=data, eval_dataset=rows())
    trainer.recorder = DynamicsRecorder(folder / "expected", uids=UIDS)

    class End(TrainerCallback):
        def on_epoch_end(self, *args: Any, **kwargs: Any) -> None:
            trainer.recorder.end_epoch()

    trainer.add_callback(End())
    trainer.train()
    return read_dynamics(folder / "expected"), trainer.model.state_dict()


def same(one: Dynamics, other: Dynamics) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_example_of_the_docstring_runs() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert doctest.testmod(callback).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"gradient_accumulation_steps": 4},
        {"train_sampling_strategy": "group_by_length"},
        {"dataloader_num_workers": 2},
        {"dataloader_drop_last": True, "per_device_train_batch_size": 11},
    ],
    ids=["plain", "accumulated", "grouped by length", "with workers", "nothing to drop"],
)
def test_an_unmodified_trainer_records_its_logits_and_trains_as_without(settings: dict[str, Any], tmp_path: Path) -> None:
    trainer = train(tmp_path, **settings)
    dynamics, weights = expected(tmp_path, **settings)
    assert same(read_dynamics(tmp_path / "dynamics"), dynamics)
    assert dynamics.logits.shape == (ROWS, 2, CLASSES)
    assert dynamics.gold.tolist() == [row["labels"] for row in rows()]
    assert all(torch.equal(tensor, weights[name]) for name, tensor in trainer.model.state_dict().items())


def test_a_plain_loop_records_the_same(tmp_path: Path) -> None:
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    train(tmp_path, network(**still), train_sampling_strategy="sequential", max_grad_norm=0.0)
    model, data = network(**still), rows()
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0)
    recorder, steps = DynamicsRecorder(tmp_path / "loop"), 0
    for _ in range(2):
        for start in range(0, ROWS, 4):
            batch = default_data_collator(data[start : start + 4])
            optimiser.param_groups[0]["lr"] = 0.01 * (12 - steps) / 12
            output = model(**batch)
            recorder.record(UIDS[start : start + 4], output.logits, batch["labels"])
            optimiser.zero_grad()
            output.loss.backward()
            optimiser.step()
            steps += 1
        recorder.end_epoch()
    ours, loop = read_dynamics(tmp_path / "dynamics"), read_dynamics(tmp_path / "loop")
    assert ours.uids.tolist() == loop.uids.tolist()
    np.testing.assert_allclose(ours.logits, loop.logits, rtol=0, atol=1e-5)


def test_evaluation_is_not_recorded(tmp_path: Path) -> None:
    settings = {"eval_strategy": "steps", "eval_steps": 1, "eval_on_start": True}
    train(tmp_path, eval_dataset=rows(), **settings)
    assert same(read_dynamics(tmp_path / "dynamics"), expected(tmp_path, **settings)[0])


def test_labels_that_the_loss_takes_away_are_recorded(tmp_path: Path) -> None:
    train(tmp_path, label_smoothing_factor=0.1)
    assert read_dynamics(tmp_path / "dynamics").gold.tolist() == [row["labels"] for row in rows()]


def test_a_custom_loss_function_is_recorded_too(tmp_path: Path) -> None:
    def loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        return nn.functional.cross_entropy(outputs["logits"], labels, reduction="sum") / num_items_in_batch

    train(tmp_path, compute_loss_func=loss)
    dynamics = read_dynamics(tmp_path / "dynamics")
    assert dynamics.logits.shape == (ROWS, 2, CLASSES)
    assert dynamics.gold.tolist() == [row["labels"] for row in rows()]


class _Rows(Dataset[Any]):
    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, row: int) -> dict[str, Any]:
        return {"name": UIDS[row], **rows()[row]}


def _table() -> datasets.Dataset:
    return datasets.Dataset.from_list([{"name": uid, "text": f"of {uid}", **row} for uid, row in zip(UIDS, rows(), strict=True)])


def _encoded(items: list[dict[str, Any]]) -> BatchEncoding:
    return BatchEncoding(default_data_collator(items))


@pytest.mark.parametrize("make", [_Rows, _table], ids=["torch", "datasets"])
def test_columns_that_the_model_does_not_read_may_be_removed_as_by_default(make: Callable[[], Any], tmp_path: Path) -> None:
    data = make()
    train(tmp_path, data=data, uids=data["name"] if isinstance(data, datasets.Dataset) else UIDS, data_collator=_encoded)
    assert same(read_dynamics(tmp_path / "dynamics"), expected(tmp_path)[0])


def test_a_row_is_named_by_its_position_where_no_uids_are_given(tmp_path: Path) -> None:
    train(tmp_path, uids=None)
    dynamics = read_dynamics(tmp_path / "dynamics")
    assert dynamics.uids.tolist() == sorted(str(row) for row in range(ROWS))
    assert [dynamics.gold[place] for place in np.argsort(dynamics.uids.astype(int))] == [row["labels"] for row in rows()]
    train(tmp_path, uids=range(100, 100 + ROWS))
    assert read_dynamics(tmp_path / "dynamics").uids.tolist() == [str(uid) for uid in range(100, 100 + ROWS)]


class _Tuples(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, CLASSES)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.layer(input_ids.float())
        return nn.functional.cross_entropy(logits, labels), logits


def test_a_module_that_returns_loss_and_logits_is_recorded(tmp_path: Path) -> None:
    train(tmp_path, _Tuples())
    assert read_dynamics(tmp_path / "dynamics").logits.shape == (ROWS, 2, CLASSES)


def test_the_model_has_no_hooks_left_and_a_second_training_starts_from_the_beginning(tmp_path: Path) -> None:
    trainer = train(tmp_path)
    first = read_dynamics(tmp_path / "dynamics")
    assert not trainer.model._forward_hooks and not trainer.model._forward_pre_hooks
    trainer.train()
    second = read_dynamics(tmp_path / "dynamics")
    assert second.logits.shape == first.logits.shape
    assert not np.array_equal(second.logits, first.logits)


def test_a_copy_of_the_model_made_in_training_is_not_recorded(tmp_path: Path) -> None:
    class Copying(TrainerCallback):
        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            copied = copy.deepcopy(kwargs["model"]).train()
            copied(**default_data_collator(rows()))

    train(tmp_path, network(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), callbacks=[Copying()])
    (tmp_path / "plain").mkdir()
    train(tmp_path / "plain", network(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    assert same(read_dynamics(tmp_path / "dynamics"), read_dynamics(tmp_path / "plain" / "dynamics"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "accumulated"),
    [(3, 1), (6, 1), (9, 1), (12, 1), (1, 4), (3, 4)],
    ids=["first epoch", "end of the first", "second epoch", "end of the second", "accumulated", "accumulated, second epoch"],
)
def test_a_resumed_training_ends_in_the_same_files(step: int, accumulated: int, tmp_path: Path) -> None:
    settings = {"num_train_epochs": 3, "save_strategy": "steps", "save_steps": 1, "gradient_accumulation_steps": accumulated}
    train(tmp_path, **settings)
    files = {path.name: path.read_bytes() for path in (tmp_path / "dynamics").iterdir()}
    assert sorted(files) == ["epoch=0.parquet", "epoch=1.parquet", "epoch=2.parquet"]
    for path in (tmp_path / "dynamics").iterdir():
        if int(path.stem.partition("=")[2]) >= step // (6 if accumulated == 1 else 2):
            path.unlink()
    train(tmp_path, resume=f"checkpoint-{step}", **settings)
    assert {path.name: path.read_bytes() for path in (tmp_path / "dynamics").iterdir()} == files


def test_a_training_resumes_from_the_end_of_an_epoch(tmp_path: Path) -> None:
    train(tmp_path, save_strategy="epoch")
    last = epoch_file(tmp_path / "dynamics", 1).read_bytes()
    assert not (tmp_path / "trainer" / "checkpoint-6" / "dynamics").exists()
    train(tmp_path, save_strategy="epoch", resume="checkpoint-6")
    assert epoch_file(tmp_path / "dynamics", 1).read_bytes() == last


def test_an_epoch_whose_first_rows_were_not_recorded_is_refused(tmp_path: Path) -> None:
    train(tmp_path, save_strategy="steps", save_steps=3)
    shutil.rmtree(tmp_path / "trainer" / "checkpoint-9" / "dynamics")
    with pytest.raises(InputError, match=r"checkpoint-9/dynamics does not exist: the training resumes in the middle of epoch 1"):
        train(tmp_path, save_strategy="steps", save_steps=3, resume="checkpoint-9")


def test_an_epoch_that_is_repeated_is_recorded_again(tmp_path: Path) -> None:
    train(tmp_path, save_strategy="steps", save_steps=9, num_train_epochs=3)
    first = read_dynamics(tmp_path / "dynamics")
    with pytest.warns(UserWarning, match="holds the dynamics of 2 whole epochs"):  # its steps were counted before it was begun again
        train(tmp_path, num_train_epochs=3, ignore_data_skip=True, resume="checkpoint-9")
    again = read_dynamics(tmp_path / "dynamics")
    assert np.array_equal(again.logits[:, 0], first.logits[:, 0])
    assert not (again.logits[:, 1] == first.logits[:, 1]).all(axis=1).any()


@pytest.mark.parametrize("settings", [{"max_steps": 8}, {"num_train_epochs": 1.3}])
def test_an_epoch_that_is_cut_short_is_left_out_with_a_warning(settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"stopped in the middle of an epoch, after 1\.33 epochs: .*dynamics of 1 whole epoch\."):
        train(tmp_path, **settings)
    assert read_dynamics(tmp_path / "dynamics").logits.shape == (ROWS, 1, CLASSES)


class _Stream(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return iter(rows())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataloader_drop_last": True}, r"dataloader_drop_last leaves 2 rows of 22 out of every epoch"),
        ({"data": _Stream(), "max_steps": 3}, r"the train set is a _Stream read through a DataLoader\w+, in which rows have no positions"),
        ({"uids": UIDS[1:]}, r"uids name 21 of the train set's 22 rows"),
        ({"uids": [*UIDS[1:], None]}, r"uids name 21 of the train set's 22 rows"),
        ({"uids": [*UIDS[1:], UIDS[3]]}, r"1 uid name more than one row of the train set: 'row 03'"),
        ({"uids": [*UIDS[1:], 1.5]}, r"uids must be strings of valid Unicode or whole numbers, but 1\.5 is of type float"),
        ({"labels": "gold"}, r"batches have no `gold` \(they have: \w+, \w+\); give DynamicsCallback the key"),
    ],
)
def test_what_cannot_be_recorded_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        train(tmp_path, **changes)


def test_labels_of_tokens_and_logits_without_classes_are_refused(tmp_path: Path) -> None:
    data = [{**row, "labels": row["input_ids"]} for row in rows()]
    with pytest.raises(InputError, match=r"`labels` of a batch of 4 rows is of shape \(4, 6\).*one label id per row"):
        train(tmp_path, data=data)

    class Scores(_Tuples):
        def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            loss, logits = super().forward(input_ids, labels)
            return loss, logits[:, :1]

    with pytest.raises(InputError, match=r"the model's logits are of shape \(4, 1\); training dynamics need `logits` of shape"):
        train(tmp_path, Scores())


def test_the_callback_is_shown_in_a_line(tmp_path: Path) -> None:
    recording = DynamicsCallback(tmp_path, uids=UIDS)
    assert repr(recording) == f"DynamicsCallback('{tmp_path}', recorder=None)"


_TWO_PROCESSES = """
import sys
from pathlib import Path
import torch
from tests.unit.dynamics.test_callback import network, train
from transformers import TrainerCallback

folder, resume = Path(sys.argv[1]), sys.argv[2] or None
train(folder, network(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), resume=resume, save_strategy="steps", save_steps=1)
torch.distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_two_processes_record_every_row_once_and_resume(tmp_path: Path) -> None:
    _run_two(tmp_path, "")
    files = {path.name: path.read_bytes() for path in (tmp_path / "dynamics").glob("*.parquet")}
    dynamics = read_dynamics(tmp_path / "dynamics")
    assert dynamics.uids.tolist() == UIDS
    assert dynamics.gold.tolist() == [row["labels"] for row in rows()]
    assert dynamics.logits.shape == (ROWS, 2, CLASSES)
    # Before the first update every process has the same weights: what it said of its rows is what a single process says.
    model = network(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    first = model(**default_data_collator(rows())).logits.detach().numpy()
    unmoved = np.isclose(dynamics.logits[:, 0], first, rtol=0, atol=1e-5).all(axis=1)
    assert 8 <= unmoved.sum() < ROWS
    epoch_file(tmp_path / "dynamics", 1).unlink()
    _run_two(tmp_path, "checkpoint-5")
    assert {path.name: path.read_bytes() for path in (tmp_path / "dynamics").glob("*.parquet")} == files


def _run_two(folder: Path, resume: str) -> None:
    script = folder / "two.py"
    script.write_text(_TWO_PROCESSES)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=2", str(script)]
    paths = [str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run([*command, str(folder), resume], check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
