"""What is done with surely wrong labels of a frame: nothing where few may be wrong and models are not measurably better for it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cartograph.errors import InputError
from cartograph.frames.audit import audit
from cartograph.frames.cleaned_rows import CleanedRows
from cartograph.frames.result import FrameAudit


def reviews(own: float, seed: int, errors: int) -> pd.DataFrame:
    """800 reviews of eight words, each the class's own with this probability; of the first class some labels are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 800)
    words = rng.integers(0, 40, (800, 8)) + 40 * np.where(rng.random((800, 8)) < own, truth[:, None], 1 - truth[:, None])
    wrong = rng.choice(np.flatnonzero(truth == 0), errors, replace=False)
    given = truth.copy()
    given[wrong] = 1
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    return pd.DataFrame({"text": texts, "label": np.array(["bad", "good"])[given], "truth": np.array(["bad", "good"])[truth]})


def findings(frame: pd.DataFrame) -> FrameAudit:
    return audit(frame, text="text", label="label", epochs=4)


@pytest.fixture(scope="module")
def hard() -> tuple[pd.DataFrame, FrameAudit]:
    frame = reviews(0.8, 3, 130)
    return frame, findings(frame)


@pytest.fixture(scope="module")
def easy() -> tuple[pd.DataFrame, FrameAudit]:
    frame = reviews(1.0, 3, 40)
    return frame, findings(frame)


@pytest.fixture(scope="module")
def few() -> tuple[pd.DataFrame, FrameAudit]:
    frame = reviews(0.85, 3, 8)
    return frame, findings(frame)


def test_where_models_are_better_for_it_labels_are_changed(hard: tuple[pd.DataFrame, FrameAudit]) -> None:
    frame, found = hard
    cleaned, wrong = found.cleaned(), frame["label"] != frame["truth"]
    left = cleaned["label"] != cleaned["truth"]
    assert left.mean() < wrong.mean() / 2
    assert found.changes().startswith(("without the ", "with ")) and "all of them" not in found.changes()


def test_where_it_is_well_determined_how_many_are_wrong_they_do_not_stay_because_models_shrug_them_off(
    easy: tuple[pd.DataFrame, FrameAudit],
) -> None:
    frame, found = easy
    wrong = frame.index[frame["label"] != frame["truth"]]
    assert set(frame.index) - set(found.cleaned().index) <= set(wrong) and len(found.cleaned()) <= len(frame) - 30


def test_where_it_is_not_and_models_are_no_better_all_rows_stay_and_the_way_to_drop_them_is_named(
    few: tuple[pd.DataFrame, FrameAudit],
) -> None:
    frame, found = few
    sure = int((found.suspects["probability"] >= 0.8).sum())
    assert sure > 5 and found.cleaned().equals(frame)
    assert found.changes().startswith(f"all of them: {sure} labels are sure enough to drop, but by cross-validation on the train set, ")
    why = found._cleaned_rows._choice.reason
    assert f"{why[1:-1]} (recipe drop-flagged drops them anyway)" in found.changes(), "the reason that the comparison gives"


def test_a_named_recipe_is_done_whatever_it_is_worth(easy: tuple[pd.DataFrame, FrameAudit]) -> None:
    frame, found = easy
    sure = found.suspects.index[found.suspects["probability"] >= 0.8]
    assert found.cleaned("drop-flagged").equals(frame.drop(index=sure))
    assert found.changes("drop-flagged") == f"without the {len(sure)} whose label is most surely wrong"
    relabelled = found.cleaned("relabel")
    corrected = int((relabelled["label"] != frame.loc[relabelled.index, "label"]).sum())
    assert corrected > 20 and found.changes("relabel").endswith(f"with {corrected} labels corrected")


def test_weights_keep_all_rows_and_say_how_much_each_counts(
    easy: tuple[pd.DataFrame, FrameAudit], few: tuple[pd.DataFrame, FrameAudit]
) -> None:
    frame, found = easy
    weighted, wrong = found.cleaned("down-weight"), frame["label"] != frame["truth"]
    assert weighted.drop(columns="weight").equals(frame)
    assert weighted["weight"].mean() == pytest.approx(1, abs=1e-5) and weighted["weight"][wrong].median() < 0.2
    assert found.changes("down-weight").startswith("all of them, with a column `weight` of how much each counts (1 on average, ")
    assert len(few[1].cleaned("down-weight")) == len(few[0])


def test_where_no_number_is_known_rows_are_weighted_if_models_are_measurably_better_for_it() -> None:
    frame = reviews(0.7, 3, 180)
    found, wrong = findings(frame), frame["label"] != frame["truth"]
    with pytest.warns(UserWarning, match="no row is dropped and no label changed: the column `weight` says how much each row should count"):
        weighted = found.cleaned()
    assert found.wrong is None and weighted.drop(columns="weight").equals(frame)
    assert weighted["weight"][wrong].mean() < weighted["weight"][~wrong].mean() / 2
    assert found.changes().endswith("likelier wrong than right), since models are better for that, by cross-validation")
    taken = findings(frame.assign(weight=1.0))
    assert taken.cleaned().equals(frame.assign(weight=1.0)), "there is no room for weights"
    assert taken.changes().endswith("; weights were not compared, since there is a column `weight`: rename it")


