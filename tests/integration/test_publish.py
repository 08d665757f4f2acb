"""Publishing to a real MLflow store: one run per audit, whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph import schema
from cartograph.compare.versions import SUMMARY, VERSIONS
from cartograph.config import Section
from cartograph.data.content import content_digest
from cartograph.data.subsets import take_subset
from cartograph.errors import InputError
from cartograph.page.document import plain_page
from cartograph.page.verdict import Verdict
from tasks.__main__ import main
from tasks.audit import evaluate, publish, retrain
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.plan import retrained_models
from tasks.audit.publication import read_publication
from tasks.engine.snapshot import KEPT_PARAMS, Snapshot
from tasks.engine.step import Inputs, Out, Step
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import STEPS
from tasks.publishing import store, tracking_uri
from tests.mlflow_server import tracking_server
from tests.workspaces import make_workspace, use_project, with_sections

HOSTILE = "</script><script>document.title='taken'</script>"
LABELS = ("no", "yes")


def examples(name: str, domain: schema.Domain, count: int) -> pa.Table:
    info = schema.DatasetInfo(name, domain, "pair", ("premise", "hypothesis"), (), LABELS)
    rows = [
        {
            "uid": f"{name}-{i}",
            "premise": f"premise {i}",
            "hypothesis": HOSTILE if i == 0 else f"claim {i}",
            "label": i % 2,
            "source": "a.csv",
            "row": i + 1,
        }
        for i in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=schema.examples_schema(info))


def measures(count: int) -> pa.Table:
    rng = np.random.default_rng(0)
    rows = []
    for i in range(count):
        row = dict.fromkeys(schema.MEASURES.names, 0) | {"uid": f"train-{i}", "gold": i % 2, "predicted": 1, "never_learnt": False}
        row |= {"confidence": rng.random(), "variability": rng.random() / 2, "correctness": rng.integers(0, 5) / 4, "region": "ambiguous"}
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=schema.MEASURES)


def steps() -> tuple[Step, ...]:
    """The steps of an audit that cleans and retrains."""
    clean = Step(name="clean", run=publish.run, params=Section, outputs=("data/clean",))
    found = {step.name: step for step in (clean, retrain.STEP, evaluate.STEP)}
    found |= {step.name: step for step in STEPS if step.name != "publish"}
    return tuple(found.values())


STEP = publish.step(steps())


def write_cleaned(folder: Path, train: pa.Table) -> None:
    """Write a version without the first two rows and with the third one's label turned, and as many rows from the end."""
    subsets = folder.parent / "select"
    for made in (folder, subsets):
        made.mkdir(parents=True)
    whole = train.select(["uid", "label"]).cast(schema.SUBSET)
    labels = [1 - label if row == 2 else label for row, label in enumerate(whole["label"].to_pylist())]
    turned = whole.set_column(1, schema.SUBSET.field("label"), pa.array(labels, pa.int32()))
    for name, part in (("original", whole), ("cleaned", turned.slice(2)), ("random", whole.slice(2))):
        pq.write_table(part.sort_by("uid"), subsets / f"{name}.parquet")
    pq.write_table(take_subset(train, turned.slice(2)), folder / "cleaned.parquet")
    pq.write_table(schema.CHANGES.empty_table(), folder / "changes.parquet")


def write_filtered(folder: Path, train: pa.Table) -> None:
    """Write what a filter kept: every other row."""
    folder.mkdir(parents=True)
    pq.write_table(train.take(list(range(0, train.num_rows, 2))), folder / "filtered.parquet")
    pq.write_table(schema.AFLITE.empty_table(), folder / "aflite.parquet")


def write_models(workspace: Workspace, inputs: Inputs) -> None:
    for (subset, seed), folder in retrained_models(workspace.settings).items():
        inputs[folder].mkdir(parents=True)
        better = 0.1 * (subset == "cleaned")
        metrics = {"challenge.accuracy": 0.6 + better, "challenge.macro_f1": 0.58 + better, "validation.accuracy": 0.8 + better / 10}
        metrics |= {"validation.macro_f1": 0.79, "train.accuracy": 0.9, "train.failed": int(subset == "random"), "epochs": 8, "rows": 38}
        training = {"subset": subset, "seed": seed, "model": "bow", "epochs": 8, "rows": 38, "learning_rate": 0.005, "device": None}
        (inputs[folder] / "metrics.json").write_text(json.dumps(metrics))
        (inputs[folder] / "training.json").write_text(json.dumps(training))
    for name in ("evaluation.md", "evaluation.csv"):
        inputs["data/evaluate"].mkdir(parents=True, exist_ok=True)
        (inputs["data/evaluate"] / name).write_text(name)
    (inputs["data/evaluate"] / "recommended.json").write_text("{}")
    pq.write_table(pa.Table.from_pylist(list(summary()), schema=SUMMARY), inputs["data/evaluate"] / "summary.parquet")


