"""What is pruned: only what no next audit would use, and nothing before it was asked for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from dvc.repo import Repo

from cartograph.errors import InputError
from tasks.commands import leftovers
from tasks.commands.prune import prune, size_text
from tasks.engine.receipt import Receipt, fingerprint
from tasks.engine.workspace import Workspace
from tests.workspaces import open_new

OLD, CURRENT = "0" * 64, "1" * 64


@pytest.fixture
def space(project: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An audit's folder in a project of its own, ingested and not yet trained."""
    monkeypatch.setenv("PREFECT_HOME", str(project / "prefect"))
    ingest = {"source": "files", "train": ["a.csv"], "evaluation": {"test": {"files": ["b.csv"]}}}
    space = open_new(project / "workspaces" / "reviews", ingest=ingest)
    for name in ("train", "test"):
        write(space.path / f"data/ingest/{name}.parquet", "rows")
    return space


def write(path: Path, text: str = "x" * 1000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def listed(space: Workspace) -> dict[str, set[str]]:
    return {one.what: {path.name for path in one.paths} for one in leftovers.of_workspace(space)}


def test_a_clean_workspace_has_nothing_to_prune(space: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    (space.state / "staging" / "train").mkdir(parents=True)
    (space.state / "checkpoints").mkdir(parents=True)
    assert listed(space) == {}
    prune(workspace="workspaces/reviews")
    assert "There is nothing to remove." in capsys.readouterr().out


def test_a_checkpoint_that_the_next_run_takes_up_is_kept(space: Workspace) -> None:
    step = next(step for step in leftovers.steps_of(space.settings) if step.name == "train")
    folder = space.state / "checkpoints" / "train"
    write(folder / fingerprint(step, space) / "epoch=3")
    assert listed(space) == {}
    write(folder / OLD / "epoch=1")
    assert listed(space) == {"checkpoints of train": {OLD}}
    write(space.path / "data/ingest/train.parquet", "other rows")
    assert len(listed(space)["checkpoints of train"]) == 2


def test_checkpoints_of_steps_that_cannot_tell_are_kept_and_of_those_that_are_gone_not(space: Workspace) -> None:
    write(space.state / "checkpoints" / "noise" / OLD / "fit" / "epoch=1")
    write(space.state / "checkpoints" / "retrain@random-9" / OLD / "epoch=1")
    assert listed(space) == {"checkpoints of retrain@random-9": {"retrain@random-9"}}


def test_what_a_killed_run_left_half_written_is_found(space: Workspace) -> None:
    write(space.state / "staging" / "train" / "tmp1" / "new" / "data" / "train" / "half.parquet")
    write(space.path / "dvc.yaml.tmp")
    write(space.path / "data" / "train.receipt.json.tmp")
    assert listed(space) == {"staging": {"train"}, "files": {"dvc.yaml.tmp", "train.receipt.json.tmp"}}


def test_validation_pages_of_sets_that_are_gone_are_found(space: Workspace) -> None:
    for name in ("index", "train", "test", "challenge"):
        write(space.path / "reports" / "data_docs" / f"{name}.html")
    assert listed(space) == {"Data Docs": {"challenge.html"}}


def test_results_in_prefect_go_once_no_receipt_has_them(space: Workspace) -> None:
    Receipt("train", CURRENT, {}, {}, "").write(space.path / "data" / "train.receipt.json")
    storage = leftovers.prefect_storage()
    for name in (
        f"train-workspaces-reviews-{CURRENT}",
        f"train-workspaces-reviews-{OLD}",
        f"retrain@random-3-workspaces-reviews-{OLD}",
        f"train-workspaces-other-{OLD}",
        f"train-.-{OLD}",
        f"somebody-workspaces-reviews-{OLD}",
        "0a" * 16,
    ):
        write(storage / name)
    dead = {f"train-workspaces-reviews-{OLD}", f"retrain@random-3-workspaces-reviews-{OLD}"}
    assert listed(space) == {"Prefect's results": dead}


def test_nothing_is_removed_before_it_is_asked_for(space: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    stale = write(space.state / "checkpoints" / "train" / OLD / "epoch=1", "x" * 2500)
    page = write(space.path / "reports" / "data_docs" / "challenge.html", "x" * 700)
    prune(workspace="workspaces/reviews")
    said = capsys.readouterr().out
    assert "2.5 kB  checkpoints of train: of parameters, inputs or code that are no longer these" in said
    assert "700 B  Data Docs: pages of sets that this audit does not have" in said
    assert "3.2 kB could be freed, nothing was removed; `python -m tasks prune --workspace workspaces/reviews --remove` removes it." in said
    assert stale.exists()
    assert page.exists()
    prune(workspace="workspaces/reviews", remove=True)
    assert "3.2 kB freed." in capsys.readouterr().out
    assert not stale.parent.exists()
    assert not page.exists()
    assert (space.path / "data/ingest/train.parquet").exists()


def test_a_busy_workspace_is_left_alone(space: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(space.path, space.path.with_name("other"))
    write(space.path.parent.parent / "params.yaml", "ingest: {}\n")
    stale = write(space.state / "checkpoints" / "train" / OLD / "epoch=1")
    with space.lock("an audit"):
        with pytest.raises(InputError, match="is busy: `an audit`"):
            prune(workspace="workspaces/reviews", remove=True)
        prune(remove=True)
    assert "workspaces/reviews: skipped: workspace" in capsys.readouterr().out
    assert stale.exists()


@pytest.mark.filterwarnings("ignore:_NoneStep:DeprecationWarning")
def test_only_what_nothing_refers_to_leaves_the_cache(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def git(*command: str) -> None:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *command], cwd=project, check=True, capture_output=True)

    def dvc_add(name: str) -> None:
        with Repo(str(project)) as repo:
            repo.add(str(project / name))

    git("init", "-q")
    Repo.init(str(project)).close()
    turns: list[Path] = []
    turn = leftovers.dvc_turn
    monkeypatch.setattr(leftovers, "dvc_turn", lambda project: turns.append(project) or turn(project))
    git("commit", "-q", "--allow-empty", "-m", "No version yet")
    write(project / "dvc.yaml", "stages: {never: {cmd: 'true', outs: [made]}}\n")
    write(project / "folder" / "part.txt", "in a folder of a run")
    dvc_add("folder")
    lock = (project / "folder.dvc").read_text()
    write(project / "mlartifacts" / "default" / "run" / "artifacts" / "dvc.lock", lock)
    for name in ("folder.dvc", ".gitignore"):
        (project / name).unlink()
    shutil.rmtree(project / "folder")
    for text in ("committed", "forgotten!", "here"):
        write(project / "file.txt", text)
        dvc_add("file.txt")
        if text == "committed":
            git("add", "-A")
            git("commit", "-q", "-m", "One")
            git("commit", "-q", "--allow-empty", "-m", "The same versions")
    caplog.clear()
    assert leftovers.unused_cache(remove=False) == (len("forgotten!"), 1)
    assert leftovers.unused_cache(remove=True) == (len("forgotten!"), 1)
    kept = [path.read_text() for path in (project / ".dvc" / "cache" / "files").rglob("*") if path.is_file()]
    assert sorted(kept)[1:] == ["committed", "here", "in a folder of a run"]
    assert sorted(kept)[0].startswith('[{"md5":'), "the folder's listing"
    assert leftovers.unused_cache(remove=False) == (0, 0)
    assert turns == [project] * 3, "audits that record what they made wait for it"
    with Repo(str(project)) as repo:
        assert len(leftovers._revisions(repo)) == 1, "of three commits, one speaks for all"
    assert caplog.messages == [], "of what was never made there is nothing to tell"


def test_a_cache_that_other_projects_may_use_is_left_alone(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path / "shared"
    write(project / "params.yaml", "ingest: {}\n")
    with Repo.init(str(project), no_scm=True) as repo, repo.config.edit() as config:
        config["cache"]["dir"] = str(shared)
    theirs = write(shared / "files" / "md5" / "ab" / ("0" * 30))
    assert leftovers.unused_cache(remove=True) is None
    prune(remove=True)
    assert theirs.exists()
    assert "DVC's cache: skipped, since it is outside the project, and other projects may use it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345, "12 kB"), (999_600, "1.0 MB"), (3_210_000_000, "3.2 GB")]
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert size_text(size) == text
