"""The step noise on real small trainings and on coordinates, run through the machinery of steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.config import Settings
from cartograph.errors import InputError
from cartograph.maps.regions import easiest_rows
from cartograph.schema import NOISE, dataset_info
from cartograph.suspects.figures import EXPERIMENT
from cartograph.wording import share
from tasks.audit import ingest, measure, noise, train
from tasks.audit.parameters.train import Train
from tasks.engine.digest import digest_path
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.speakers import made_up
from tests.training_sets import SMALL_TRAINING, small_set
from tests.workspaces import make_workspace, with_sections

TRAIN = SMALL_TRAINING | {"epochs": 4, "learning_rate": 0.02}
ROWS, ERRORS = 240, 8
_OTHERS = [f"w{number}" for number in range(60)]


def mislabelled(task: str = "single") -> tuple[pa.Table, list[str]]:
    """A small set, rows shuffled, with some labels wrong; and the uids of those."""
    rows = small_set(task, rows=ROWS)  # type: ignore[arg-type]
    wrong = np.random.default_rng(5).choice(ROWS, ERRORS, replace=False)
    labels = rows["label"].to_numpy().copy()
    labels[wrong] = 1 - labels[wrong]
    place = rows.schema.get_field_index("label")
    changed = rows.set_column(place, rows.schema.field("label"), pa.array(labels, pa.int32()))
    order = np.random.default_rng(6).permutation(ROWS)
    return changed.take(order), [rows["uid"][int(row)].as_py() for row in wrong]


def space(path: Path, rows: pa.Table, *, trained: dict[str, object] | None = None, **own: object) -> Workspace:
    """A workspace whose rows are ingested, trained on and measured."""
    workspace = make_workspace(path, rows, train=TRAIN | (trained or {}), measure={}, noise=own)
    for step in (train.STEP, measure.STEP):
        run_step(step, workspace)
    return workspace


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, str, list[str]]:
    rows, wrong = mislabelled()
    workspace = space(tmp_path_factory.mktemp("audited"), rows)
    return workspace, run_step(noise.STEP, workspace).receipt.summary, wrong


def test_the_folds_of_both_committees_are_counted_to_the_end(
    audited: tuple[Workspace, str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: dict[str, list[tuple[int, int]]] = {}

    def progress(_: str, unit: str = "examples") -> AbstractContextManager[Callable[[int, int], None]]:
        return nullcontext(lambda done, total: heard.setdefault(unit, []).append((done, total)))

    monkeypatch.setattr("tasks.audit.noise.progress", progress)
    before = digest_path(audited[0].resolve("data/noise"))
    run_step(noise.STEP, audited[0], force=True)
    dones, totals = zip(*heard["folds of models"], strict=True)
    assert set(totals) == {20} and list(dones) == sorted(dones) and dones[-1] == 20
    assert digest_path(audited[0].resolve("data/noise")) == before


@pytest.mark.slow
def test_the_wrong_labels_of_whole_speakers_are_found_where_a_column_links_their_rows(tmp_path: Path) -> None:
    rows = made_up(120, 0.1, 2)
    wrong = np.flatnonzero(rows.pop("wrong")) + 1
    rows.to_csv(tmp_path / "rows.csv", index=False)
    hit = {}
    for linked in (None, "speaker"):
        given = {"source": "files", "train": str(tmp_path / "rows.csv"), "text": "text", "linked": linked}
        workspace = make_workspace(
            tmp_path / str(linked), ingest=given, train=TRAIN | {"folds": 3}, measure={}, noise={"detector": "committee"}
        )
        for step in (ingest.STEP, train.STEP, measure.STEP, noise.STEP):
            run_step(step, workspace)
        table = pq.read_table(workspace.resolve("data/noise/noise.parquet"))
        numbers = dict(pq.read_table(workspace.resolve("data/ingest/train.parquet")).select(["uid", "row"]).to_pandas().to_numpy())
        flagged = [numbers[row["uid"]] for row in table.to_pylist() if row["probability"] >= 0.5]
        hit[linked] = np.isin(wrong, flagged).sum()
    assert hit[None] == 0
    assert hit["speaker"] > 40


@pytest.mark.slow
def test_who_labelled_is_heard_where_a_column_says_it(tmp_path: Path) -> None:
    rng, rows = np.random.default_rng(2), made_up(600, 0.0, 1).drop(columns="wrong")
    who = rng.choice(["ann", "bo", "cy", "eve"], size=len(rows))
    wrong = (who == "eve") & (rng.random(len(rows)) < 0.5)
    names = sorted(set(rows["label"]))
    rows.loc[wrong, "label"] = [names[1 - names.index(label)] for label in rows["label"][wrong]]
    # Nobody's own words, by which a row's siblings would give its error away, and of every third text no word of its class.
    texts = [" ".join([*text.split()[: 2 * (row % 3 > 0)], *rng.choice(_OTHERS, 4)]) for row, text in enumerate(rows["text"])]
    rows.assign(who=who, text=texts).to_csv(tmp_path / "rows.csv", index=False)
    found_by = {}
    for name in (None, "who"):
        given = {"source": "files", "train": str(tmp_path / "rows.csv"), "text": "text", "labelled_by": name}
        workspace = make_workspace(tmp_path / str(name), ingest=given, train=TRAIN, measure={}, noise={"detector": "committee"})
        for step in (ingest.STEP, train.STEP, measure.STEP, noise.STEP):
            run_step(step, workspace)
        found_by[name] = (json.loads(workspace.resolve("data/noise/noise.json").read_text()), noise.STEP.inputs(workspace.settings))
    (without, read), (known, also_read) = found_by[None], found_by["who"]
    assert set(also_read) - set(read) == {"data/ingest/strata.parquet"}
    assert "labellers_differ" not in without and known["labellers_differ"] is True
    assert known["suspects"] != without["suspects"]


@pytest.mark.parametrize(("label", "read"), [("r+s+t", True), ("label", False)])
def test_how_many_labels_agree_is_read_where_several_are_asked_for(tmp_path: Path, label: str, read: bool) -> None:
    given = {"source": "files", "train": "rows.csv", "text": "text", "label": label}
    workspace = make_workspace(tmp_path, ingest=given, train=TRAIN, measure={}, noise={"detector": "committee"})
    assert ("data/ingest/strata.parquet" in noise.STEP.inputs(workspace.settings)) == read


@pytest.mark.slow
def test_k_fold_training_is_repeated_on_the_flipped_labels_and_its_measures_are_read(tmp_path: Path) -> None:
    rows, _ = mislabelled()
    workspace = space(tmp_path, rows, trained={"folds": 2, "epochs": 2}, detector="measures")
    run_step(noise.STEP, workspace)
    chosen = found(workspace)["detectors"]["measures"]
    held_out = ["out_of_fold_confidence", "out_of_fold_variability", "out_of_fold_margin"]
    assert chosen["features"][-3:] == held_out and all(chosen["weights"][-3:])
    assert set(found(workspace)["suggestions"]["right"]) == {"in-sample", "k-fold", "out-of-fold"}
    plain = with_sections(workspace, noise={}, train=TRAIN | {"epochs": 2})
    for step in (train.STEP, measure.STEP, noise.STEP):
        run_step(step, plain)
    assert not set(held_out) & set(found(workspace)["detectors"]["measures"]["features"])


def found(workspace: Workspace) -> dict:
    return json.loads((workspace.path / "data/noise/noise.json").read_text(encoding="utf-8"))


def test_the_step_finds_the_wrong_labels(audited: tuple[Workspace, str, list[str]]) -> None:
    workspace, summary, wrong = audited
    table = pq.read_table(workspace.path / "data/noise/noise.parquet")
    assert table.schema.equals(NOISE)
    assert table["uid"].to_pylist() == sorted(table["uid"].to_pylist()) and table.num_rows == ROWS
    first = table.sort_by("rank").slice(0, ERRORS)
    assert len(set(first["uid"].to_pylist()) & set(wrong)) >= ERRORS - 1
    flagged = [row for row in table.to_pylist() if row["flagged"]]
    # Of so few rows a tenth is assumed to be wrong, three times as many as are.
    assert flagged and len({row["uid"] for row in flagged} - set(wrong)) <= 2
    assert found(workspace)["unknown"] == "few rows" and found(workspace)["wrong"] is None and not found(workspace)["calibrated"]
    labels = dict(
        zip(*(pq.read_table(workspace.path / "data/ingest/train.parquet")[name].to_pylist() for name in ("uid", "label")), strict=True)
    )
    assert all(row["suggested"] != labels[row["uid"]] for row in table.to_pylist())
    assert "models that never saw the row give it" in flagged[0]["reason"]
    record = found(workspace)
    assert record["suspects"] == len(flagged)
    assert summary == f"{len(flagged)} suspects ({share(len(flagged), ROWS)}), by {record['detector']}"
    assert noise._summary(record | {"suspects": 0}).startswith("0 suspects (0\u00a0%), by")


def test_the_experiment_is_on_record(audited: tuple[Workspace, str, list[str]]) -> None:
    workspace, _, _ = audited
    table = pq.read_table(workspace.path / "data/noise/experiment.parquet")
    assert table.schema.equals(EXPERIMENT)
    map_table = pq.read_table(workspace.path / "data/measure/measures.parquet")
    assert table["uid"].equals(map_table["uid"])
    np.testing.assert_array_equal(table["confidence_before"].to_numpy(), map_table["confidence"].to_numpy())
    flipped = table.filter(table["flipped"])
    assert flipped.num_rows == found(workspace)["flips"] == 16, "the least, since one per cent would be two"
    easy = map_table.filter(easiest_rows(map_table, 0.33))["uid"].to_pylist()
    assert set(flipped["uid"].to_pylist()) <= set(easy)
    assert np.mean(flipped["confidence_before"].to_numpy()) > 0.9 > 0.5 > np.mean(flipped["confidence_after"].to_numpy())


def test_it_writes_numbers_and_figures(audited: tuple[Workspace, str, list[str]]) -> None:
    workspace, _, _ = audited
    numbers = json.loads((workspace.path / "reports/noise.metrics.json").read_text(encoding="utf-8"))
    assert all(isinstance(value, int | float) for value in numbers.values())
    assert numbers["suspects"] == found(workspace)["suspects"] and numbers["flips"] == 16
    assert numbers["f1.confidence"] > 0.8 and 0 < numbers["average_precision.committee"] <= 1
    for suffix in ("png", "svg"):
        assert (workspace.path / f"reports/figures/noise.{suffix}").stat().st_size > 5000


def test_the_same_again_is_the_same_bytes(audited: tuple[Workspace, str, list[str]]) -> None:
    workspace, _, _ = audited
    files = ["data/noise/noise.parquet", "data/noise/experiment.parquet", "data/noise/noise.json", "reports/noise.metrics.json"]
    files += ["reports/figures/noise.png", "reports/figures/noise.svg"]
    before = {name: (workspace.path / name).read_bytes() for name in files}
    assert run_step(noise.STEP, workspace, force=True).executed
    assert {name: (workspace.path / name).read_bytes() for name in files} == before


@pytest.mark.slow
def test_the_threshold_decides_who_is_flagged(audited: tuple[Workspace, str, list[str]]) -> None:
    workspace, _, _ = audited
    before = found(workspace)
    run_step(noise.STEP, with_sections(workspace, noise={"threshold": 0.95, "detector": "confidence"}))
    after = found(workspace)
    assert after["detector"] == "confidence" and after["threshold"] == 0.95
    table = pq.read_table(workspace.path / "data/noise/noise.parquet")
    np.testing.assert_array_equal(table["flagged"].to_numpy(zero_copy_only=False), table["probability"].to_numpy() >= 0.95)
    assert not any("never saw" in reason for reason in table["reason"].to_pylist())
    run_step(noise.STEP, workspace)
    assert found(workspace) == before


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"flip_share": 0.6}, r"`flip_share` 0.6 asks for 144 flips, but the easy region has \d+ of 240 rows; lower `flip_share`"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    audited: tuple[Workspace, str, list[str]], own: dict[str, object], message: str
) -> None:
    workspace, _, _ = audited
    before = (workspace.path / "data/noise/noise.json").read_bytes()
    with pytest.raises(InputError, match=message):
        run_step(noise.STEP, with_sections(workspace, noise=own))
    assert (workspace.path / "data/noise/noise.json").read_bytes() == before


def test_a_map_of_other_rows_is_refused(audited: tuple[Workspace, str, list[str]], tmp_path: Path) -> None:
    rows, _ = mislabelled()
    workspace = space(tmp_path, rows)
    pq.write_table(rows.slice(1), tmp_path / "data/ingest/train.parquet")
    with pytest.raises(InputError, match=r"data/ingest/train.parquet and the data map are not of the same rows \(239 and 240\)"):
        run_step(noise.STEP, workspace)


@pytest.mark.slow
def test_wrong_answers_of_multiple_choice_are_found(tmp_path: Path) -> None:
    rows, wrong = mislabelled("choice")
    workspace = space(tmp_path, rows)
    run_step(noise.STEP, workspace)
    record = found(workspace)
    assert record["detector"] == "committee" and set(record["detectors"]) == {"confidence", "measures", "committee"}
    first = pq.read_table(workspace.path / "data/noise/noise.parquet").sort_by("rank").slice(0, ERRORS)["uid"].to_pylist()
    assert len(set(first) & set(wrong)) >= ERRORS - 2


# --- imported


def imported(audited: tuple[Workspace, str, list[str]], path: Path, *, coordinates: bool, **own: object) -> Workspace:
    """A workspace with the other one's dynamics, or with its coordinates alone."""
    source = audited[0].path / "data"
    given: Path = source / "train/dynamics"
    if coordinates:
        given = path / "coordinates.parquet"
        pq.write_table(
            pq.read_table(source / "measure/measures.parquet").select(["uid", "confidence", "variability", "correctness"]), given
        )
    rows = pq.read_table(source / "ingest/train.parquet")
    return space(path / "workspace", rows, trained={"dynamics": str(given), "dynamics_epochs": 4 if coordinates else None}, **own)