def summary() -> Iterator[dict[str, Any]]:
    """Yield what `evaluate` says of each version: of one seed, and of none of `random`, which failed."""
    for subset in VERSIONS:
        for name, domain, score in (("validation", "id", 0.8), ("challenge", "ood", 0.6), ("challenge/hard", "ood", 0.4)):
            mean = score + 0.1 * (subset == "cleaned")
            row = {"subset": subset, "set": name, "domain": domain, "rows": 10, "metric": "accuracy", "seeds": 1, "failed": 0}
            yield row | ({"seeds": 0, "failed": 1} if subset == "random" else {"mean": mean, "low": mean - 0.05, "high": mean + 0.05})


def write_audit(workspace: Workspace, inputs: Inputs) -> None:
    """Write what the steps before this one leave."""
    ingest, measure = inputs["data/ingest"], inputs["data/measure"]
    for folder in (ingest, measure):
        folder.mkdir(parents=True)
    for name, domain, count in (("train", "train", 40), ("validation", "id", 10), ("challenge", "ood", 10)):
        pq.write_table(examples(name, cast(Any, domain), count), ingest / f"{name}.parquet")
    (ingest / "validation.json").write_text('{"passed": true, "sets": [], "quarantine": {}}\n')
    pq.write_table(measures(40), measure / "measures.parquet")
    for name, path in inputs.items():
        if name.startswith("reports/"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({f"{path.name.split('.')[0]}.share": 0.25}) if path.suffix == ".json" else f"<p>{name}</p>")
    write_cleaned(inputs["data/clean"], examples("train", "train", 40))
    write_filtered(inputs["data/aflite"], examples("train", "train", 40))
    write_models(workspace, inputs)
    inputs["data/compare"].mkdir(parents=True)
    (inputs["data/compare"] / "record.json").write_text('{"number": 3, "earlier": [{"rows": 38}], "numbers": {"rows": 40, "suspects": 2}}')
    inputs["reports/ingest.metrics.json"].write_text('{"rows.train": 40, "validation.passed": 1}')
    inputs["reports/measure.metrics.json"].write_text('{"region.ambiguous.share": 0.33, "confidence.mean": 0.5}')


class Audit:
    """A workspace below the project's root, with its inputs, and the store it publishes to."""

    def __init__(self, path: Path, store: Path) -> None:
        sections = {step.name: step.params() for step in steps()}
        self.workspace = make_workspace(path, **sections | {"retrain": Retrain(seeds=(1,)), "publish": publish.Publish()})
        self.inputs = Inputs(self.workspace, STEP.inputs_of(self.workspace.settings))
        self.store = store
        (path / "params.yaml").write_text("ingest: {}\n")
        write_audit(self.workspace, self.inputs)

    def publish(self, **params: Any) -> str:
        staged = self.workspace.path / "staged"
        staged.mkdir(exist_ok=True)
        out = Out(self.workspace, {"data/publish": staged}, staged, staged, staged)
        return publish.run(publish.Publish(**params), self.inputs, out)

    @property
    def published(self) -> dict[str, Any]:
        return cast(dict[str, Any], json.loads((self.workspace.path / "staged" / "published.json").read_text()))

    @property
    def client(self) -> Any:
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=f"sqlite:///{self.store}")

    def runs(self, experiment: str | None = None) -> list[Any]:
        """Return the runs of audits."""
        return [run for run in self.all_runs(experiment) if "mlflow.parentRunId" not in run.data.tags]

    def models(self) -> dict[str, Any]:
        """Return the runs of retrained models by name; no two have one name."""
        return {name: run for name, run in self._beneath().items() if name.startswith("retrain ")}

    def versions(self) -> dict[str, Any]:
        """Return the runs of train sets, each over its seeds, by name."""
        return {name: run for name, run in self._beneath().items() if not name.startswith("retrain ")}

    def logged(self) -> dict[str, Any]:
        """Return the logged models by name; no two have one name."""
        experiment = self.client.get_experiment_by_name(self.workspace.name)
        found = self.client.search_logged_models([experiment.experiment_id])
        named = {model.name: model for model in found}
        assert len(named) == len(found)
        return named

    def _beneath(self) -> dict[str, Any]:
        found = [run for run in self.all_runs() if "mlflow.parentRunId" in run.data.tags]
        named = {run.info.run_name: run for run in found}
        assert len(named) == len(found)
        return named

    def all_runs(self, experiment: str | None = None) -> list[Any]:
        found = self.client.get_experiment_by_name(experiment or self.workspace.name)
        return list(self.client.search_runs([found.experiment_id])) if found else []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated: Path) -> Iterator[str]:
    """The address of a real tracking server on loopback, on a database of its own."""
    home = tmp_path_factory.mktemp("server")
    shutil.copy(migrated, home / "mlflow.db")
    with tracking_server(home) as address:
        yield address


