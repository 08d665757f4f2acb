"""What an audit lives by, whatever is edited while it runs: its parameters, the user's files and the code, as they were when it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PARAMS = "params.yaml"
KEPT_PARAMS = ".cartograph/audited.yaml"
"""The parameters as they were when the audit began."""


@dataclass(frozen=True)
class Snapshot:
    """A workspace that is held, as it was when that began.

    Attributes:
        token: of the lock; whoever installs outputs shows it.
        files: declared name of each file of the user's -> digest of its content.
        code: path of each file and package folder of code, from the project's root -> digest.
    """

    token: str
    files: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