@pytest.mark.parametrize("coordinates", [True, False], ids=["coordinates", "dynamics"])
def test_an_imported_map_is_judged_by_a_stated_assumption(
    audited: tuple[Workspace, str, list[str]], tmp_path: Path, coordinates: bool
) -> None:
    workspace = imported(audited, tmp_path, coordinates=coordinates)
    summary = run_step(noise.STEP, workspace).receipt.summary
    assert summary.endswith("by confidence, by assumption")
    record = found(workspace)
    assert record["assumption"].startswith("by assumption, not learnt: that a wrong label is doubted as firmly as an easy row's own")
    assert record["suggestions"]["from"] == ("coordinates" if coordinates else "in-sample")
    assert set(record["detectors"]) == {"confidence"} and 0 < record["confidence_below"] < 0.5
    table = pq.read_table(workspace.path / "data/noise/noise.parquet")
    assert all(reason.endswith(record["assumption"]) for reason in table["reason"].to_pylist())
    confidence = pq.read_table(workspace.path / "data/measure/measures.parquet")["confidence"].to_numpy()
    np.testing.assert_array_equal(table["flagged"].to_numpy(zero_copy_only=False), confidence <= record["confidence_below"])
    assert len(set(table.sort_by("rank").slice(0, ERRORS)["uid"].to_pylist()) & set(audited[2])) >= ERRORS - 2
    assert json.loads((workspace.path / "reports/noise.metrics.json").read_text())["assumed"] == 1


