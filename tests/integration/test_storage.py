"""An audit between servers: its data from S3, its versions to S3, its numbers to MLflow's own process, and its secrets nowhere."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.engine.surroundings import SILENT
from tests.integration.project import MakeProject, Project
from tests.integration.test_readme import write_reviews

pytestmark = pytest.mark.slow

SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIAPLANTEDKEY000001",
    "AWS_SECRET_ACCESS_KEY": "planted-aws-secret-0002",
    "AWS_SESSION_TOKEN": "planted-aws-session-0003",
    "MLFLOW_TRACKING_USERNAME": "planted-mlflow-user-0004",
    "MLFLOW_TRACKING_PASSWORD": "planted-mlflow-password-0005",
    "HF_TOKEN": "hf_plantedtoken0006",
    "CARTOGRAPH_WEBHOOK": "http://127.0.0.1:9/planted-webhook-0007",
}
ENDPOINT_PASSWORD = "planted-in-the-address-0008"
PLANTED = [value.rpartition("/")[2].encode() for value in (*SECRETS.values(), ENDPOINT_PASSWORD)]
REVIEWS = "s3://audits/incoming/reviews.csv"


@dataclass
class Bucket:
    """A bucket on an S3 server in a process of its own."""

    client: Any
    environment: dict[str, str]

    def contents(self) -> dict[str, bytes]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="audits")
        names = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return {name: self.client.get_object(Bucket="audits", Key=name)["Body"].read() for name in names}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def serve(command: list[str], address: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a server and wait until it answers."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MLFLOW_"))} | SILENT
    environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=environment, stdout=log, stderr=log)
    for _ in range(450):
        try:
            with urllib.request.urlopen(address, timeout=2):
                return process
        except OSError:
            assert process.poll() is None, (folder / "server.log").read_text()[-2000:]
            time.sleep(0.2)
    process.kill()
    pytest.fail(f"{command} did not come up")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    import boto3

    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = serve(["moto.server", "-H", "127.0.0.1", "-p", str(port)], f"{url}/moto-api/", tmp_path_factory.mktemp("s3"))
    client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="owner", aws_secret_access_key="owner")
    client.create_bucket(Bucket="audits")
    yield Bucket(client, {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1"})
    process.terminate()
    process.wait(30)


@pytest.fixture(scope="module")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of an MLflow server with a database, and the folder of both."""
    folder, port = tmp_path_factory.mktemp("tracking"), free_port()
    command = ["mlflow", "server", "--backend-store-uri", "sqlite:///tracking.db", "--artifacts-destination", str(folder / "artifacts")]
    process = serve([*command, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"], f"http://127.0.0.1:{port}/health", folder)
    yield f"127.0.0.1:{port}", folder
    process.terminate()
    process.wait(30)


def with_secrets(project: Project, bucket: Bucket, tracking: str) -> Project:
    uri = f"http://someone:{ENDPOINT_PASSWORD}@{tracking}"
    return Project(project.path, project.environment | bucket.environment | SECRETS | {"MLFLOW_TRACKING_URI": uri})


def leaks(content: bytes) -> list[bytes]:
    return [secret for secret in PLANTED if secret in content]


def test_from_s3_to_s3_by_way_of_mlflow_and_no_secret_is_left_anywhere(
    make_project: MakeProject, bucket: Bucket, tracking: tuple[str, Path], tmp_path: Path
) -> None:
    write_reviews(tmp_path / "reviews.csv", 200)
    content = (tmp_path / "reviews.csv").read_bytes()
    bucket.client.put_object(Bucket="audits", Key="incoming/reviews.csv", Body=content)
    project = with_secrets(make_project(database=False), bucket, tracking[0])
    said: list[str] = []

    def run(project: Project, *command: str, code: int | None = 0) -> str:
        done = project.run(*command, code=code)
        said.append(done.stdout + done.stderr)
        return done.stdout

    run(project, "tasks", "init", "workspaces/reviews", "--train", REVIEWS, "--text", "review", "--label", "sentiment")
    settings = project.path / "workspaces/reviews/params.yaml"
    assert yaml.safe_load(settings.read_text())["ingest"]["train"] == [REVIEWS]
    entry = f"{{path: '{REVIEWS}', sha256: {hashlib.sha256(content).hexdigest()}}}"
    pinned = re.sub(r"^  train: \[.*\]", f"  train: [{entry}]", settings.read_text(), count=1, flags=re.MULTILINE)
    pinned = pinned.replace("bootstrap: 1000", "bootstrap: 100")
    settings.write_text(pinned)
    run(project, "flows.audit", "--workspace", "workspaces/reviews", "-v")
    assert "fetch" in project.executions("workspaces/reviews")

    run(project, "dvc", "remote", "add", "-d", "store", "s3://audits/versions")
    run(project, "dvc", "push")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "An audit")
    project.git("clone", "-q", str(project.path), str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone", project.environment | {"PYTHONPATH": str(tmp_path / "clone" / "src")})
    run(clone, "dvc", "pull", "workspaces/reviews/dvc.yaml")
    assert clone.executed_by(lambda: run(clone, "flows.audit", "--workspace", "workspaces/reviews"), "workspaces/reviews") == set()
    assert clone.executed_by(lambda: run(clone, "dvc", "repro", "workspaces/reviews/dvc.yaml"), "workspaces/reviews") == set()

    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"http://{tracking[0]}")
    [run_of_audit] = [one for one in runs_of(client, "reviews") if "mlflow.parentRunId" not in one.data.tags]
    assert run_of_audit.info.status == "FINISHED"
    assert {"report.html", "card.md"} <= {file.path for file in client.list_artifacts(run_of_audit.info.run_id)}
    assert not list(project.path.glob("mlflow.db*"))

    settings.write_text(pinned.replace("incoming", "missing"))
    run(project, "flows.audit", "--workspace", "workspaces/reviews", code=2)
    assert "s3://audits/missing/reviews.csv does not exist; correct the URL." in " ".join(said[-1].split())
    project.environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{free_port()}"
    project.environment["MLFLOW_TRACKING_URI"] = f"http://someone:{ENDPOINT_PASSWORD}@127.0.0.1:{free_port()}"
    settings.write_text(pinned.replace("incoming", "elsewhere"))
    run(project, "flows.audit", "--workspace", "workspaces/reviews", code=2)
    assert "s3://audits/elsewhere/reviews.csv cannot be fetched" in " ".join(said[-1].split())

    folders = [project.path, clone.path, tracking[1], Path(project.environment["PREFECT_HOME"])]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    found = {path: leaked for path in files if (leaked := leaks(path.read_bytes()))}
    found |= {name: leaked for name, stored in bucket.contents().items() if (leaked := leaks(stored))}
    assert found == {}
    assert leaks("".join(said).encode()) == []
    assert len(files) > 200


def runs_of(client: Any, experiment: str) -> list[Any]:
    return list(client.search_runs([client.get_experiment_by_name(experiment).experiment_id]))


def test_a_file_that_is_followed_is_fetched_again_when_it_has_changed(
    make_project: Callable[[], Project], bucket: Bucket, tmp_path: Path
) -> None:
    project = make_project()
    project.environment |= bucket.environment | SECRETS
    write_reviews(tmp_path / "one.csv", 120)
    write_reviews(tmp_path / "two.csv", 140)

    def put(name: str) -> None:
        bucket.client.put_object(Bucket="audits", Key="followed.csv", Body=(tmp_path / name).read_bytes())

    put("one.csv")
    (project.path / "workspaces" / "followed").mkdir(parents=True)
    project.params(
        "fetch: {follow: true}\n"
        "ingest: {source: files, train: 's3://audits/followed.csv', text: review, label: sentiment}\n"
        "train: {learning_rate: 0.01}\nretrain: {subsets: [original], seeds: [1]}\n"
        "aflite: {enabled: false}\n",
        "workspaces/followed",
    )

    def flow() -> set[str]:
        return project.executed_by(lambda: project.run("flows.audit", "--workspace", "workspaces/followed"), "workspaces/followed")

    def repro() -> set[str]:
        return project.executed_by(lambda: project.run("dvc", "repro", "workspaces/followed/dvc.yaml"), "workspaces/followed")

    assert {"fetch", "ingest", "train", "report"} <= flow()
    assert flow() == {"fetch"}
    assert repro() == {"fetch"}
    put("two.csv")
    assert {"fetch", "ingest", "train", "report"} <= flow()
    assert repro() == {"fetch"}
