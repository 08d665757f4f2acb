"""`dvc commit --force` of several stages at once: `python -m flows.engine.dvc_commit dvc.yaml:train dvc.yaml:measure …`.

DVC's own command takes its stages one by one, and for each reads and writes the whole of dvc.lock: with the eighteen stages of an
audit that is most of a minute on a busy machine. Here they are handed to the same function of DVC in one call.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tasks.engine.workspace import project_root


def commit_stages(targets: Sequence[str]) -> None:
    """Record the outputs of these stages in dvc.lock and DVC's cache, as they are on disk.

    Raises:
        dvc.exceptions.DvcException: no such stage, an output that is not there, or a repository that is in use.
    """
    from dvc.repo import Repo

    repo = Repo(str(project_root()))
    collect = repo.stage.collect_granular

    def collect_all(target: str | None = None, **options: Any) -> list[Any]:
        return [found for name in targets for found in collect(name, **options)]

    repo.stage.collect_granular = collect_all
    try:
        repo.commit(force=True)
    finally:
        repo.close()


if __name__ == "__main__":
    from dvc.exceptions import DvcException

    try:
        commit_stages(sys.argv[1:])
    except DvcException as error:
        sys.exit(str(error))
