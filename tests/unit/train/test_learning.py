from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.data.parquet import write_parquet
from cartograph.train.enough import Attempt, attempt_of
from cartograph.train.fit import fit
from cartograph.train.learning import Learning, State, learning_of
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, table

LAST = Attempt(8, 0.25, 0.2, failed=False, finite=True)


def sentence(
    state: State, *attempts: Attempt, simple: float | None = 0.65, unseen: float | None = None, open: bool = False, folds: int = 0
) -> str:
    return Learning(attempts or (LAST,), simple, unseen, state, open, folds=folds).sentence.replace("\u00a0", " ")


def test_each_state_names_the_parameter_to_change() -> None:
    assert sentence("learnt") == ""
    assert sentence("not learnt") == (
        "The model has not learnt these data: after 8 epochs it is right on 25 % of the rows that it trains on, while simple models are "
        "right on 65 % of rows that they never saw. Raise train.epochs (now 8; `auto` goes on until the model has learnt), raise "
        "train.learning_rate, or choose another train.model."
    )
    tried = sentence("failed", LAST, replace(LAST, epochs=128, failed=True), open=True)
    assert "after 128 epochs, the most that are tried, it is right on 25 % of the rows that it trains on, no more often than by" in tried
    assert tried.endswith("Set train.epochs above 128, raise train.learning_rate, or choose another train.model.")
    stuck = sentence("not learnt", LAST, replace(LAST, epochs=128), open=True)
    assert stuck.endswith(
        "More epochs hardly helped it. The suspects, which simple models find, hold all the same; for the map, raise "
        "train.learning_rate, or choose another train.model."
    )
    more = sentence("not learnt", LAST, replace(LAST, epochs=128, accuracy=0.5), open=True)
    assert "Many labels may be wrong, or not follow from the rows; else set train.epochs above 128" in more
    hard = sentence("not learnt", LAST, replace(LAST, epochs=128, accuracy=0.7, surest=0.31), open=True)
    assert "Many labels may be wrong, or not follow from the rows; else set train.epochs above 128, raise train.learning_rate, or" in hard
    unsure = sentence("not learnt", replace(LAST, accuracy=0.7, surest=0.31))
    assert "gives the labels of two rows in three a probability below 0.31, " in unsure
    heart = sentence("by heart", replace(LAST, accuracy=0.99), simple=0.5, unseen=0.6)
    assert "right on 99 % of the rows that it trained on and on 60 % of those of evaluation sets, so its confidence" in heart
    assert "Set train.folds to 5" in heart
    later = sentence("by heart", replace(LAST, accuracy=0.99), simple=0.7, unseen=0.4)
    assert "trained on and on 70 % (by simple models) of rows that were not trained on, so its confidence" in later
    beside = sentence("by heart", replace(LAST, accuracy=0.99), folds=5)
    assert beside.endswith(
        "The models of train.folds (5), which did not see the row, are read beside it; lower train.epochs, or choose another train.model."
    )
    assert sentence("diverged").endswith("Lower train.learning_rate.")


def test_a_call_names_its_own_argument() -> None:
    def called(state: State, last: Attempt = LAST) -> str:
        return Learning([last], 0.65, 0.6, state, open=True, called=True).sentence.replace("\u00a0", " ")

    way_out = (
        "Audit them with more than 8 epochs (--epochs of the command, epochs of cartograph.audit), or in a workspace with another "
        "train.epochs, train.learning_rate or train.model."
    )
    assert called("not learnt").endswith(way_out)
    assert called("failed").endswith(way_out)
    stuck = Learning([LAST, replace(LAST, epochs=128)], 0.65, None, "not learnt", open=True, called=True).sentence
    assert stuck.endswith("hold all the same; for the map, choose another train.model in a workspace.")
    tried = Learning([LAST, replace(LAST, epochs=128, accuracy=0.6)], 0.65, None, "not learnt", open=True, called=True).sentence
    assert "Many labels may be wrong, or not follow from the rows; else audit them with more than 128 epochs (--epochs" in tried
    below = "audit with fewer than 8 epochs (--epochs of the command, epochs of cartograph.audit), or"
    assert below in called("by heart", replace(LAST, accuracy=0.99))
    twice = Learning([LAST, replace(LAST, epochs=16, accuracy=0.99)], 0.65, 0.6, "by heart", open=True, called=True).sentence
    assert "audit with 9 to 15 epochs (--epochs" in twice
    assert called("by heart", replace(LAST, accuracy=0.99)).startswith("The model knows its rows by heart: it is right on 99 %")
    assert called("by heart", replace(LAST, accuracy=0.46)).startswith(
        "The model knows its rows far better than others: it is right on 46 %"
    )
    assert called("diverged").endswith("Audit them in a workspace with a lower train.learning_rate.")


@pytest.mark.slow
@pytest.mark.parametrize("held", [True, False])
def test_labels_by_chance_are_learnt_by_heart(held: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    words = [f"w{word}" for word in range(60)]

    def by_chance(name: str, domain: str, rows: int) -> Path:
        texts = [" ".join(rng.choice(words, 8)) for _ in range(rows)]
        write_parquet(
            table(info_of("single", name, domain), {"text": texts}, rng.integers(0, 2, rows).tolist(), prefix=name),  # type: ignore[arg-type]
            tmp_path / f"{name}.parquet",
        )
        return tmp_path / f"{name}.parquet"

    train = by_chance("train", "train", 200)
    sets = {"held": by_chance("held", "id", 100), "far": by_chance("far", "ood", 100)} if held else {}
    recipe = Recipe(epochs=40, batch_size=16, learning_rate=0.01, record="epoch_end", seed=5, threads=1, device="cpu")
    result = fit(recipe, pq.read_table(train), {name: pq.read_table(path) for name, path in sets.items()}, tmp_path / "fit")
    found = learning_of(result, sets, [attempt_of(result)], 0.5, open=True)
    assert found.state == "by heart"
    assert found.unseen == (pytest.approx(result.metrics["held.accuracy"]) if held else None)
    assert found.metrics() == {"train.learnt": 0, "train.simple_accuracy": 0.5}
