"""What is in the checkout that git does not have committed: for the check that no test changes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHES = (
    "**/__pycache__/**",
    "**/*.egg-info/**",
    ".venv/**",
    ".hypothesis/**",
    ".pytest_cache/**",
    ".mypy_cache/**",
    ".ruff_cache/**",
    ".coverage*",  # the counted lines, which pytest-cov writes when the tests have ended
)


def uncommitted(root: Path) -> dict[str, int]:
    """Return the files that git sees as changed, new or ignored, but for caches, each with the time of its last change (0: deleted).

    Outside of a git repository there are none.
    """
    command = ["git", "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored"]
    excluded = [f":(exclude,glob){pattern}" for pattern in CACHES]
    done = subprocess.run([*command, "--", ".", *excluded], cwd=root, capture_output=True, text=True, check=False)
    names = [entry[3:] for entry in done.stdout.split("\0") if entry]
    return {name: (root / name).lstat().st_mtime_ns if (root / name).is_symlink() or (root / name).exists() else 0 for name in names}


def changes(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Return the files that differ between two looks at a checkout."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
