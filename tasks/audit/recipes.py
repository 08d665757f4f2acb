"""How the section `train` says to train: recipe, folds, files of a pretrained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json
from cartograph.data.progress import Progress
from cartograph.models.registry import FROM_A_FOLDER
from tasks.audit.parameters.train import Train
from tasks.audit.pretrained_folder import local_folder
from tasks.engine.workspace import user_file

if TYPE_CHECKING:
    from cartograph.train.recipe import Recipe
    from tasks.engine.step import Out
    from tasks.engine.workspace import Workspace


TRAINING = "data/train/training.json"
_ROWS = "data/ingest/train.parquet"
_EMBEDDED = "data/embed"


def fit_folds_of(params: Train, recipe: Recipe, rows: Path, out: Out, update: Progress) -> Path:
    """Return the folder of K-fold training's dynamics, as the section says; progress leaves room for one training more."""
    from cartograph.train.k_fold import fit_folds

    # Each fold leaves out its rows: together they are folds - 1 trainings on all rows, and one more is counted with them.
    def shown(done: int, total: int) -> None:
        update(done, total // (params.folds - 1) * params.folds)

    return fit_folds(recipe, rows, out.checkpoints, folds=params.folds, processes=params.process_count, progress=shown, spread=out.spread)


def recipe_of(params: Train, workspace: Workspace | None = None, trained: Path | None = None) -> Recipe:
    """Return how the section says to train.

    Args:
        params: the section.
        workspace: where the train set is, by whose rows a batch's size goes, and where the model `probe` finds its vectors; a step that
            trains it declares them as ``pretrained_files`` says.
        trained: ``training.json`` of the map's training, whose number of epochs goes where the section leaves it open or patience ends
            the training; a step that trains as the map was trained declares it as ``epochs_file`` says. None: the number that the map's
            training begins with.

    Returns:
        The recipe, without patience: the step that trains says by which set it judges epochs.
    """
    from cartograph.train.recipe import Recipe

    values = params.model_dump(exclude={"folds", "processes", "dynamics", "dynamics_epochs", "patience"})
    settled = read_json(trained)["epochs"] if params.ends_itself and trained is not None else None
    values["epochs"] = settled or params.first_epochs
    if settled and params.patience is not None and not params.adapts:
        # The map's training ended before its last epoch: the rate fell as if it had not.
        values["schedule_epochs"] = max(params.schedule_epochs, params.first_epochs)
    values["batch_size"] = params.batch_of(0 if workspace is None else _rows_in(workspace))
    local = local_folder(params.pretrained)
    if params.model == "probe" and workspace is not None:
        local = workspace.resolve(_EMBEDDED)
    return Recipe(**values | {"pretrained": str(local) if local else params.pretrained})


def _rows_in(workspace: Workspace) -> int:
    """Return the rows of the train set; every step that trains declares it."""
    import pyarrow.parquet as pq

    path = workspace.resolve(_ROWS)
    return pq.read_metadata(path).num_rows if path.exists() else 0


def epochs_file(params: Train) -> tuple[str, ...]:
    """Return where the number of epochs stands that the map's training came to, where the section leaves it open or has patience."""
    return (TRAINING,) if params.ends_itself else ()


def pretrained_files(params: Train) -> tuple[str, ...]:
    """Return the declared name of the folder that the model starts from, where it is a folder here."""
    if params.model == "probe":
        return (_EMBEDDED,)
    return () if params.model not in FROM_A_FOLDER or local_folder(params.pretrained) is None else (user_file(params.pretrained or ""),)