@pytest.fixture
def audit(tmp_path: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch) -> Audit:
    project = tmp_path / "project"
    space = project / "workspaces" / "small"
    space.mkdir(parents=True)
    store = tmp_path / "store" / "mlflow.db"
    store.parent.mkdir()
    shutil.copy(migrated, store)
    use_project(project, monkeypatch)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{store}")
    return Audit(space, store)


def test_one_run_holds_the_whole_audit(audit: Audit) -> None:
    metrics = {"rows.train": 40, "validation.passed": 1, "region.ambiguous.share": 0.33, "confidence.mean": 0.5}
    summary = audit.publish()
    [run] = audit.runs()
    assert summary == f"experiment small, {len(run.data.metrics)} metrics, 5 datasets, 3 retrained models"
    assert metrics.items() <= run.data.metrics.items()
    assert run.data.metrics["score.score.share"] == 0.25
    assert run.data.params["ingest.rows"] == "6000"
    assert run.data.params["ingest.evaluation.challenge.domain"] == "ood"
    assert not [name for name in run.data.params if name.startswith("publish.")]
    assert run.info.status == "FINISHED"
    fingerprint = audit.published["fingerprint"]
    assert run.info.run_name.startswith("audit 2") and run.info.run_name.endswith(fingerprint[:8])
    assert run.data.tags["cartograph.fingerprint"] == fingerprint
    assert run.data.tags["cartograph.dvc_lock"] == "-"
    assert sorted((item.dataset.name, item.tags[0].value) for item in run.inputs.dataset_inputs) == [
        ("small", "audited"),
        ("small", "cleaned"),
        ("small", "filtered"),
        ("small/challenge", "evaluation"),
        ("small/validation", "evaluation"),
    ]
    inputs = {item.dataset.name: item for item in run.inputs.dataset_inputs if item.tags[0].value not in ("cleaned", "filtered")}
    assert run.data.tags["cartograph.dataset_version"] == inputs["small"].dataset.digest == audit.published["datasets"]["small"]
    assert len(inputs["small"].dataset.digest) == 36
    assert json.loads(inputs["small"].dataset.profile)["classes"] == {"no": 20, "yes": 20}
    columns = json.loads(inputs["small"].dataset.schema)["mlflow_colspec"]
    assert [column["type"] for column in columns] == ["string", "string", "string", "integer", "string", "long"]


def test_a_run_begins_with_its_audit_and_says_its_verdict_and_headlines_first(audit: Audit) -> None:
    top = Verdict("3 of 40 labels look *wrong*.", ("Start with <b>them</b>.",), ())
    audit.inputs["reports/report.html"].write_text(plain_page("small", "Data audit", top, []))
    audit.inputs["reports/noise.metrics.json"].write_text('{"suspects.share": 0.075, "wrong.expected": 4.0}')
    audit.workspace = replace(audit.workspace, snapshot=Snapshot("token", {}, {}))
    kept = audit.workspace.path / KEPT_PARAMS
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("ingest: {}")
    begun = time.time() - 600
    os.utime(kept, (begun, begun))
    audit.publish()
    [run] = audit.runs()
    assert run.info.start_time == pytest.approx(1000 * begun, abs=2)
    assert run.info.end_time - run.info.start_time >= 599_000
    assert run.data.tags["mlflow.note.content"].startswith("**3 of 40 labels look \\*wrong\\*.**  \nStart with \\<b\\>them\\</b\\>.")
    assert sorted(run.data.metrics)[:2] == ["01.suspects.share", "02.labels_wrong.expected"]
    experiments = [(one.name, one.tags.get("mlflow.experimentKind")) for one in audit.client.search_experiments()]
    assert experiments == [("small", "custom_model_development")]


def begin(audit: Audit, token: str = "token") -> publish.FollowedAudit:
    """Let an audit with this token run until its step `measure` has ended."""
    audit.workspace = replace(audit.workspace, snapshot=Snapshot(token, {}, {}))
    kept = audit.workspace.path / KEPT_PARAMS
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("ingest: {}")
    followed = publish.FollowedAudit(audit.workspace)
    by_name = {step.name: step for step in steps()}
    followed.ended(by_name["ingest"], False)
    followed.ended(by_name["measure"], True)
    followed.rest()
    return followed


