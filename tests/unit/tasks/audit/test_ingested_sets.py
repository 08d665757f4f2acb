from __future__ import annotations

from cartograph.config import Settings
from tasks.audit.ingested_sets import is_built_in
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.score import STEP


def test_only_the_built_in_corpus_is_scored() -> None:
    files = Ingest(source="files", train="train.csv", text="text")
    assert STEP.when is is_built_in
    assert all(is_built_in(Settings({"ingest": Ingest(source=source)})) for source in ("planted-nli", "digits"))
    assert not is_built_in(Settings({"ingest": files}))
