from __future__ import annotations

from tasks.engine.workspace import CODE
from tasks.pipelines import open_workspace


def test_a_collection_has_sections_of_its_own() -> None:
    assert "collect" in open_workspace(CODE / "workspaces/paraphrases").settings
    assert "train" not in open_workspace(CODE / "workspaces/paraphrases").settings
    assert "collect" not in open_workspace(CODE).settings
