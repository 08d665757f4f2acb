"""Which audits read which versions of a table."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cartograph.errors import InputError
from flows.compare import record_of
from tasks.commands.input_versions import NOW, audits_by_version, is_revision, version_named

SPACE = Path("workspaces/lake")


def run(project: Path, *command: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"] if command[0] == "git" else []
    return subprocess.run([command[0], *identity, *command[1:]], cwd=project, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def lake(project: Path) -> Path:
    """A workspace whose commits have audits of versions 3 and 4, and which holds one of version 5 that was not committed."""
    run(project, "git", "init", "-q")
    run(project, "dvc", "init", "-q")
    record = project / SPACE / "data/fetch/files.json"
    record.parent.mkdir(parents=True)
    for version in (3, 4):
        record.write_text(json.dumps({"a": {"table": "reviews", "version": version}, "https://x": {"sha256": "ab"}}))
        run(project, "dvc", "add", "-q", f"{SPACE}/data/fetch")
        (project / SPACE / "dvc.lock").write_text(f"# {version}")
        run(project, "git", "add", "-A")
        run(project, "git", "commit", "-q", "-m", f"Version {version}")
    record.write_text(json.dumps({"a": {"table": "reviews", "version": 5}}))
    return project


def test_an_audit_is_found_by_the_version_that_it_read(lake: Path) -> None:
    newest, oldest = run(lake, "git", "rev-parse", "HEAD", "HEAD~1").split()
    assert audits_by_version(SPACE) == {"3": oldest, "4": newest, "5": NOW}
    assert is_revision("HEAD~1") and not is_revision("4") and not is_revision("--all")


def test_a_version_that_no_audit_read_is_refused_with_those_there_are(lake: Path) -> None:
    with pytest.raises(
        InputError, match=r"no audit of workspaces/lake read version 7 of its table or query; .* read 3, 4, 5\. Name one of these"
    ):
        record_of("workspaces/lake@7")


def test_rows_of_a_query_are_named_by_how_their_checksum_begins(lake: Path) -> None:
    first, second, now = "f2a9c1" + "0" * 58, "f2a9c2" + "1" * 58, "ab12cd" + "2" * 58
    record = lake / SPACE / "data/fetch/files.json"
    for number, digest in enumerate((first, second)):
        record.write_text(json.dumps({"query://d5c6dcae/DB.parquet": {"sha256": digest, "mark": None, "bytes": 1}}))
        run(lake, "dvc", "add", "-q", f"{SPACE}/data/fetch")
        (lake / SPACE / "dvc.lock").write_text(f"# query {number}")
        run(lake, "git", "add", "-A")
        run(lake, "git", "commit", "-q", "-m", f"Query {number}")
    record.write_text(json.dumps({"query://d5c6dcae/DB.parquet": {"sha256": now}}))
    newest, before = run(lake, "git", "rev-parse", "HEAD", "HEAD~1").split()
    audits = audits_by_version(SPACE)
    assert list(audits)[:3] == [now[:12], second[:12], first[:12]], "the newest first"
    assert [audits[digest[:12]] for digest in (now, second, first)] == [NOW, newest, before]
    assert version_named(audits, "f2a9c2") == version_named(audits, second) == second[:12]
    for unknown in ("f2a9c", "f2a9", "0000000"):
        assert version_named(audits, unknown) is None
    with pytest.raises(
        InputError, match=rf"read version f2a9c of its table or query; .* read 3, 4, {now[:12]}, {second[:12]}, {first[:12]}\."
    ):
        record_of("workspaces/lake@f2a9c")


def test_without_tables_there_are_no_versions(project: Path) -> None:
    run(project, "git", "init", "-q")
    assert audits_by_version(SPACE) == {}
