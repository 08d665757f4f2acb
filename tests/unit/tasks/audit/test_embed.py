from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import yaml

from cartograph import config
from cartograph.config import Settings, load_settings
from cartograph.errors import InputError
from cartograph.models.tiny import Tiny
from cartograph.train.fit import fit
from tasks.audit import recipes
from tasks.audit.embed import STEP
from tasks.audit.parameters.ablate import Ablate
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.parameters.select import Select
from tasks.audit.parameters.train import Train
from tasks.audit.parameters.tune import Tune
from tasks.engine.running import run_step
from tests.training_sets import info_of, small_set
from tests.workspaces import make_workspace, settings_of

SETS = ("data/ingest/train.parquet", "data/ingest/challenge.parquet", "data/ingest/validation.parquet")


def settings(embed: dict[str, object], **train: object) -> Settings:
    return settings_of(ingest={}, embed=embed, train=train)


def test_only_a_probe_has_it() -> None:
    assert STEP.when(settings({}, model="probe"))
    assert not STEP.when(settings({}))
    assert not STEP.when(settings({}, model="probe", dynamics="mine"))


@pytest.mark.parametrize(
    ("section", "wanted"),
    [
        ({"retrain": Retrain()}, True),
        ({"retrain": Retrain(subsets=())}, False),
        ({"select": Select(strategies=("AL-uncertainty",))}, True),
        ({"select": Select()}, False),
        ({"ablate": Ablate(experiments=("seeds",))}, True),
        ({"tune": Tune(trials=2)}, True),
    ],
)
def test_with_imported_dynamics_it_is_there_for_the_other_trainings(section: dict[str, config.Section], wanted: bool) -> None:
    assert STEP.when(settings({}, model="probe", dynamics="mine") | section) == wanted


def test_it_reads_every_set_and_an_encoder_that_is_a_folder(tmp_path: Path) -> None:
    assert STEP.inputs_of(settings({"pretrained": "owner/name"}, model="probe")) == SETS
    assert STEP.inputs_of(settings({"pretrained": str(tmp_path)}, model="probe")) == (*SETS, f"file:{tmp_path}")
    assert STEP.inputs_of(settings({"pretrained": "./nowhere"}, model="probe")) == (*SETS, "file:./nowhere")
    assert STEP.inputs_of(settings({})) == SETS


def test_a_probe_without_an_encoder_is_refused() -> None:
    with pytest.raises(InputError) as raised:
        STEP.inputs_of(settings({}, model="probe"))
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
        load_settings(path, {"embed": Embed})
    assert message in str(raised.value)


class Space:
    """A workspace with an encoder and two sets."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, folder / "source"
        self.draw_encoder(0)
        self.sets = (small_set(), small_set(rows=20, seed=9, name="held", domain="id"))

    def draw_encoder(self, seed: int) -> None:
        self.source.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(seed)
        Tiny.create(info_of("single"), small_set(), max_length=32).save(self.source)

    def embed(self, **values: object) -> str:
        """Run the step; return what it says."""
        embed = {"pretrained": str(self.source), "device": "cpu", **values}
        workspace = make_workspace(self.folder, *self.sets, embed=embed, train={"model": "probe"})
        return run_step(STEP, workspace, force=True).receipt.summary

    def vectors(self, name: str = "train") -> dict[str, list[float]]:
        table = pq.read_table(self.folder / f"data/embed/{name}.parquet")
        return dict(zip(table["uid"].to_pylist(), table["embedding"].to_pylist(), strict=True))

    def counts(self) -> dict[str, dict[str, int]]:
        return json.loads((self.folder / "data/embed/made.json").read_text())["sets"]


def test_what_it_writes_is_what_a_probe_is_trained_on(tmp_path: Path) -> None:
    space = Space(tmp_path)
    distinct = set(small_set().column("text").to_pylist()) | set(small_set(rows=20, seed=9).column("text").to_pylist())
    assert space.embed() == f"{len(distinct)} texts, 128 numbers each"
    section = Train(model="probe", epochs=1, device="cpu")
    assert recipes.pretrained_files(section) == ("data/embed",)
    workspace = make_workspace(tmp_path)
    assert recipes.recipe_of(section, workspace).pretrained == str(tmp_path / "data/embed")
    assert fit(recipes.recipe_of(section, workspace), small_set(), {}, tmp_path / "fit").metrics["epochs"] == 1


def test_a_grown_set_keeps_the_vectors_it_has(tmp_path: Path) -> None:
    space = Space(tmp_path)
    space.embed()
    assert space.counts() == {"held": {"kept": 0, "made": 20}, "train": {"kept": 0, "made": 60}}
    before = space.vectors()
    rows = small_set().to_pylist()
    rows[3] |= {"text": "The dog barks where nobody hears it"}
    rows[5] |= {"uid": "renamed", "label": 1 - rows[5]["label"]}
    grown = [*rows[:40], {**rows[0], "uid": "new", "text": "A goose sleeps in an attic of its own"}, *rows[41:]]
    space.sets = (pa.Table.from_pylist(grown, small_set().schema), space.sets[1])
    assert space.embed() == "2 texts, 128 numbers each; vectors of 78 rows kept"
    assert space.counts() == {"held": {"kept": 20, "made": 0}, "train": {"kept": 58, "made": 2}}
    now = space.vectors()
    assert {uid: now[uid] for uid in now if uid not in {"u0003", "new", "renamed"}} == {
        uid: before[uid] for uid in before if uid not in {"u0003", "u0005", "u0040"}
    }
    assert now["renamed"] == before["u0005"], "the text is the same"
    files = {path.name: path.read_bytes() for path in (tmp_path / "data/embed").iterdir() if path.is_file()}
    space.embed()
    assert {path.name: path.read_bytes() for path in (tmp_path / "data/embed").iterdir() if path.is_file()} == files
    space.embed(keep=False)
    assert space.vectors() == now, "what was kept is what would be made"


@pytest.mark.parametrize("change", ["encoder", "pooling", "broken", "other code", "batch"])
def test_nothing_is_kept_of_another_encoder_or_way_of_reading(tmp_path: Path, change: str) -> None:
    space = Space(tmp_path)
    space.embed()
    space.sets = (small_set().slice(1), space.sets[1])
    record = tmp_path / "data/embed/made.json"
    if change == "encoder":
        space.draw_encoder(1)
    elif change == "broken":
        (tmp_path / "data/embed/train.parquet").write_bytes(b"PAR1")
    elif change == "other code":
        record.write_text(json.dumps(json.loads(record.read_text()) | {"identity": "another"}))
    asked = {"pooling": {"pooling": "cls"}, "batch": {"batch_size": 32}}
    assert "kept" not in space.embed(**asked.get(change, {}))
