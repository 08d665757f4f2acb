"""The section `train` of params.yaml."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from cartograph.config import Section
from cartograph.models.registry import FIRST_EPOCHS, FROM_A_FOLDER, MODELS, batch_for
from tasks.audit.parameters.values import auto_or_at_least


class Train(Section):
    """The section ``train`` of params.yaml: how the model of the map is trained, or dynamics to import instead."""

    model: str = Field(
        "bow",
        description="bow (hashed n-grams), lstm or esim (over words, from scratch), tiny (a small RoBERTa made from the data), "
        "probe (a head on a frozen encoder; see embed), transformer (a pretrained encoder); for images cnn (a small convolutional network) "
        "or vision (a pretrained classifier of images); for tables of features mlp (over numbers and embedded "
        "categories) or boosting (gradient-boosted trees, a few more in each epoch)",
    )
    epochs: int | Literal["auto"] = Field(
        "auto",
        description="passes over the train set; dynamics are recorded in each. auto: 8 (cnn 12, transformer and vision 5), fewer where "
        "the map of 20,000 rows or more has settled, twice as many, up to 16 times, where the model has not learnt; or a number",
    )
    batch_size: int | Literal["auto"] = Field(
        "auto",
        description="rows per optimiser step. auto: 64; of bow 128 from 128,000 train rows on, 256 from 256,000 on; of mlp 16 below "
        "4,000, 256 from 128,000 on",
    )
    learning_rate: float = Field(0.005, gt=0, description="peak learning rate of AdamW; of boosting the rate of each stage, 0.2")
    schedule_epochs: int = Field(0, ge=0, description="epochs over which the rate falls to 0, where more than are trained; 0: those")
    patience: int | None = Field(
        None,
        ge=1,
        description="epochs without a higher accuracy on the evaluation set `validation` (in distribution) after which the training ends; "
        "the best epoch's model is kept, the map has the epochs that ran; null: no",
    )
    seed: int = Field(13, ge=0, description="seed of initial weights and order")
    record: Literal["train_pass", "epoch_end"] = Field(
        "train_pass", description="when probabilities are read: train_pass (free) or epoch_end (an extra pass, dropout off)"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu, or cuda")
    gradient_accumulation: int = Field(1, ge=1, description="parts that a batch is cut into, to save memory")
    max_length: int = Field(128, ge=4, description="tokens; longer texts are cut")
    pretrained: str | None = Field(None, description="transformer and vision only: a model's folder, or a hub id")
    folds: int = Field(0, ge=0, description="also score each row by models that never saw it, in so many folds; 0: no")
    processes: int | Literal["auto"] = Field("auto", description="training processes: auto (one per GPU), or a number")
    threads: int = Field(0, ge=0, description="CPU threads per process; 0: as many as serve the model")
    evaluate: Literal["epoch", "end"] = Field("epoch", description="when the evaluation sets are scored: epoch (after each), or end")
    live: bool = Field(
        False,
        description="show the loss in MLflow while it trains; not of boosting, whose trees all grow before the first epoch is read",
    )
    dynamics: str | None = Field(None, description="instead of training: a folder of recorded dynamics, or a file of coordinates")
    dynamics_epochs: int | None = Field(
        None, ge=1, description="epochs behind imported coordinates whose correctness is a count; null: taken from its maximum"
    )

    @field_validator("model")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in MODELS:
            raise ValueError(f"should be one of {', '.join(MODELS)}, but is {value!r}")
        return value

    _auto_or_a_number = field_validator("epochs", "batch_size", "processes", mode="before")(auto_or_at_least(1))

    @field_validator("folds")
    @classmethod
    def _none_or_two(cls, value: int) -> int:
        if value == 1:
            raise ValueError("should be 0 (none), or 2 or more, so that each row has models that did not see it, but is 1")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        batch, parts = self.batch_of(0), self.gradient_accumulation
        if parts > batch:
            raise ValueError(f"gradient_accumulation cuts a batch into {parts} parts, but batch_size is {batch}; lower it")
        if self.model in FROM_A_FOLDER and self.pretrained is None and self.dynamics is None:
            raise ValueError(f"model `{self.model}` needs `pretrained`: a model's folder, or a hub id")
        if self.model == "probe" and self.pretrained is not None and self.dynamics is None:
            raise ValueError("model `probe` reads vectors that the step `embed` makes; name the encoder in `embed.pretrained` instead")
        if self.folds and self.dynamics is not None:
            raise ValueError("folds needs a training run, but the dynamics are imported; set folds to 0")
        return self

    @property
    def adapts(self) -> bool:
        """Whether the training of the map goes on until the model has learnt."""
        return self.epochs == "auto" and self.dynamics is None

    @property
    def ends_itself(self) -> bool:
        """Whether the number of epochs that the map has is known only when its training has ended."""
        return self.adapts or (self.patience is not None and self.dynamics is None)

    @property
    def first_epochs(self) -> int:
        """How many epochs the training of the map begins with."""
        return FIRST_EPOCHS[self.model] if self.epochs == "auto" else self.epochs

    def batch_of(self, rows: int) -> int:
        """Return how many rows an optimiser step has on a train set of so many rows."""
        if self.batch_size != "auto":
            return self.batch_size
        return batch_for(self.model, rows)

    @property
    def process_count(self) -> int | None:
        """How many processes train together; None for one per GPU."""
        return None if self.processes == "auto" else self.processes