def test_an_audit_that_runs_has_a_run_with_the_numbers_so_far_which_publishing_makes_whole(audit: Audit) -> None:
    followed = begin(audit)
    [running] = audit.runs()
    assert running.info.status == "RUNNING"
    assert running.data.metrics["confidence.mean"] == 0.5 and running.data.metrics["rows.train"] == 40
    assert "score.score.share" not in running.data.metrics
    audit.publish()
    followed.failed = False
    followed.__exit__()
    [whole] = audit.runs()
    assert (whole.info.run_id, whole.info.status) == (running.info.run_id, "FINISHED")
    assert whole.info.run_name.endswith(audit.published["fingerprint"][:8])
    assert whole.data.metrics["score.score.share"] == 0.25
    history = audit.client.get_metric_history(whole.info.run_id, "confidence.mean")
    assert [point.value for point in history] == [0.5], "as it came, and not again"
    begin(audit, "again")
    audit.publish()
    assert [run.info.run_id for run in audit.runs()] == [whole.info.run_id], "the same audit is the same run"


def test_a_run_is_there_from_the_audits_start_if_a_step_has_to_run_and_otherwise_there_is_none(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "fresh", lambda step, space: None if step.name in stale else object())
    kept = audit.workspace.path / KEPT_PARAMS
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("ingest: {}")
    for stale, forced, running in (((), (), []), (("report",), (), ["RUNNING"]), ((), ("noise",), ["RUNNING"])):
        audit.workspace = replace(audit.workspace, snapshot=Snapshot(f"token {stale}{forced}", {}, {}))
        followed = publish.FollowedAudit(audit.workspace)
        followed.begin(steps(), forced)
        followed.rest()
        assert [run.info.status for run in audit.runs()] == running, "before any step has ended"
        followed.failed = False
        followed.__exit__()
        assert audit.runs() == [], "nothing was published"


@pytest.mark.parametrize("killed", [True, False])
def test_an_audit_that_was_killed_or_failed_leaves_no_second_run(audit: Audit, killed: bool) -> None:
    followed = begin(audit, "first")
    if not killed:
        followed.__exit__()
    [left] = audit.runs()
    assert left.info.status == ("RUNNING" if killed else "FAILED")
    publish.mark_left(audit.workspace)
    assert audit.runs()[0].info.status == left.info.status, "an audit does not take its own run for one that was killed"
    publish.mark_left(replace(audit.workspace, snapshot=None))
    assert audit.runs()[0].info.status == ("KILLED" if killed else "FAILED")
    begin(audit, "second")
    [running] = audit.runs()
    assert running.info.run_id != left.info.run_id
    audit.workspace = replace(audit.workspace, snapshot=None)
    audit.publish()
    [run] = audit.runs()
    assert run.info.run_id != running.info.run_id, "published without the flow, and after it was killed again"
    assert run.info.status == "FINISHED"


def test_a_signal_marks_the_run_killed_at_once(audit: Audit) -> None:
    begin(audit).__exit__(KeyboardInterrupt)
    [run] = audit.runs()
    assert run.info.status == "KILLED" and run.info.end_time


def test_a_run_is_left_alone_while_somebody_holds_its_workspace(audit: Audit) -> None:
    begin(audit)
    looking = replace(audit.workspace, snapshot=None)
    with audit.workspace.lock("an audit"):
        publish.mark_left(looking)
        assert audit.runs()[0].info.status == "RUNNING"
    publish.mark_left(looking)
    assert audit.runs()[0].info.status == "KILLED"


@pytest.mark.parametrize("command", [("prune",), ("review",), ("expand", "more.csv")])
def test_every_command_on_an_audit_sees_that_it_was_killed(command: tuple[str, ...], audit: Audit) -> None:
    begin(audit)
    main([*command, "--workspace", str(audit.workspace.path)])
    assert audit.runs()[0].info.status == "KILLED"


