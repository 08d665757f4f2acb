"""Labels and class probabilities where classes differ in their form only."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Ids
from cartograph.data.kept_logits import KeptShares, Shares
from cartograph.suspects.class_forms import class_forms
from cartograph.suspects.committee import Committee, committee_scores

NAMES = ["pos", "neg", "Pos", "POS "]
LABELS = np.array([0, 0, 0, 0, 1, 1, 2, 3])
SHARES = np.random.default_rng(1).dirichlet(np.ones(4), len(LABELS))


def kept(shares: Floats, n_classes: int) -> KeptShares:
    """The same of more classes, of which the first are kept, in the order of each row's probabilities."""
    order = np.argsort(-shares, axis=1)
    return KeptShares(order.astype(np.int32), np.take_along_axis(shares, order, axis=1), n_classes)


@pytest.mark.parametrize("many", [False, True])
def test_a_class_has_what_its_forms_have_under_the_name_that_the_row_has(many: bool) -> None:
    names = NAMES + [f"other {number}" for number in range(200)] * many
    forms = class_forms(names, LABELS)
    assert forms.first.tolist()[:4] == [0, 1, 0, 0] and not forms.alone
    shares: Shares = kept(SHARES, len(names)) if many else SHARES
    together = forms.together(shares)
    named = forms.named(together, LABELS)
    left = forms.of_left(shares)
    np.testing.assert_allclose(
        left.dense()[:, :2] if isinstance(left, KeptShares) else left,
        np.stack([1 - SHARES[:, 1], SHARES[:, 1]], axis=1),
        atol=1e-12,
    )
    whole = [each.dense()[:, :4] if isinstance(each, KeptShares) else each for each in (together, named)]
    np.testing.assert_allclose(whole[0], np.stack([SHARES[:, [0, 2, 3]].sum(axis=1), SHARES[:, 1], *np.zeros((2, 8))], axis=1), atol=1e-12)
    np.testing.assert_allclose(whole[1][np.arange(8), LABELS], np.where(LABELS == 1, SHARES[:, 1], 1 - SHARES[:, 1]), atol=1e-12)
    np.testing.assert_allclose(whole[1].sum(axis=1), 1.0)
    if isinstance(named, KeptShares):
        assert (np.diff(named.values, axis=1) <= 0).all() and all(len(set(row)) == 4 for row in named.classes.tolist())
        assert not forms.same(LABELS, named.other_than(LABELS)).any()


def test_classes_that_differ_stay_as_they_are() -> None:
    forms = class_forms(["a", "b", "c", "d"], LABELS)
    assert forms.together(SHARES) is SHARES and forms.named(SHARES, LABELS) is SHARES
    assert forms.of_left(SHARES) is SHARES and forms.same(LABELS, LABELS[::-1]).tolist() == (LABELS[::-1] == LABELS).tolist()


def test_where_all_are_one_class_nothing_is_put_together() -> None:
    forms = class_forms(["pos", "Pos"], np.array([0, 0, 1]))
    assert forms.alone and forms.classes.tolist() == [0, 1] and forms.same(np.array([0]), np.array([1])).all()
    assert not class_forms(NAMES[:2], np.array([0, 0])).alone, "a class without rows is not another's form"


def test_a_committee_is_asked_about_the_classes_that_are_left() -> None:
    """It says the same of labels in one form as of labels in three."""
    rng = np.random.default_rng(2)
    right = rng.integers(0, 2, 300)
    texts = [
        " ".join([*rng.choice(["film", "plot", "cast"], 3), *rng.choice([["good", "fine"], ["bad", "dull"]][label], 2)]) for label in right
    ]
    plain = np.where(rng.random(300) < 0.05, 1 - right, right)
    labels = np.where((plain == 0) & (rng.random(300) < 0.3), rng.integers(2, 4, 300), plain)

    def committee(given: Ids, names: list[str]) -> Committee:
        forms = class_forms(names, given)
        return forms.committee(
            lambda ids, left: committee_scores(texts, ids, [names[number] for number in left], np.random.default_rng(3)), given
        )

    one, other = committee(plain, NAMES[:2]), committee(labels, NAMES)
    np.testing.assert_array_equal(one.doubt.score, other.doubt.score)
    rows = np.arange(300)
    assert isinstance(one.probabilities, np.ndarray) and isinstance(other.probabilities, np.ndarray)
    np.testing.assert_array_equal(one.probabilities[rows, plain], other.probabilities[rows, labels])
    assert other.probabilities.shape == (300, 4) and other.doubt.transition is not None and other.doubt.transition.shape == (4, 4)