@pytest.mark.slow
def test_a_rare_class_most_labels_of_which_are_wrong_is_weighted_rather_than_left_as_it_is() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(2_000) < 0.05).astype(int)
    words = rng.integers(0, 40, (2_000, 8)) + 40 * truth[:, None]
    wrong = rng.permutation(np.arange(2_000) < 200)
    names = np.array(["often", "rare"])
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    frame = pd.DataFrame({"text": texts, "label": names[np.where(wrong, 1 - truth, truth)]})
    found = findings(frame)
    listed = found.suspects.index.to_numpy()
    assert wrong[listed].mean() > 0.95 and len(listed) > 150
    # Most of what is labelled `rare` would go: that is left to people, and rows are weighted.
    left = found._cleaned_rows._arms["drop"]
    assert left.too_many == ("rare",) and left.kept[(frame["label"] == "rare").to_numpy()].all()
    gone = len(frame) - len(found.cleaned("drop-flagged"))
    assert re.fullmatch(rf"without the {gone} whose .* wrong, among them \d+ of the \d+ rows of `rare`", found.changes("drop-flagged"))
    cleaned = found.cleaned()
    assert len(cleaned) == len(frame) and cleaned["weight"][wrong].mean() < 0.2 < 1 < cleaned["weight"][~wrong].mean()
    assert "do not know" not in "".join(found.suspects["reason"])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.0])
def test_rows_of_a_table_too_small_for_a_number_are_weighted_if_models_are_measurably_better_for_it(share: float) -> None:
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 260)
    columns = {name: truth + rng.normal(0.0, 0.4, 260) for name in "abc"}
    wrong = (truth == 1) & (rng.random(260) < 2 * share)
    found = audit(pd.DataFrame({**columns, "label": np.where(wrong, 0, truth)}), features=True, label="label", epochs=3)
    assert found.wrong is None and ("weight" in found.cleaned()) == (share > 0)
    if share:
        weights = found.cleaned()["weight"]
        assert len(weights) == 260 and weights[wrong].mean() < 0.3 < 1 < weights[~wrong].mean()


def test_where_weights_clearly_gain_more_than_dropping_rows_are_weighted(easy: tuple[pd.DataFrame, FrameAudit]) -> None:
    frame = reviews(0.75, 3, 200)
    found = findings(frame)
    assert len(found.cleaned("drop-flagged")) < len(frame)
    assert found.cleaned()["weight"].min() == 0 and found.changes().startswith("all of them, with a column `weight`")
    assert len(easy[1].cleaned()) < len(easy[0]) and easy[1].changes().startswith("without the ")


def test_weights_follow_their_rows_in_any_order_and_take_no_columns_place() -> None:
    frame = reviews(1.0, 3, 40)
    apart = findings(frame.sample(frac=1, random_state=1))
    weights = apart.cleaned("down-weight")["weight"]
    assert weights.index.tolist() == frame.sample(frac=1, random_state=1).index.tolist()
    wrong = (frame["label"] != frame["truth"]).reindex(weights.index)
    assert weights[wrong].median() < 0.2 < weights[~wrong].median()
    taken = findings(frame.assign(weight=1.0))
    with pytest.raises(InputError, match="the rows have a column `weight` already, so that weights cannot be added to them; rename it"):
        taken.cleaned("down-weight")


@pytest.mark.slow
def test_no_surely_wrong_label_and_an_unknown_recipe_are_said() -> None:
    found = findings(reviews(1.0, 4, 0))
    assert found.changes() == "all of them: no label is surely wrong"
    untold = findings(reviews(1.0, 4, 0).iloc[:90].assign(label=lambda rows: rows["label"].where(rows.index % 9 > 0, "other")))
    assert len(untold.suspects) and untold.wrong is None
    said = "all of them: how many labels are wrong is not known closely enough for one to be changed without a person"
    assert untold.changes() == said
    rows, suspects = untold._cleaned_rows.rows, untold._cleaned_rows.suspects
    nothing = replace(suspects, record={**suspects.record, "unknown": "much noise", "explained": 0.01})
    no_better = ", nor weighted, since by cross-validation models are not measurably better"
    assert CleanedRows(rows, nothing).changes("auto") == f"{said}{no_better}", "weights by models that learnt nothing are none"
    empty = findings(pd.concat([reviews(1.0, 4, 0), pd.DataFrame({"text": [""], "label": ["good"]})], ignore_index=True))
    assert len(empty.cleaned()) == 800 and empty.changes() == "all that could be used: no label is surely wrong"
    with pytest.raises(InputError, match="recipe must be auto, drop-flagged, relabel or down-weight, but is 'weigh'"):
        found.changes("weigh")  # type: ignore[arg-type]
