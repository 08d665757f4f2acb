from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch
import yaml

from cartograph.config import Settings, load_settings
from cartograph.errors import InputError
from cartograph.models.tiny import Tiny
from cartograph.train import fit
from tasks import train
from tasks.embed import STEP, Params, run
from tasks.ingest import Params as IngestParams
from tasks.workspace import Workspace
from tests.training_sets import info_of, small_set

SETS = ("data/ingest/train.parquet", "data/ingest/challenge.parquet", "data/ingest/validation.parquet")


def settings_of(embed: dict[str, object], **section: object) -> Settings:
    return {"ingest": IngestParams(), "embed": Params(**embed), "train": train.Params(**section)}


def test_only_a_probe_has_it() -> None:
    assert STEP.when(settings_of({}, model="probe"))
    assert not STEP.when(settings_of({}))
    assert not STEP.when(settings_of({}, model="probe", dynamics="mine"))


def test_it_reads_every_set_and_an_encoder_that_is_a_folder(tmp_path: Path) -> None:
    assert STEP.inputs_of(settings_of({"pretrained": "owner/name"}, model="probe")) == SETS
    assert STEP.inputs_of(settings_of({"pretrained": str(tmp_path)}, model="probe")) == (*SETS, f"file:{tmp_path}")
    assert STEP.inputs_of(settings_of({"pretrained": "./nowhere"}, model="probe")) == (*SETS, "file:./nowhere")
    assert STEP.inputs_of(settings_of({})) == SETS


def test_a_probe_without_an_encoder_is_refused() -> None:
    with pytest.raises(InputError) as raised:
        STEP.inputs_of(settings_of({}, model="probe"))
    assert str(raised.value) == "model `probe` needs `embed.pretrained`: the folder of an encoder, or a hub id; set it in params.yaml."


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"pooling": "max"}, "`embed.pooling`: input should be 'mean' or 'cls', but is 'max'"),
        ({"max_length": 1}, "`embed.max_length`: input should be greater than or equal to 4, but is 1"),
        ({"batch": 3}, "unknown key `embed.batch`; did you mean `batch_size`?"),
    ],
)
def test_wrong_parameters_say_what_is_expected(tmp_path: Path, section: dict[str, object], message: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump({"embed": section}))
    with pytest.raises(InputError) as raised:
        load_settings(path, {"embed": Params})
    assert message in str(raised.value)


def test_what_it_writes_is_what_a_probe_is_trained_on(tmp_path: Path) -> None:
    source, data = tmp_path / "source", tmp_path / "data/embed"
    source.mkdir()
    data.mkdir(parents=True)
    torch.manual_seed(0)
    Tiny.create(info_of("single"), small_set(), max_length=32).save(source)
    inputs = {"data/ingest/train.parquet": tmp_path / "train.parquet", "data/ingest/held.parquet": tmp_path / "held.parquet"}
    pq.write_table(small_set(), inputs["data/ingest/train.parquet"])
    pq.write_table(small_set(rows=20, seed=9, name="held", domain="id"), inputs["data/ingest/held.parquet"])
    inputs[f"file:{source}"] = source
    distinct = set(small_set().column("text").to_pylist()) | set(small_set(rows=20, seed=9).column("text").to_pylist())
    summary = run(Params(pretrained=str(source)), inputs, {"data/embed": data})  # type: ignore[arg-type]
    assert summary == f"{len(distinct)} texts, 128 numbers each"
    section = train.Params(model="probe", epochs=1, device="cpu")
    assert train.pretrained_files(section) == ("data/embed",)
    space = Workspace(tmp_path, {})
    assert train.recipe_of(section, space).pretrained == str(tmp_path / "data/embed")
    rows = pq.read_table(inputs["data/ingest/train.parquet"])
    assert fit(train.recipe_of(section, space), rows, {}, tmp_path / "fit").metrics["epochs"] == 1
