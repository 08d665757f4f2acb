"""Which names say that a column holds who labelled."""

from __future__ import annotations

import pytest

from cartograph.ingest.labeller_names import labeller_sentence, names_a_labeller


@pytest.mark.parametrize("name", ["annotator", "AnnotatorId", "labeled_by", "Labelled by", "worker-id", "coder_name", "turk_worker_id"])
def test_names_of_who_labelled(name: str) -> None:
    assert names_a_labeller(name)
    assert f"If `{name}` says who labelled" in labeller_sentence(["text", name], "--labelled-by ")


@pytest.mark.parametrize("name", ["label", "annotator_1", "annotators", "color", "grade", "workers", "", "code", "by"])
def test_names_of_something_else(name: str) -> None:
    assert not names_a_labeller(name)
    assert labeller_sentence([name], "") == ""


def test_of_several_the_plainest_is_asked_about() -> None:
    assert "`rater`" in labeller_sentence(["doctor", "rater"], "labelled_by=")
    assert "(labelled_by=doctor)" in labeller_sentence(["doctor"], "labelled_by=") and not names_a_labeller("doctor")