@pytest.mark.slow
def test_a_kill_while_publishing_is_seen_too_with_the_runs_beneath(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    begin(audit)

    class Killed(BaseException):
        """The end of the process."""

    def killed(client: MlflowClient, run_id: str, *arguments: Any, **named: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "set_terminated", killed)
        with pytest.raises(Killed):
            audit.publish()
    publish.mark_left(replace(audit.workspace, snapshot=None))
    assert {run.info.status for run in (*audit.runs(), *audit.models().values(), *audit.versions().values())} == {"KILLED"}
    begin(audit, "again")
    audit.publish()
    assert {run.info.status for run in (*audit.runs(), *audit.models().values(), *audit.versions().values())} == {"FINISHED"}


def test_an_audit_that_has_nothing_to_publish_leaves_no_run(audit: Audit) -> None:
    followed = begin(audit)
    followed.failed = False
    followed.__exit__()
    assert audit.runs() == []


def test_an_audit_is_not_held_up_by_a_store_that_is_not_there(
    audit: Audit, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    begin(audit).__exit__()
    assert "".join(capfd.readouterr()) == ""


def test_what_is_followed_from_audit_to_audit_is_a_line(audit: Audit) -> None:
    audit.publish()
    [run] = audit.runs()
    history = {name: audit.client.get_metric_history(run.info.run_id, f"trend.{name}") for name in ("rows", "suspects")}
    assert [(point.step, point.value) for point in history["rows"]] == [(2, 38), (3, 40)]
    assert [(point.step, point.value) for point in history["suspects"]] == [(3, 2)]


def test_each_retrained_model_is_a_run_beneath_the_audit(audit: Audit) -> None:
    audit.publish()
    [parent] = audit.runs()
    models = audit.models()
    assert set(models) == {"retrain original seed 1", "retrain cleaned seed 1", "retrain random seed 1"}
    original, cleaned, random = (models[f"retrain {subset} seed 1"] for subset in ("original", "cleaned", "random"))
    for run in models.values():
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert run.data.tags["cartograph.dvc_lock"] == parent.data.tags["cartograph.dvc_lock"]
        assert run.info.status == "FINISHED"
        assert {"challenge.accuracy", "challenge.macro_f1", "validation.accuracy", "validation.macro_f1"} <= set(run.data.metrics)
    assert cleaned.data.metrics["challenge.accuracy"] == pytest.approx(0.7)
    assert {"subset": "cleaned", "seed": "1", "model": "bow", "learning_rate": "0.005"}.items() <= cleaned.data.params.items()
    assert "device" not in cleaned.data.params
    assert not {"epochs", "rows"} & set(cleaned.data.metrics), "these are parameters"
    assert random.data.tags["cartograph.failed"] == "true" and "cartograph.failed" not in cleaned.data.tags
    assert "**Failed**" in random.data.tags["mlflow.note.content"]
    assert cleaned.data.tags["mlflow.note.content"] == "Trained from scratch on the 38 rows of `cleaned`, seed 1."
    assert len({run.data.tags["cartograph.fingerprint"] for run in (parent, *models.values())}) == 4
    assert original.data.tags["cartograph.dataset_version"] == parent.data.tags["cartograph.dataset_version"]


def test_each_train_set_is_a_logged_model_over_its_seeds(audit: Audit) -> None:
    audit.publish()
    [parent] = audit.runs()
    runs, logged = audit.versions(), audit.logged()
    assert set(runs) == set(logged) == {"original", "cleaned", "random"}
    for name, model in logged.items():
        run = runs[name]
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert run.data.tags["cartograph.dataset_version"] == model.tags["cartograph.dataset_version"]
        assert (model.source_run_id, model.model_type, str(model.status)) == (run.info.run_id, "classifier", "READY")
        assert [output.model_id for output in run.outputs.model_outputs] == [model.model_id]
        assert {metric.key: metric.value for metric in model.metrics or ()} == run.data.metrics
    numbers = runs["cleaned"].data.metrics
    assert {name: numbers[name] for name in numbers if name.startswith("challenge.")} == pytest.approx(
        {"challenge.accuracy": 0.7, "challenge.accuracy.low": 0.65, "challenge.accuracy.high": 0.75}
    )
    assert set(runs["random"].data.metrics) == set(), "its one training failed"
    assert "1 of them **failed**" in runs["random"].data.tags["mlflow.note.content"]
    digests = {item.dataset.name: item.dataset.digest for item in parent.inputs.dataset_inputs}
    of_set = {metric.key: (metric.dataset_name, metric.dataset_digest) for metric in logged["cleaned"].metrics}
    assert of_set["challenge.accuracy.low"] == ("small/challenge", digests["small/challenge"])
    assert of_set["train.accuracy"] == ("small", audit.published["cleaned"])
    assert of_set["challenge_hard.accuracy"] == (None, None), "a group of rows is no dataset of its own"


def test_logged_models_are_there_once_and_come_back(audit: Audit) -> None:
    audit.publish()
    first, runs = audit.logged(), audit.versions()
    audit.publish()
    assert {name: model.model_id for name, model in audit.logged().items()} == {name: model.model_id for name, model in first.items()}
    audit.client.delete_logged_model(first["cleaned"].model_id)
    audit.client.delete_run(runs["original"].info.run_id)
    audit.publish()
    again = audit.logged()
    assert {name for name in first if again[name].model_id != first[name].model_id} == {"cleaned", "original"}
    for name, run in audit.versions().items():
        assert again[name].source_run_id == run.info.run_id
        assert str(again[name].status) == "READY"
    assert len(again["cleaned"].metrics) == len(first["cleaned"].metrics)


def test_versions_lead_from_the_cleaned_data_back_to_the_original(audit: Audit) -> None:
    audit.publish()
    [parent] = audit.runs()
    versions = {}
    for name, run in audit.models().items():
        train_set, *evaluation = sorted(run.inputs.dataset_inputs, key=lambda item: item.tags[0].value == "evaluation")
        assert [item.tags[0].value for item in evaluation] == ["evaluation"] * 2
        assert train_set.dataset.name == "small"
        assert train_set.dataset.digest == run.data.tags["cartograph.dataset_version"]
        versions[name.split()[1]] = (train_set.tags[0].value, train_set.dataset.digest, run.data.tags.get("cartograph.parent_version"))
    original, cleaned = versions["original"][1], content_digest(pq.read_table(audit.inputs["data/clean"] / "cleaned.parquet"))[:36]
    assert versions["original"] == ("audited", original, None)
    assert versions["cleaned"] == ("cleaned", cleaned, original)
    assert versions["random"][0] == "random" and versions["random"][2] == original
    assert len({digest for _, digest, _ in versions.values()}) == 3
    assert parent.data.tags["cartograph.cleaned_version"] == cleaned == audit.published["cleaned"]


def test_the_cleaned_data_are_loaded_in_one_line(audit: Audit) -> None:
    import mlflow
    import pandas as pd

    audit.publish()
    [run] = audit.runs()
    uri = f"sqlite:///{audit.store}"
    frame = pd.read_parquet(mlflow.artifacts.download_artifacts(f"runs:/{run.info.run_id}/cleaned.parquet", tracking_uri=uri))
    assert len(frame) == 38
    assert frame.equals(pd.read_parquet(audit.inputs["data/clean"] / "cleaned.parquet"))


def test_a_deleted_model_comes_back_and_the_others_stay(audit: Audit) -> None:
    audit.publish()
    [parent] = audit.runs()
    before = {name: run.info.run_id for name, run in audit.models().items()}
    audit.client.delete_run(before["retrain cleaned seed 1"])
    audit.publish()
    after = {name: run.info.run_id for name, run in audit.models().items()}
    assert set(after) == set(before)
    assert {name for name in before if before[name] != after[name]} == {"retrain cleaned seed 1"}
    assert [run.info.end_time for run in audit.runs()] == [parent.info.end_time]


def test_an_audit_that_retrains_nothing_has_no_models(audit: Audit) -> None:
    workspace = with_sections(audit.workspace, retrain={"subsets": ()})
    names = STEP.inputs_of(workspace.settings)
    assert not [name for name in names if "retrain" in name or "evaluate" in name]
    assert "data/clean" in names
    audit.workspace = workspace
    audit.inputs = Inputs(audit.workspace, names)
    summary = audit.publish()
    assert summary.endswith(" metrics, 5 datasets")
    assert audit.models() == audit.versions() == {}


def test_the_artifacts_are_pages_figures_numbers_and_parameters(audit: Audit) -> None:
    audit.publish()
    [run] = audit.runs()
    folder = Path(run.info.artifact_uri.removeprefix("file://"))
    assert folder.is_relative_to(audit.store.parent / "mlartifacts" / "small")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"report.html", "data_map.html", "validation.json", "params.yaml", "figures/data_map.png", "figures/noise.png"} <= names
    assert not [name for name in names if name.endswith(".svg")], "the same figures are there as PNG"
    assert {"cleaned.parquet", "changes.parquet", "filtered.parquet", "aflite.parquet", "evaluation.md", "evaluation.csv"} <= names
    assert {f"metrics/{step}.metrics.json" for step in ("ingest", "train", "measure", "score")} <= names
    page = (folder / "data_map.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert "<script>document.title" not in page
    assert 'src="http' not in page
    assert len(page) < 300_000 and "plotly" not in page.lower()


def test_the_lock_is_published_while_a_first_look_of_an_earlier_audit_is_recorded(audit: Audit) -> None:
    table = audit.inputs["data/measure"] / "measures.parquet"
    recorded = {"path": "workspaces/small/data/measure/measures.parquet", "md5": hashlib.md5(table.read_bytes()).hexdigest()}
    earlier = {"path": "workspaces/small/reports/first-look.html", "md5": "0" * 32}
    stages = {"measure": {"cmd": "x", "outs": [recorded]}, "first_page": {"cmd": "y", "outs": [earlier]}}
    (audit.workspace.path / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    audit.publish()
    [run] = audit.runs()
    assert run.data.tags["cartograph.dvc_lock"] != "-"
    published = Path(run.info.artifact_uri.removeprefix("file://")) / "dvc.lock"
    assert list(yaml.safe_load(published.read_text())["stages"]) == ["measure"]


def test_publishing_twice_makes_no_second_run(audit: Audit) -> None:
    audit.publish()
    [first] = audit.runs()
    published = audit.published
    audit.publish()
    [second] = audit.runs()
    assert len(audit.models()) == 3
    assert published == audit.published
    assert (first.info.run_id, first.info.end_time) == (second.info.run_id, second.info.end_time)


def test_other_numbers_are_another_audit(audit: Audit) -> None:
    audit.publish()
    audit.inputs["reports/measure.metrics.json"].write_text('{"confidence.mean": 0.6}')
    audit.publish()
    assert len(audit.runs()) == 2


def test_a_new_look_of_the_report_renews_the_run(audit: Audit) -> None:
    audit.publish()
    audit.inputs["reports/report.html"].write_text("<p>redesigned</p>")
    audit.publish(interactive_points=5)
    [run] = audit.runs()
    assert (Path(run.info.artifact_uri.removeprefix("file://")) / "report.html").read_text() == "<p>redesigned</p>"
    assert run.info.status == "FINISHED"


def test_a_deleted_run_does_not_count(audit: Audit) -> None:
    audit.publish()
    [run] = audit.runs()
    audit.client.delete_run(run.info.run_id)
    audit.publish()
    [other] = audit.runs()
    assert other.info.run_id != run.info.run_id


def test_a_deleted_experiment_is_told(audit: Audit) -> None:
    audit.publish(experiment="mine")
    audit.client.delete_experiment(audit.client.get_experiment_by_name("mine").experiment_id)
    with pytest.raises(
        InputError, match=r"experiment `mine` was deleted; bring it back with `mlflow experiments restore --experiment-id 1`"
    ):
        audit.publish(experiment="mine")


@pytest.mark.slow
@pytest.mark.parametrize("call", ["log_batch", "log_inputs", "log_artifacts", "set_terminated", "log_outputs", "finalize_logged_model"])
def test_a_broken_attempt_is_completed_not_doubled(audit: Audit, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    from mlflow import MlflowClient

    def break_down(*arguments: object, **named: object) -> None:
        raise ConnectionError("the line went dead")

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, call, break_down)
        with pytest.raises(InputError, match=r"the line went dead\): the run is unfinished; the next audit completes it"):
            audit.publish()
    [broken] = audit.runs()
    assert broken.info.status == ("RUNNING" if call == "set_terminated" else "FAILED")
    audit.publish()
    [whole] = audit.runs()
    assert whole.info.run_id == broken.info.run_id
    assert whole.info.status == "FINISHED"
    assert len(whole.inputs.dataset_inputs) == 5
    assert {run.info.status for run in (*audit.models().values(), *audit.versions().values())} == {"FINISHED"}
    assert len(audit.models()) == len(audit.versions()) == 3
    assert {str(model.status) for model in audit.logged().values()} == {"READY"}
    assert {len(run.outputs.model_outputs) for run in audit.versions().values()} == {1}
    history = audit.client.get_metric_history(whole.info.run_id, "rows.train")
    assert [metric.value for metric in history] == [40]


@pytest.mark.slow
def test_a_server_takes_an_audit_once_and_its_password_is_not_printed(
    audit: Audit, server: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://annette:s3cret@{server}")
    audit.publish()
    audit.publish()
    client = MlflowClient(tracking_uri=f"http://{server}")
    found = client.search_runs([client.get_experiment_by_name("small").experiment_id])
    [run] = [run for run in found if "mlflow.parentRunId" not in run.data.tags]
    assert len(found) == 7
    assert run.info.status == "FINISHED"
    assert len(run.inputs.dataset_inputs) == 5
    assert {"report.html", "data_map.html", "figures"} <= {entry.path for entry in client.list_artifacts(run.info.run_id)}
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
    everything = json.dumps([run.to_dictionary(), audit.published])
    assert "s3cret" not in everything


def test_a_server_that_is_not_there_is_named_without_its_password(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://annette:s3cret@127.0.0.1:{port}/?token=t0ken")
    with pytest.raises(InputError) as caught:
        audit.publish()
    message = str(caught.value)
    assert message.startswith(f"MLflow at http://127.0.0.1:{port}/ cannot be used ([Errno 111] Connection refused): nothing was published.")
    for secret in ("annette", "s3cret", "t0ken"):
        assert secret not in message
    assert not (audit.workspace.path / "staged" / "published.json").exists()


def test_a_database_server_that_is_not_there_is_told_soon(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"postgresql://ann:s3cret@127.0.0.1:{port}/mlflow")
    with pytest.raises(
        InputError, match=rf"MLflow at postgresql://127.0.0.1:{port}/mlflow cannot be used .*refused\): nothing was published"
    ):
        audit.publish()


def test_a_file_that_is_no_database_is_told(audit: Audit) -> None:
    audit.store.write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.raises(InputError, match=r"mlflow.db cannot be used \(.*file is not a database.*\): nothing was published"):
        audit.publish()


def test_a_database_is_made_whole_or_not_at_all(tmp_path: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = tmp_path / "new" / "mlflow.db"

    def interrupted(*arguments: object) -> None:
        (database.parent / "mlflow.db.new").write_bytes(b"half a database")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("mlflow.store.tracking.sqlalchemy_store.SqlAlchemyStore.__init__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.make_database(database)
    assert not database.exists()
    shutil.copy(migrated, database)
    before = database.read_bytes()
    store.make_database(database)
    assert database.read_bytes() == before


def test_nothing_global_is_left_changed(audit: Audit) -> None:
    import mlflow

    levels = [logging.getLogger(name).level for name in ("mlflow", "alembic", "urllib3", "sqlalchemy")]
    environment, uri = dict(os.environ), mlflow.get_tracking_uri()
    audit.publish()
    assert [logging.getLogger(name).level for name in ("mlflow", "alembic", "urllib3", "sqlalchemy")] == levels
    assert dict(os.environ) == environment
    assert mlflow.get_tracking_uri() == uri
    assert mlflow.active_run() is None


def test_the_console_stays_quiet(audit: Audit, capfd: pytest.CaptureFixture[str]) -> None:
    audit.publish()
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_what_is_published_carries_no_secret_no_date_and_no_run(audit: Audit) -> None:
    audit.publish()
    [run] = audit.runs()
    assert set(audit.published) == {"experiment", "fingerprint", "datasets", "cleaned", "filtered"}
    text = json.dumps(audit.published)
    for digest in (audit.published["fingerprint"], audit.published["cleaned"], *audit.published["datasets"].values()):
        text = text.replace(digest, "")
    for absent in (run.info.run_id, "sqlite", str(audit.store), "2026", "2027"):
        assert absent not in text


def test_the_fingerprint_is_of_content_not_of_files(audit: Audit) -> None:
    first = read_publication(audit.workspace, audit.inputs)
    path = audit.inputs["data/ingest"] / "train.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take(list(reversed(range(table.num_rows)))), path, compression="zstd", row_group_size=7)
    assert read_publication(audit.workspace, audit.inputs).fingerprint == first.fingerprint
    changed = table.set_column(2, "hypothesis", pa.array(["other", *table.column("hypothesis").to_pylist()[1:]]))
    pq.write_table(changed.cast(table.schema), path)
    second = read_publication(audit.workspace, audit.inputs)
    assert second.fingerprint != first.fingerprint
    assert second.tags["cartograph.dataset_version"] != first.tags["cartograph.dataset_version"]
    assert second.datasets[1:] == first.datasets[1:]


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://ann:pw@host:5000/path?x=1", "http://host:5000/path"),
        ("sqlite:////tmp/mlflow.db", "sqlite:////tmp/mlflow.db"),
        ("postgresql+psycopg2://ann:p%40w@db/mlflow?sslpassword=q", "postgresql+psycopg2://db/mlflow"),
        ("databricks://profile", "databricks://profile"),
    ],
)
def test_a_tracking_uri_is_shown_without_secrets(uri: str, expected: str) -> None:
    assert tracking_uri.shown(uri) == expected


def test_a_reason_hides_the_password_in_both_spellings() -> None:
    error = ConnectionError("cannot reach http://ann:p%40w@host with p@w")
    assert tracking_uri.reason("http://ann:p%40w@host", error) == "cannot reach http://…@host with …"


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        (f"sqlite:///{project_root() / 'mlflow.db'}", "mlflow ui --backend-store-uri sqlite:///mlflow.db"),
        ("sqlite:////srv/my runs.db", "mlflow ui --backend-store-uri 'sqlite:////srv/my runs.db'"),
        ("postgresql://ann:secret@host/runs", "mlflow ui --backend-store-uri postgresql://host/runs"),
        ("https://ann:secret@host/mlflow", "https://host/mlflow"),
    ],
)
def test_where_runs_are_looked_at_is_told_without_secrets(uri: str, said: str) -> None:
    assert tracking_uri.viewer(uri) == said


def test_names_that_mlflow_does_not_take_stay_apart() -> None:
    names = ["label_names.+", "label_names.?", "label_names.n/a", "label_names.да", "x"]
    assert store.metric_keys(names) == ["label_names._", "label_names.__2", "label_names.n_a", "label_names.да", "x"]


def test_what_is_finished_is_preferred_to_an_older_run_that_is_not(audit: Audit) -> None:
    audit.publish()
    [whole] = audit.runs()
    older = audit.client.create_run(whole.info.experiment_id, start_time=whole.info.start_time - 1000, tags=dict(whole.data.tags))
    audit.publish()
    assert audit.client.get_run(older.info.run_id).info.status == "RUNNING"
    assert not audit.client.get_run(older.info.run_id).data.metrics
    assert {run.info.run_id for run in audit.runs()} == {whole.info.run_id, older.info.run_id}
