from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import CartographError, InputError
from cartograph.train.fit import fit_files
from cartograph.train.processes import process_count
from cartograph.train.recipe import Recipe
from tasks.engine.digest import digest_path
from tests.killed import kill_once_going
from tests.training_sets import small_set

RECIPE = Recipe(epochs=2, batch_size=8, learning_rate=0.01, seed=5, device="cpu", gradient_accumulation=2)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, dict[str, Path]]:
    train, held = tmp_path / "train.parquet", tmp_path / "held.parquet"
    pq.write_table(small_set(rows=61), train)
    pq.write_table(small_set(rows=21, seed=9, name="held", domain="id"), held)
    return train, {"held": held}


@pytest.mark.slow
def test_two_processes_record_what_one_records(
    files: tuple[Path, dict[str, Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, int]] = []
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", _without_dropout(tmp_path))
        two = fit_files(RECIPE, *files, tmp_path / "two", processes=2, progress=lambda done, total: calls.append((done, total)))
    monkeypatch.setattr("torch.nn.functional.dropout", lambda tensor, *_: tensor)
    one = fit_files(RECIPE, *files, tmp_path / "one", processes=1)
    ours, theirs = read_dynamics(two.dynamics), read_dynamics(one.dynamics)
    assert ours.uids.tolist() == theirs.uids.tolist()
    assert ours.gold.tolist() == theirs.gold.tolist()
    assert ours.logits.shape == (61, 2, 2)
    np.testing.assert_allclose(ours.logits, theirs.logits, rtol=0, atol=1e-4)
    assert not list((two.dynamics / "parts").iterdir())
    assert pq.read_table(two.predictions / "held.parquet").num_rows == 21
    assert [row["set"] for row in two.history.to_pylist()] == ["train", "held"] * 2
    assert calls[-1] == (122, 122)


def _without_dropout(folder: Path) -> str:
    """Make every process started with this PYTHONPATH train without dropout, the one thing that processes draw apart."""
    (folder / "sitecustomize.py").write_text("import torch.nn.functional as f\nf.dropout = lambda tensor, *_: tensor\n")
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.mark.slow
def test_two_processes_share_the_pass_after_the_epoch(files: tuple[Path, dict[str, Path]], tmp_path: Path) -> None:
    recipe = Recipe(**RECIPE.to_json() | {"record": "epoch_end", "epochs": 1})
    two = fit_files(recipe, *files, tmp_path / "two", processes=2)
    recorded = pq.read_table(two.dynamics / "epoch=0.parquet")
    assert recorded.column("uid").to_pylist() == [f"u{row:04d}" for row in range(61)]
    assert np.isfinite(read_dynamics(two.dynamics).logits).all()


@pytest.mark.slow
def test_two_nodes_of_torchrun_write_what_two_processes_write(files: tuple[Path, dict[str, Path]], tmp_path: Path) -> None:
    train, evaluation = files
    (tmp_path / "node.py").write_text(f"""
from pathlib import Path
import pyarrow.parquet as pq
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
sets = {{name: pq.read_table(path) for name, path in { ({name: str(path) for name, path in evaluation.items()})!r}.items()}}
fit(Recipe(**{RECIPE.to_json()!r}), pq.read_table({str(train)!r}), sets, Path({str(tmp_path / "nodes")!r}))
""")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = ["--nnodes=2", "--nproc-per-node=1", "--rdzv-id=pair", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{port}"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", *shared, "--local-addr=127.0.0.1"]
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
    nodes = [
        subprocess.Popen([*torchrun, f"--node-rank={rank}", str(tmp_path / "node.py")], env=environment, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    for node in nodes:
        said = node.communicate(timeout=300)[1]
        assert node.returncode == 0, said
    two = fit_files(RECIPE, *files, tmp_path / "two", processes=2).folder
    for name in ("dynamics", "predictions", "history.parquet", "model"):
        assert digest_path(tmp_path / "nodes" / name) == digest_path(two / name), name


@pytest.mark.slow
def test_an_input_error_in_a_process_is_raised_in_its_starter(tmp_path: Path) -> None:
    train = tmp_path / "train.parquet"
    one_class = small_set(rows=10).slice(0, 1)
    pq.write_table(one_class, train)
    with pytest.raises(InputError, match="the train set has 1 rows and 1 class; a model needs two classes at least"):
        fit_files(RECIPE, train, {}, tmp_path / "fit", processes=2)


def test_processes_that_cannot_run_say_where_their_log_is(
    files: tuple[Path, dict[str, Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(CartographError, match=r"training in 2 processes ended with code 1: .*processes\.log"):
        fit_files(RECIPE, *files, tmp_path / "fit", processes=2)


@pytest.mark.slow
def test_processes_end_when_their_starter_is_killed(files: tuple[Path, dict[str, Path]], tmp_path: Path) -> None:
    endless = RECIPE.to_json() | {"epochs": 100_000}
    code = f"""
from pathlib import Path
from cartograph.train.recipe import Recipe
from cartograph.train.fit import fit_files
folder = Path({str(tmp_path / "fit")!r})
fit_files(Recipe(**{endless!r}), Path({str(files[0])!r}), {{}}, folder, processes=2, progress=lambda *_: print("going", flush=True))
"""
    kill_once_going(code, tmp_path / "fit" / "job.json")


def test_on_a_machine_without_gpus_one_process_is_enough() -> None:
    assert process_count(Recipe(device="cpu"), None) == 1
    assert process_count(Recipe(device="cpu"), 3) == 3


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert process_count(Recipe(), None) == 2
    with pytest.raises(InputError, match=r"3 processes are asked for, and this machine has 2 GPUs; set `processes` to auto"):
        process_count(Recipe(), 3)
