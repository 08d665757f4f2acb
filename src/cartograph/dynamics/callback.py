"""Training dynamics recorded from an unmodified Hugging Face ``Trainer``."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from transformers import TrainerCallback
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from cartograph.data.parquet import write_parquet
from cartograph.data.uids import some, text_uids
from cartograph.dynamics.epoch_files import logits_of
from cartograph.dynamics.numbered_batches import ROWS, require_every_row, with_rows
from cartograph.dynamics.recorder import DynamicsRecorder, UidsAt
from cartograph.errors import InputError
from cartograph.wording import counted

_UNFINISHED = re.compile(r"epoch=(\d+)\.rank=(\d+)\.parquet")


class DynamicsCallback(TrainerCallback):  # type: ignore[misc]
    """Record a model's logits of every training example in every epoch, from an unmodified Hugging Face ``Trainer``.

    >>> import tempfile
    >>> from transformers import RobertaConfig, RobertaForSequenceClassification, Trainer, TrainingArguments
    >>> from cartograph.dynamics.epoch_files import read_dynamics
    >>> size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    >>> model = RobertaForSequenceClassification(RobertaConfig(vocab_size=20, max_position_embeddings=8, **size))
    >>> train_set = [{"input_ids": [0, 4 + row, 2], "labels": row % 2} for row in range(10)]
    >>> folder = tempfile.mkdtemp()
    >>> arguments = TrainingArguments(folder, num_train_epochs=3, report_to="none", save_strategy="no")
    >>> recording = DynamicsCallback(f"{folder}/dynamics", uids=[f"row {row}" for row in range(10)])
    >>> Trainer(model, arguments, train_dataset=train_set, callbacks=[recording]).train()  # doctest: +ELLIPSIS
    {...TrainOutput(...)
    >>> dynamics = read_dynamics(f"{folder}/dynamics")
    >>> dynamics.uids[0], dynamics.logits.shape  # examples, epochs, classes
    ('row 0', (10, 3, 2))

    Recorded are the logits of the training pass, as in the code of Swayamdipta et al. 2020: dropout on, before the batch's update.
    Evaluation is not recorded, and the training is the same as without the callback.

    Each batch carries the positions of its rows to the model, where a hook takes them out again before the forward pass; so neither
    the dataset nor the collator nor ``remove_unused_columns`` needs to change. Gradient accumulation, every sampling strategy and
    several data loading workers are supported. Of several processes each records its own rows; the parts are merged when the epoch
    ends, and a row that is repeated to fill the last batch keeps its first record.

    A checkpoint in the middle of an epoch holds what was recorded of it so far (``checkpoint-N/dynamics``); a training that resumes
    from there goes on with it. A last epoch that ends early (``max_steps``, early stopping) is left out, with a warning.

    Args:
        folder: where ``epoch=N.parquet`` is written; a training that starts there from the beginning discards earlier files.
        uids: the name of each row of the train set, strings or whole numbers, such as ``train_set["id"]``; None = its position, from 0.
        labels: the key of a collated batch that holds the gold label ids, (batch,).
    """

    def __init__(self, folder: str | Path, *, uids: Iterable[str | int] | None = None, labels: str = "labels") -> None:
        self.folder = Path(folder)
        self.labels = labels
        self.recorder: DynamicsRecorder | None = None
        self._given = None if uids is None else list(uids)
        self._uids: list[str] = []
        self._hooks: list[Any] = []
        self._loader: Any = None
        self._plain_loader: Any = None
        self._rows: dict[int, torch.Tensor] = {}

    def __repr__(self) -> str:
        return f"DynamicsCallback({str(self.folder)!r}, recorder={self.recorder!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: a copy of the model, such as a moving average, copies its hooks, but there is one recording."""
        return self

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Number the rows of the batches, hook the model, and read what a checkpoint holds of an unfinished epoch.

        Raises:
            InputError: the train set has no positions, ``dataloader_drop_last`` would leave rows out, ``uids`` do not match the train
                set, or the checkpoint is in the middle of an epoch and does not hold its dynamics.
        """
        self._stop()
        loader, model = kwargs["train_dataloader"], kwargs["model"]
        require_every_row(loader, args)
        self._uids = _names(self._given, len(loader.dataset))
        self.recorder = self._begun(args, state)
        self._loader, self._plain_loader = loader, loader.base_dataloader
        loader.base_dataloader = with_rows(loader.base_dataloader, self.labels)
        self._hooks = [model.register_forward_pre_hook(self._take_rows, with_kwargs=True), model.register_forward_hook(self._record)]

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the epoch's dynamics, or leave them out where the training was stopped before the epoch's end."""
        if self.recorder is None:
            return
        if float(state.epoch).is_integer():
            self.recorder.end_epoch()
            return
        self.recorder.discard_unfinished()
        if state.is_world_process_zero:
            warnings.warn(
                f"the training stopped in the middle of an epoch, after {state.epoch:.2f} epochs: {self.folder} holds the dynamics of "
                f"{counted(self.recorder.epoch, 'whole epoch')}.",
                stacklevel=2,
            )

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Keep with the checkpoint what this process has recorded of an unfinished epoch."""
        if self.recorder is not None and self.recorder.rows and not state.is_hyper_param_search:
            folder = _checkpointed(args, state)
            folder.mkdir(parents=True, exist_ok=True)
            write_parquet(self.recorder.unfinished(), folder / f"epoch={self.recorder.epoch}.rank={args.process_index}.parquet")

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Leave the model and the data loader as they were."""
        self._stop()

    def _stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        if self._loader is not None:
            self._loader.base_dataloader = self._plain_loader
        self._hooks, self._loader, self._plain_loader, self._rows = [], None, None, {}

    def _begun(self, args: Any, state: Any) -> DynamicsRecorder:
        """Return the recorder of a training that begins, or resumes where its checkpoint was written."""
        whole = float(state.epoch or 0).is_integer()
        epoch = int(state.epoch or 0)
        kept = {path: name for path in _files(_checkpointed(args, state)) if (name := _UNFINISHED.fullmatch(path.name))}
        if not state.global_step or (args.ignore_data_skip and not whole):
            kept = {}
        elif not kept and not whole:
            raise InputError(
                f"{_checkpointed(args, state)} does not exist: the training resumes in the middle of epoch {epoch}, and the rows before "
                "were not recorded there; resume from a checkpoint of the end of an epoch, or of a training with this callback."
            )
        start = min((int(name[1]) for name in kept.values()), default=epoch)
        recorder = DynamicsRecorder(self.folder, start_epoch=start, uids=self._uids)
        for path in sorted(kept)[args.process_index :: args.world_size]:
            part = pq.ParquetFile(path).read()
            recorder.record(part["uid"].to_pylist(), torch.from_numpy(logits_of(part).copy()), part["gold"].to_pylist())
        if kept and whole:  # saved after the last step of an epoch and before ``on_epoch_end``
            recorder.end_epoch()
        return recorder

    def _take_rows(self, module: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        rows = kwargs.pop(ROWS, None)
        if rows is not None:
            self._rows[threading.get_ident()] = rows
        return args, kwargs

    def _record(self, module: Any, args: Any, output: Any) -> None:
        # One entry per thread: torch's DataParallel runs a replica in each.
        rows = self._rows.pop(threading.get_ident(), None)
        if rows is not None and self.recorder is not None:
            self.recorder.record(UidsAt(rows[:, 0], self._uids), _logits_of(output), rows[:, 1])


def _logits_of(output: Any) -> torch.Tensor:
    logits = output.get("logits") if isinstance(output, Mapping) else output[1] if isinstance(output, tuple) and len(output) > 1 else None
    if not isinstance(logits, torch.Tensor) or logits.ndim != 2 or logits.shape[1] < 2:
        came = f"of shape {tuple(logits.shape)}" if isinstance(logits, torch.Tensor) else f"not in its output, a {type(output).__name__}"
        raise InputError(
            f"the model's logits are {came}; training dynamics need `logits` of shape (batch, n_classes) for two classes or more."
        )
    return logits


def _names(given: Iterable[str | int] | None, rows: int) -> list[str]:
    if given is None:
        return [str(row) for row in range(rows)]
    try:
        uids = text_uids(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"uids must be strings of valid Unicode or whole numbers, but {str(error).splitlines()[0]}.") from error
    if len(uids) != rows or uids.null_count:
        raise InputError(
            f"uids name {len(uids) - uids.null_count:,} of the train set's {counted(rows, 'row')}; give one per row, in the same order."
        )
    named: list[str] = uids.to_pylist()
    counts = uids.value_counts()
    again = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(again):
        raise InputError(f"{counted(len(again), 'uid')} name more than one row of the train set: {some(again.field('values'))}.")
    return named


def _checkpointed(args: Any, state: Any) -> Path:
    return Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}" / "dynamics"


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
