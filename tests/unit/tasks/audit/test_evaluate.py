"""The step evaluate on predictions made by hand, run through the machinery of steps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.compare.versions import DIFFERENCES, SUMMARY
from cartograph.config import Settings
from cartograph.dynamics.epoch_files import dynamics_table
from cartograph.errors import InputError
from cartograph.schema import CHANGES, EVALUATION
from tasks.audit import evaluate
from tasks.audit.evaluate import STEP
from tasks.audit.held_out import held_out_set
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.plan import retrained_models
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.cleaning import make_noise
from tests.training_sets import small_set
from tests.workspaces import ingest_of, make_workspace, save, with_sections

RIGHT = {"original": 12, "cleaned": 16, "random": 12, "ambiguous": 18}


def space(path: Path, *, failed: tuple[str, ...] = (), selections: bool = False, **own: object) -> Workspace:
    """Of 20 rows of each set the models get the first ``RIGHT`` plus their seed right; ``far`` has one more each, and groups."""
    held = small_set(rows=20, seed=3, name="held", domain="id")
    far = small_set(rows=20, seed=3, name="far", domain="ood")
    groups = pa.array([["Logic"] if row < 5 else ["Logic", "Rest"] if row == 5 else None for row in range(20)])
    listed = [rows.take(list(reversed(range(20)))) for rows in (held, far.append_column("groups", groups) if selections else far)]
    space = make_workspace(
        path,
        small_set(),
        *listed,
        ingest=ingest_of(small_set(), held, far, groups=["Rest", "None", "Logic"]),
        select={"strategies": ("random", "ambiguous", "mix-0.5"), "fractions": (0.25, 0.5)},
        retrain={"seeds": (1, 2), "selections": selections},
        evaluate=own,
    )
    for name, rows in (("held", held), ("far", far)):
        gold = rows["label"].to_numpy()
        for (subset, seed), place in retrained_models(space.settings).items():
            folder = path / place
            (folder / "predictions").mkdir(parents=True, exist_ok=True)
            right = np.arange(20) < RIGHT.get(subset.partition("-0")[0], 10) + seed + (name == "far")
            logits = np.eye(2, dtype=np.float32)[np.where(right, gold, 1 - gold)]
            pq.write_table(dynamics_table(rows["uid"].combine_chunks(), gold, logits), folder / f"predictions/{name}.parquet")
            metrics = {"train.failed": int(f"{subset}-{seed}" in failed), "rows": 58 if subset == "original" else 50}
            (folder / "metrics.json").write_text(json.dumps(metrics))
    return space


def test_it_writes_tables_a_page_and_numbers(tmp_path: Path) -> None:
    done = run_step(STEP, space(tmp_path))
    folder = tmp_path / "data/evaluate"
    assert pq.read_schema(folder / "evaluation.parquet").equals(EVALUATION)
    assert pq.read_schema(folder / "summary.parquet").equals(SUMMARY)
    assert pq.read_schema(folder / "differences.parquet").equals(DIFFERENCES)
    evaluation = pq.read_table(folder / "evaluation.parquet").to_pylist()
    assert len(evaluation) == 3 * 2 * 2 * 2
    values = {(row["subset"], row["seed"], row["set"]): row["value"] for row in evaluation if row["metric"] == "accuracy"}
    assert values["cleaned", 2, "far"] == 19 / 20
    assert values["original", 1, "held"] == 13 / 20
    lines = (folder / "evaluation.csv").read_text().splitlines()
    assert lines[0] == '"subset","seed","set","domain","rows","metric","value","failed"'
    assert '"cleaned",2,"far","ood",20,"accuracy",0.95,false' in lines
    assert "| original | 58 | 72.5 ± 3.5 |" in (folder / "evaluation.md").read_text()
    metrics = json.loads((tmp_path / "reports/evaluate.metrics.json").read_text())
    assert metrics["cleaned.far.accuracy.mean"] == pytest.approx(0.925)
    assert metrics["cleaned.far.accuracy.sd"] == pytest.approx(np.std([18 / 20, 19 / 20], ddof=1))
    assert metrics["cleaned_minus_original.far.accuracy"] == pytest.approx(0.2)
    assert metrics["cleaned_minus_original.far.accuracy.low"] < 0.2 < metrics["cleaned_minus_original.far.accuracy.high"]
    assert metrics["random_minus_original.held.macro_f1"] == 0
    assert (metrics["original.rows"], metrics["retrain.failed"]) == (58, 0)
    half = 50 * (metrics["cleaned_minus_original.far.accuracy.high"] - metrics["cleaned_minus_original.far.accuracy.low"])
    assert done.receipt.summary.startswith(f"cleaned − original: far +20 ± {half:.0f}, held +20 ± ")


def test_rows_held_out_of_the_train_set_are_scored_with_suspects_and_without(tmp_path: Path) -> None:
    rows = small_set(rows=100)
    workspace = make_workspace(tmp_path, rows, ingest=ingest_of(rows), train={}, select={}, retrain={"seeds": (1, 2, 3)}, evaluate={})
    held = held_out_set(workspace.settings.of(Retrain), rows).sort_by("uid")
    gold, wrong = held["label"].to_numpy(), np.arange(held.num_rows) < 5
    for (subset, seed), place in retrained_models(workspace.settings).items():
        folder = tmp_path / place
        (folder / "predictions").mkdir(parents=True)
        # The original repeats the five wrong labels and errs on the next four; the cleaned version turns the five round.
        right = ~wrong if subset == "cleaned" else ~((np.arange(held.num_rows) >= 5) & (np.arange(held.num_rows) < 8 + seed % 2))
        logits = np.eye(2, dtype=np.float32)[np.where(right, gold, 1 - gold)]
        pq.write_table(dynamics_table(held["uid"].combine_chunks(), gold, logits), folder / "predictions/held-out.parquet")
        (folder / "metrics.json").write_text(json.dumps({"train.failed": 0, "rows": 80}))
    suspects = [uid for uid, doubted in zip(held["uid"].to_pylist(), wrong, strict=True) if doubted]
    save(make_noise(rows, dict.fromkeys(suspects, (0, 0.9))), tmp_path / "data/noise/noise.parquet")
    run_step(STEP, workspace)
    metrics = json.loads((tmp_path / "reports/evaluate.metrics.json").read_text())
    assert metrics["cleaned.held-out.accuracy.mean"] == pytest.approx(1 - 5 / held.num_rows)
    assert metrics["cleaned.held-out without suspects.accuracy.mean"] == 1
    assert metrics["cleaned_minus_original.held-out without suspects.accuracy"] > 0
    advice = json.loads((tmp_path / "data/evaluate/recommended.json").read_text())
    assert advice["sets"] == ["held-out without suspects"] and advice["recommended"] == "cleaned"
    assert advice["sentence"] in (tmp_path / "data/evaluate/evaluation.md").read_text()


def test_where_cleaning_is_measurably_worse_the_original_is_recommended(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    for seed in (1, 2):
        for name in ("original", "cleaned"):
            (tmp_path / f"data/retrain/{name}-{seed}").rename(tmp_path / f"data/retrain/{name}-{seed}.moved")
        (tmp_path / f"data/retrain/original-{seed}.moved").rename(tmp_path / f"data/retrain/cleaned-{seed}")
        (tmp_path / f"data/retrain/cleaned-{seed}.moved").rename(tmp_path / f"data/retrain/original-{seed}")
    done = run_step(STEP, workspace)
    advice = json.loads((tmp_path / "data/evaluate/recommended.json").read_text())
    assert (advice["recommended"], advice["outcome"], advice["seeds"]) == ("original", "worse", 2)
    assert advice["sets"] == ["held"], "what is out of distribution does not decide"
    assert "use the original" in done.receipt.summary


def test_where_cleaning_changed_nothing_no_difference_is_told(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    for seed in (1, 2):
        shutil.rmtree(tmp_path / f"data/retrain/cleaned-{seed}")
        shutil.copytree(tmp_path / f"data/retrain/original-{seed}", tmp_path / f"data/retrain/cleaned-{seed}")
    summary = run_step(STEP, workspace).receipt.summary
    assert summary.startswith("cleaning changed nothing that a model sees; use the original") and "±" not in summary


def test_the_same_predictions_give_the_same_bytes(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    assert run_step(STEP, workspace).receipt.outputs == run_step(STEP, workspace, force=True).receipt.outputs


def test_a_failed_training_is_counted_and_left_out(tmp_path: Path) -> None:
    done = run_step(STEP, space(tmp_path, failed=("cleaned-1",)))
    assert done.receipt.summary.endswith("points; 1 of 6 FAILED")
    metrics = json.loads((tmp_path / "reports/evaluate.metrics.json").read_text())
    assert metrics["retrain.failed"] == 1
    assert metrics["cleaned.far.accuracy.mean"] == 19 / 20
    assert "cleaned.far.accuracy.sd" not in metrics
    assert "(1 of 2 failed)" in (tmp_path / "data/evaluate/evaluation.md").read_text()


def test_only_the_metrics_asked_for_are_computed(tmp_path: Path) -> None:
    done = run_step(STEP, space(tmp_path, metrics=("macro_f1",), bootstrap=100))
    metrics = json.loads((tmp_path / "reports/evaluate.metrics.json").read_text())
    assert "cleaned.far.macro_f1.mean" in metrics and not [name for name in metrics if "accuracy" in name]
    assert done.receipt.summary.startswith("cleaned − original: far ")


def test_without_the_original_there_is_no_difference_to_it(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    done = run_step(STEP, with_sections(workspace, retrain={"seeds": (1, 2), "subsets": ("cleaned",)}))
    assert done.receipt.summary == "2 models on 2 sets"
    assert pq.read_table(tmp_path / "data/evaluate/differences.parquet").num_rows == 0


def test_predictions_of_other_rows_are_refused(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    path = tmp_path / "data/retrain/random-2/predictions/far.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    message = r"data/retrain/random-2/predictions/far\.parquet is about other rows than data/ingest/far\.parquet \(19 and 20\)"
    with pytest.raises(InputError, match=message):
        run_step(STEP, workspace)


def test_what_it_reads_follows_from_the_parameters(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    models = [f"data/retrain/{subset}-{seed}" for subset in ("original", "cleaned", "random") for seed in (1, 2)]
    assert STEP.inputs_of(workspace.settings) == (*models, "data/ingest/far.parquet", "data/ingest/held.parquet")
    assert STEP.when(workspace.settings)
    assert not STEP.when(workspace.settings | {"retrain": Retrain(seeds=())})
    assert not STEP.when(Settings({name: section for name, section in workspace.settings.items() if name != "retrain"}))


def test_nan_logits_are_scored_as_they_are(tmp_path: Path) -> None:
    workspace = space(tmp_path, failed=("random-1",))
    path = tmp_path / "data/retrain/random-1/predictions/far.parquet"
    part = pq.read_table(path)
    broken = dynamics_table(part["uid"].combine_chunks(), part["gold"].to_numpy(), np.full((20, 2), np.nan, np.float32))
    pq.write_table(broken, path)
    assert run_step(STEP, workspace).receipt.summary.endswith("1 of 6 FAILED")
    table = pq.read_table(tmp_path / "data/evaluate/evaluation.parquet")
    assert not pa.compute.any(pa.compute.is_nan(table["value"])).as_py()


def test_selections_are_compared_with_random_rows_and_with_all(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path, selections=True, failed=("mix-0.5-0.25-1", "mix-0.5-0.25-2")))
    folder = tmp_path / "data/evaluate"
    page = (folder / "selections.md").read_text()
    head = next(line for line in page.splitlines() if line.startswith("| Trained on"))
    assert head == (
        "| Trained on | Rows | held (in distribution) | far (out of distribution) | far/Rest (out of distribution) | "
        "far/Logic (out of distribution) |"
    )
    assert "| 100 % train | 58 | 67.5 ± 3.5 |" in page
    assert "| **25 % train** |" in page
    assert "| mix-0.5 | 50 | failed | failed | failed | failed |" in page
    assert "| ambiguous | 50 | 97.5 ± 3.5▲ |" in page
    differences = pq.read_table(folder / "differences.parquet").to_pylist()
    pairs = {(row["subset"], row["against"]) for row in differences}
    assert {("ambiguous-0.5", "random-0.5"), ("ambiguous-0.5", "original"), ("random-0.25", "original")} <= pairs
    assert not [
        pair for pair in pairs if pair[0] == pair[1] or "mix-0.5-0.25" in pair or (pair[0].startswith("random-0") and "random" in pair[1])
    ]
    assert all(0 < row["p"] <= 1 for row in differences)
    logic = [row for row in pq.read_table(folder / "evaluation.parquet").to_pylist() if row["set"] == "far/Logic"]
    assert {row["rows"] for row in logic} == {6}
    assert {row["value"] for row in logic} == {1.0}, "the first rows are right in every model"
    assert "mix-0.5" not in (folder / "evaluation.md").read_text()


def broken_off(path: Path, *cells: str) -> None:
    for cell in cells:
        folder = path / "data/retrain" / cell
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "failure.json").write_text(json.dumps({"step": f"retrain@{cell}", "reason": "RuntimeError: out of memory"}))


def test_a_training_that_broke_off_is_in_no_mean_and_in_the_table_with_its_reason(tmp_path: Path) -> None:
    workspace = space(tmp_path, selections=True)
    broken_off(tmp_path, "cleaned-2", "random-0.5-1", "random-0.5-2")
    done = run_step(STEP, workspace)
    assert done.receipt.summary.endswith("; 3 of 18 FAILED")
    folder = tmp_path / "data/evaluate"
    page = (folder / "evaluation.md").read_text()
    assert "85.0 (1 of 2 failed)" in next(line for line in page.splitlines() if line.startswith("| cleaned | 50 |"))
    assert "- `cleaned`, seed 2: RuntimeError: out of memory" in page
    selected = (folder / "selections.md").read_text()
    assert "| random |  | failed |" in selected
    assert "- `random-0.5`, seed 2: RuntimeError: out of memory" in selected
    assert json.loads((folder / "broken.json").read_text())[0] == {
        "subset": "cleaned",
        "seed": 2,
        "reason": "RuntimeError: out of memory",
    }
    metrics = json.loads((tmp_path / "reports/evaluate.metrics.json").read_text())
    assert (metrics["retrain.broken"], metrics["retrain.failed"]) == (3, 3)
    assert "random-0.5.rows" not in metrics


def test_nothing_left_to_compare_is_said(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    broken_off(tmp_path, *(f"{subset}-{seed}" for subset in ("original", "cleaned", "random") for seed in (1, 2)))
    with pytest.raises(InputError, match=r"every one of the 6 trainings .* failed.*`original` with seed 1: RuntimeError: out of memory"):
        run_step(STEP, workspace)


def test_rows_that_are_not_in_train_or_not_contradicted_are_scored_apart_where_they_are_marked(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    path = tmp_path / "data/ingest/held.parquet"
    rows = pq.read_table(path).sort_by("uid")
    apart = [["not in train"] * (place >= 10) + ["not contradicted"] * (place >= 5) or None for place in range(20)]
    marked = pa.array(apart, pa.list_(pa.string()))
    pq.write_table(rows.append_column("groups", marked), path)
    run_step(STEP, workspace)
    found = pq.read_table(tmp_path / "data/evaluate/evaluation.parquet").to_pylist()
    scores = {row["set"]: row for row in found if (row["subset"], row["seed"], row["metric"]) == ("original", 1, "accuracy")}
    rows_of = {"far": 20, "held": 20, "held/not in train": 10, "held/not contradicted": 15}
    assert {name: row["rows"] for name, row in scores.items()} == rows_of
    uids = rows["uid"].to_pylist()
    ordered = small_set(rows=20, seed=3, name="held", domain="id")["uid"].to_pylist()
    right = {uid: place < RIGHT["original"] + 1 for place, uid in enumerate(ordered)}
    assert scores["held/not in train"]["value"] == sum(right[uid] for uid in uids[10:]) / 10
    assert scores["held/not contradicted"]["value"] == sum(right[uid] for uid in uids[5:]) / 15


def test_changes_that_people_alone_made_are_told_apart(tmp_path: Path) -> None:
    def changed(*by: str, weighted: bool = False) -> int:
        entries = [{"uid": f"u{row}", "what": "drop", "from": "a", "to": None, "why": "", "by": one} for row, one in enumerate(by)]
        pq.write_table(pa.Table.from_pylist(entries, CHANGES), tmp_path / "changes.parquet")
        (tmp_path / "version.json").write_text(json.dumps({"weighted": weighted}))
        inputs = {f"data/clean/{name}": tmp_path / name for name in ("changes.parquet", "version.json")}
        assert evaluate._weighted(inputs) == weighted and not evaluate._weighted({})
        return evaluate._decided(inputs)

    assert (changed("Ann", "Bob"), changed("Ann", "recipe relabel"), changed("Ann", weighted=True), evaluate._decided({})) == (2, 0, 0, 0)
    assert {"data/clean/changes.parquet", "data/clean/version.json"} <= set(
        STEP.inputs_of(with_sections(space(tmp_path / "own"), clean={}).settings)
    )
