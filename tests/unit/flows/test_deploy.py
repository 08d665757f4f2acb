"""What is refused before it is a deployment, and what of a prefect.yaml is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from cartograph.errors import InputError
from flows import deploy, serve
from tasks.engine.workspace import Workspace
from tests.workspaces import make_workspace


def space(project: Path, name: str) -> Workspace:
    return make_workspace(project / "workspaces" / name)


def refused(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    with pytest.raises(typer.Exit) as ended:
        deploy.main(**options)
    assert ended.value.exit_code == 2
    return " ".join(capsys.readouterr().err.split())


def test_options_that_would_do_nothing_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--cron applies to the workspaces given with --workspace" in refused(capsys, cron="0 3 * * *")
    assert "--timezone is that of --cron" in refused(capsys, workspace=["x"], timezone="Europe/Berlin")
    assert not (project / "prefect.yaml").exists()


def test_a_workspace_takes_the_place_of_its_own_deployment_alone(project: Path) -> None:
    deploy.write_file([space(project, "a/b"), space(project, "c")], "0 3 * * *", "UTC")
    path = deploy.write_file([space(project, "c")], None, "UTC")
    entries = {entry["name"]: entry for entry in yaml.safe_load(path.read_text())["deployments"]}
    assert entries["a-b"]["schedules"] == [{"cron": "0 3 * * *", "timezone": "UTC"}]
    assert (entries["c"]["schedules"], entries["c"]["parameters"]) == ([], {"workspace": "workspaces/c"})
    with pytest.raises(InputError, match="workspaces/a/b and workspaces/a-b would both be called a-b; rename one of the folders"):
        deploy.write_file([space(project, "a-b")], None, "UTC")


def test_a_name_that_prefect_does_not_take_is_refused(project: Path) -> None:
    with pytest.raises(InputError, match="workspaces/r&d: Prefect takes no & in a name; rename the folder"):
        deploy.write_file([space(project, "r&d")], None, "UTC")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deployments: [{entrypoint: x}]", "has no list `deployments` in which each has a name"),
        ("deployments: {}", "has no list `deployments`"),
        ("deployments: [", "is not valid YAML"),
    ],
)
def test_a_file_that_was_edited_wrongly_is_named(project: Path, text: str, said: str) -> None:
    (project / "prefect.yaml").write_text(text)
    with pytest.raises(InputError, match=f"prefect.yaml.*{said}"):
        deploy.write_file([], None, "UTC")


def test_schedules_by_hand_are_understood_or_refused() -> None:
    assert deploy._schedules({"name": "x"}) == []
    assert deploy._schedules({"name": "x", "schedules": [{"cron": "0 3 * * *"}]}) == [("0 3 * * *", "UTC")]
    with pytest.raises(InputError, match=r"the deployment x of prefect\.yaml has a schedule without `cron`"):
        deploy._schedules({"name": "x", "schedules": [{"interval": 60}]})


def test_serving_on_no_schedule_at_all_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        serve.main(cron="at noon")
    assert ended.value.exit_code == 2
    assert "--cron 'at noon' in 'UTC' is not a schedule; write five fields" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (ConnectionError("no address"), "there is no Prefect server at 127.0.0.1:9/api"),
        (ValueError("concurrency_limit: not a number"), r"did not take the work pool .* \(ValueError: concurrency_limit: not a number\)"),
    ],
)
def test_only_a_server_that_does_not_answer_is_said_to_be_missing(
    problem: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise problem

    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    monkeypatch.setattr(deploy, "_prepare", fails)
    with pytest.raises(InputError, match=said):
        deploy.register(tmp_path / "prefect.yaml", None, None)