def test_coordinates_beside_texts_may_ask_for_the_committee(audited: tuple[Workspace, str, list[str]], tmp_path: Path) -> None:
    workspace = imported(audited, tmp_path, coordinates=True, detector="committee")
    run_step(noise.STEP, workspace)
    assert found(workspace)["detectors"]["committee"]["features"] == ["doubt"]


@pytest.mark.slow
@pytest.mark.realdata
def test_the_published_winogrande_map_has_about_as_many_suspects_as_the_paper_flagged(tmp_path: Path, real_data: Path) -> None:
    coordinates = real_data / "winogrande/roberta_large_coordinates.jsonl"
    found_rows = [json.loads(line) for line in (real_data / "winogrande/train_xl.jsonl").read_text(encoding="utf-8").splitlines()]
    schema = small_set("choice", rows=2).schema
    columns = {
        "uid": [str(row["guid"]) for row in found_rows],
        "sentence": [row["sentence"] for row in found_rows],
        "option1": [row["option1"] for row in found_rows],
        "option2": [row["option2"] for row in found_rows],
        "label": [int(row["answer"]) - 1 for row in found_rows],
        "source": ["train_xl.jsonl"] * len(found_rows),
        "row": range(1, len(found_rows) + 1),
    }
    rows = pa.table([pa.array(list(columns[field.name]), field.type) for field in schema], schema=schema)
    workspace = space(tmp_path, rows, trained={"dynamics": str(coordinates), "dynamics_epochs": 6})
    run_step(noise.STEP, workspace)
    assert 15 <= found(workspace)["suspects"] <= 62, "the paper: 31 of 40,398"
    texts = dict(zip(columns["uid"], columns["sentence"], strict=True))
    ranked = pq.read_table(workspace.path / "data/noise/noise.parquet").sort_by("rank")["uid"].to_pylist()
    assert texts[ranked[0]].startswith("Christopher had a private jet")


# --- declaration


def test_inputs_are_what_the_training_started_from() -> None:
    settings = Settings({"train": Train(model="transformer", pretrained="./model")})
    assert noise.STEP.inputs_of(settings) == ("data/ingest/train.parquet", "data/measure", "data/train", "file:./model")
    brought = Settings({"train": Train(dynamics="elsewhere")})
    assert noise.STEP.inputs_of(brought) == ("data/ingest/train.parquet", "data/measure", "data/train")


def test_names_of_classes_come_from_the_data(audited: tuple[Workspace, str, list[str]]) -> None:
    workspace, _, _ = audited
    names = dataset_info(pq.read_schema(workspace.path / "data/ingest/train.parquet")).labels
    reasons = " ".join(pq.read_table(workspace.path / "data/noise/noise.parquet")["reason"].to_pylist())
    assert all(f"preferred {name} (" in reasons for name in names)
