"""How a step trains: parameters, recipe, folds, files of a pretrained model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from cartograph.config import Params as Section
from cartograph.models.registry import FROM_A_FOLDER, MODELS
from tasks.audit.pretrained_folder import local_folder
from tasks.engine.workspace import user_file

if TYPE_CHECKING:
    from cartograph.train.recipe import Recipe
    from tasks.engine.workspace import Workspace


_EMBEDDED = "data/embed"


Tell = Callable[[int, int], None]


class Params(Section):
    """Parameters of a training, or where its dynamics are brought from."""

    model: str = Field(
        "bow",
        description="bow (hashed n-grams), lstm or esim (over words, from scratch), tiny (a small RoBERTa made from the data), "
        "probe (a head on a frozen encoder; see embed), transformer (a pretrained encoder); for images cnn (a small convolutional network) "
        "or vision (a pretrained classifier of images)",
    )
    epochs: int = Field(8, ge=1, description="passes over the train set; dynamics are recorded in each")
    batch_size: int = Field(64, ge=1, description="rows per optimiser step")
    learning_rate: float = Field(0.005, gt=0, description="peak learning rate of AdamW")
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
    live: bool = Field(False, description="show the loss in MLflow while it trains")
    dynamics: str | None = Field(None, description="instead of training: a folder of recorded dynamics, or a file of coordinates")
    dynamics_epochs: int | None = Field(
        None, ge=1, description="epochs behind imported coordinates whose correctness is a count; null: told from its maximum"
    )

    @field_validator("model")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in MODELS:
            raise ValueError(f"should be one of {', '.join(MODELS)}, but is {value!r}")
        return value

    @field_validator("processes", mode="before")
    @classmethod
    def _auto_or_a_number(cls, value: Any) -> Any:
        if value == "auto" or (type(value) is int and value >= 1):
            return value
        raise ValueError(f"should be `auto` or a whole number of 1 or more, but is {value!r}")

    @field_validator("folds")
    @classmethod
    def _none_or_two(cls, value: int) -> int:
        if value == 1:
            raise ValueError("should be 0 (none), or 2 or more, so that each row has models that did not see it, but is 1")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.gradient_accumulation > self.batch_size:
            raise ValueError(
                f"gradient_accumulation cuts a batch into {self.gradient_accumulation} parts, but batch_size is {self.batch_size}; lower it"
            )
        if self.model in FROM_A_FOLDER and self.pretrained is None and self.dynamics is None:
            raise ValueError(f"model `{self.model}` needs `pretrained`: a model's folder, or a hub id")
        if self.model == "probe" and self.pretrained is not None and self.dynamics is None:
            raise ValueError("model `probe` reads vectors that the step `embed` makes; name the encoder in `embed.pretrained` instead")
        if self.folds and self.dynamics is not None:
            raise ValueError("folds needs a training of its own, but dynamics are brought along; set folds to 0")
        return self


def fit_folds_of(params: Params, recipe: Recipe, rows: Path, folder: Path, processes: int | None, tell: Tell) -> Path:
    """Return the folder of K-fold training's dynamics, as the section says; progress leaves room for the training after it."""
    from cartograph.train.k_fold import fit_folds

    # Each fold leaves out its rows: together they are folds - 1 trainings on all rows, and one more comes after them.
    def shown(done: int, total: int) -> None:
        tell(done, total // (params.folds - 1) * params.folds)

    return fit_folds(recipe, rows, folder, folds=params.folds, processes=processes, progress=shown)


def after_folds(tell: Tell, folds: int) -> Tell:
    """Return the progress of the training that follows on ``fit_folds_of``."""
    return lambda done, total: tell(max(folds - 1, 0) * total + done, max(folds, 1) * total)


def recipe_of(params: Params, workspace: Workspace | None = None) -> Recipe:
    """Return how the section says to train.

    Args:
        params: the section.
        workspace: where the model `probe` finds its vectors; a step that trains it declares them as ``pretrained_files`` says.
    """
    from cartograph.train.recipe import Recipe

    values = params.model_dump(exclude={"folds", "processes", "dynamics", "dynamics_epochs"})
    local = local_folder(params.pretrained)
    if params.model == "probe" and workspace is not None:
        local = workspace.resolve(_EMBEDDED)
    return Recipe(**values | {"pretrained": str(local) if local else params.pretrained})


def pretrained_files(params: Params) -> tuple[str, ...]:
    """Return the declared name of the folder that the model starts from, where it is a folder here."""
    if params.model == "probe":
        return (_EMBEDDED,)
    return () if params.model not in FROM_A_FOLDER or local_folder(params.pretrained) is None else (user_file(params.pretrained or ""),)
