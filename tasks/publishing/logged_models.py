"""MLflow's logged models: one per run that has such a model, found again however often it is published."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.engine.digest import digest_path
from tasks.publishing.records import Logged, Model, Package

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel, Run

_REFUSED = re.compile(r"[/:.%\"']")
_DESCRIPTION = "mlflow.note.content"
_ARTIFACT = "matcher"
_NUMBERS_ALONE = {"mlflow.model.isExternal": "true"}
_COMPLETE = "cartograph.published"


def has_logged_models(client: MlflowClient, experiment_id: str) -> bool:
    """Return whether the store keeps logged models: a server of MLflow 2 does not know them."""
    from mlflow.exceptions import MlflowException

    try:
        client.search_logged_models([experiment_id], max_results=1)
    except MlflowException as error:
        if error.error_code != "ENDPOINT_NOT_FOUND":
            raise
        return False
    return True


def find_logged_model(client: MlflowClient, run: Run, fingerprint: str) -> LoggedModel | None:
    """Return the logged model of a run; deleted ones do not count, and one whose run was deleted is deleted."""
    condition = f"tags.`cartograph.fingerprint` = '{fingerprint}'"
    found = None
    for model in client.search_logged_models([run.info.experiment_id], condition, order_by=[{"field_name": "creation_time"}]):
        if model.source_run_id == run.info.run_id:
            found = found or model
        elif model.source_run_id is not None and client.get_run(model.source_run_id).info.lifecycle_stage == "deleted":
            client.delete_logged_model(model.model_id)
    return found


def is_ready(model: LoggedModel | None, logged: Logged) -> bool:
    """Return whether a logged model is there, complete, and of the same data."""
    return model is not None and str(model.status) == "READY" and model.tags.get(_COMPLETE) == _content(logged)


def _content(logged: Logged) -> str:
    return "numbers" if logged.package is None else digest_path(logged.package.data)


def begin_logged_model(client: MlflowClient, run: Run, record: Model, logged: Logged) -> str:
    """Return the id of a run's logged model, which is made where it is missing."""
    from mlflow.entities import LoggedModelOutput

    found = find_logged_model(client, run, record.fingerprint)
    if found is None:
        kept = {name: value for name, value in record.tags.items() if name.startswith("cartograph.") or name == _DESCRIPTION}
        found = client.create_logged_model(
            run.info.experiment_id,
            name=_REFUSED.sub("_", logged.name),
            source_run_id=run.info.run_id,
            tags=kept | ({} if logged.package else _NUMBERS_ALONE) | {"cartograph.fingerprint": record.fingerprint},
            params=record.params,
            model_type=logged.kind,
        )
    outputs = client.get_run(run.info.run_id).outputs
    if outputs is None or found.model_id not in [output.model_id for output in outputs.model_outputs]:
        client.log_outputs(run.info.run_id, [LoggedModelOutput(found.model_id, 0)])
    return str(found.model_id)


def complete_logged_model(client: MlflowClient, model_id: str, logged: Logged) -> None:
    """Write the model, or what says that it is not in MLflow itself, and mark it as complete."""
    from mlflow.entities import LoggedModelStatus
    from mlflow.models.utils import get_external_mlflow_model_spec

    model = client.get_logged_model(model_id)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "model"
        if logged.package is None:
            folder.mkdir()
            get_external_mlflow_model_spec(model).save(str(folder / "MLmodel"))
        else:
            _save(logged.package, model, folder)
        client.log_model_artifacts(model_id, str(folder))
    client.set_logged_model_tags(model_id, {_COMPLETE: _content(logged)})
    client.finalize_logged_model(model_id, LoggedModelStatus.READY)


def _save(package: Package, model: LoggedModel, folder: Path) -> None:
    """Write a model as MLflow loads it: code and data, nothing pickled."""
    from importlib.metadata import version

    from mlflow import pyfunc
    from mlflow.models import Model as Specification
    from mlflow.models import ModelSignature
    from mlflow.types.schema import ColSpec, DataType, Schema

    signature = ModelSignature(
        inputs=Schema([ColSpec(DataType.string, name) for name in package.columns]),
        outputs=Schema([ColSpec(DataType.double, package.answers)]),
    )
    specification = Specification(
        artifact_path=model.artifact_location, run_id=model.source_run_id, model_uuid=model.model_id, model_id=model.model_id
    )
    with warnings.catch_warnings():
        # An example would be a row of somebody's data; the signature is given.
        warnings.simplefilter("ignore", UserWarning)
        pyfunc.save_model(
            str(folder),
            python_model=str(package.code),
            artifacts={_ARTIFACT: str(package.data)},
            signature=signature,
            mlflow_model=specification,
            pip_requirements=[f"{name}=={version(name).partition('+')[0]}" for name in package.libraries],
        )
