import numpy as np
import pytest

from cartograph.statistics.metrics import average_precision
from cartograph.suspects.copies import contradicting_copies, copies_of, updated_by_copies
from cartograph.suspects.label_doubt import label_doubt

COPIES, TEXTS = 3, 600
EVEN = np.array([[0.9, 0.1], [0.1, 0.9]])


def labelled(copied: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return texts, true labels, given ones (a tenth wrong), and what weak models say of each text."""
    rng = np.random.default_rng(5)
    text = np.repeat(np.arange(TEXTS), COPIES)
    true = rng.integers(0, 2, TEXTS)[text]
    wrong = (rng.random(TEXTS) < 0.1)[text] if copied else rng.random(len(text)) < 0.1
    sure = (1.0 / (1.0 + np.exp(-rng.normal(2.5, 1.5, TEXTS))))[text]
    return (
        text,
        true,
        np.where(wrong, 1 - true, true),
        np.stack([np.where(true == 0, sure, 1 - sure), np.where(true == 0, 1 - sure, sure)], axis=1),
    )


def test_rows_of_one_text_are_copies_and_their_labels_are_counted() -> None:
    copies = copies_of(np.array([7, 7, -1, 7, -1, 3]), np.array([1, 0, 0, 1, 0, 1]))
    assert copies is not None and copies.rows.tolist() == [0, 1, 3] and copies.text.tolist() == [0, 0, 0]
    assert copies.agreeing.tolist() == [1, 0, 0, 1, 0, 0] and copies.contradicting.tolist() == [1, 2, 0, 1, 0, 0]
    assert copies_of(np.array([-1, -1, 2]), np.array([0, 0, 1])) is None


def test_copies_that_were_labelled_apart_outvote_a_wrong_label() -> None:
    text, true, given, known = labelled(copied=False)
    copies = copies_of(text, given)
    assert copies is not None
    alone, heard = label_doubt(known, given), label_doubt(known, given, copies=copies)
    wrong = given != true
    assert average_precision(wrong, heard.score) > 0.05 + average_precision(wrong, alone.score)
    assert heard.wrong is not None and heard.wrong.low <= wrong.sum() <= heard.wrong.scattered


def test_of_copies_that_contradict_each_other_one_is_wrong_whatever_the_models_learnt_from_the_other() -> None:
    rng = np.random.default_rng(3)
    true = np.arange(800) % 2
    known = np.where((true == 0)[:, None], [0.97, 0.03], [0.03, 0.97])
    given, number = true.copy(), np.arange(800)
    pairs = np.arange(0, 40)
    number[pairs + 40] = pairs
    # The models say of each what the other is labelled; of half of them nobody knows the class from the text.
    given[pairs], given[pairs + 40] = 0, 1
    known[pairs] = np.where((rng.random(40) < 0.5)[:, None], [0.05, 0.95], [0.0, 1.0])
    known[pairs + 40] = known[pairs][:, ::-1]
    plain = label_doubt(known, given)
    assert (plain.score[:80] > 0.8).all(), "each looks surely wrong"
    met = contradicting_copies(number, given)
    found = label_doubt(known, given, met=met)
    assert met is not None and met.rows.tolist() == list(range(80))
    np.testing.assert_allclose(found.score[pairs] + found.score[pairs + 40], 1.0)
    assert found.wrong is not None and found.wrong.expected == pytest.approx(40.0, abs=1) and found.wrong.scattered >= 40.0
    assert found.wrong.low == 0.0, "their texts may not decide the label, as of a word of two languages"
    np.testing.assert_allclose(found.score[80:], label_doubt(known, given, met=met).score[80:])
    assert contradicting_copies(number, true * 0) is None


def test_copies_that_share_one_label_vouch_for_nothing() -> None:
    text, true, given, known = labelled(copied=True)
    copies = copies_of(text, given)
    assert copies is not None
    alone, heard = label_doubt(known, given), label_doubt(known, given, copies=copies)
    assert abs(average_precision(given != true, heard.score) - average_precision(given != true, alone.score)) < 0.01


def test_copies_whose_classes_their_text_does_not_decide_are_not_heard() -> None:
    rng = np.random.default_rng(6)
    text, true = np.repeat(np.arange(TEXTS), COPIES), rng.integers(0, 2, TEXTS * COPIES)
    given = np.where(rng.random(len(true)) < 0.1, 1 - true, true)
    yes = 1.0 / (1.0 + np.exp(-np.where(true == 1, 1, -1) * rng.normal(3.0, 1.5, len(true))))
    known, copies = np.stack([1 - yes, yes], axis=1), copies_of(text, given)
    assert copies is not None
    alone, heard = label_doubt(known, given), label_doubt(known, given, copies=copies)
    assert average_precision(given != true, heard.score) > average_precision(given != true, alone.score) - 0.01


@pytest.mark.parametrize("others", [0, 30])
def test_a_text_that_is_there_once_more_under_another_label_is_doubted_whether_or_not_others_agree(others: int) -> None:
    """A join gone wrong adds rows with another row's label; copies that agree were removed, or not."""
    rng = np.random.default_rng(8)
    true = rng.integers(0, 3, 1000)
    text = np.concatenate([np.arange(1000), np.arange(60), np.arange(100, 100 + others)])
    given = true[text].copy()
    given[1000:1060] = (true[:60] + 1) % 3
    sure = 0.55 + 0.4 * rng.random(1000)
    known = np.full((1000, 3), 0.0) + ((1.0 - sure) / 2.0)[:, None]
    known[np.arange(1000), np.where(rng.random(1000) < 0.1, (true + 1) % 3, true)] = sure
    copies = copies_of(text, given)
    assert copies is not None
    wrong = given != true[text]
    alone, heard = label_doubt(known[text], given), label_doubt(known[text], given, copies=copies)
    assert average_precision(wrong, heard.score) > average_precision(wrong, alone.score) + 0.2
    of_two = heard.score[:60] + heard.score[1000:1060]
    assert np.median(of_two) > 0.7 and (of_two < 1.4).mean() > 0.8, "one of the two is wrong"
    assert others == 0 or np.median(heard.score[1060:]) < 0.1, "copies that agree are not doubted"


def test_copies_that_contradict_each_other_do_not_show_how_often_other_labels_go_wrong() -> None:
    true = np.arange(1000) % 2
    known = np.where((true == 0)[:, None], [0.97, 0.03], [0.03, 0.97])
    given, number = true.copy(), np.arange(1000)
    number[20:40] = np.arange(20)
    given[:20], given[20:40] = 0, 1
    known[:20], known[20:40] = [0.001, 0.999], [0.999, 0.001]
    met = contradicting_copies(number, given)
    assert met is not None
    found = label_doubt(known, given, met=met)
    assert found.transition is not None and np.diag(found.transition).min() > 0.99
    assert np.diag(label_doubt(known, given).transition).min() < 0.95
    every = copies_of(np.repeat(np.arange(500), 2), true)
    assert every is not None and np.isfinite(label_doubt(known, true, met=every).score).all(), (
        "where there are no other rows, all are taken"
    )


def test_where_all_copies_contradict_each_other_softer_probabilities_do_not_count() -> None:
    rng = np.random.default_rng(5)
    labels = np.tile([0, 1], 60)
    copies = copies_of(np.repeat(np.arange(60), 2), labels)
    assert copies is not None
    first = np.repeat(rng.random(60) < 0.5, 2)[:, None]
    known = np.where(first, [0.98, 0.02], [0.02, 0.98])
    softer, goes = np.where(first, [0.6, 0.4], [0.4, 0.6]), np.array([[0.9, 0.1], [0.1, 0.9]])
    heard = updated_by_copies(known, goes, labels, copies, softer)
    np.testing.assert_array_equal(heard, updated_by_copies(known, goes, labels, copies))
    assert heard.max(axis=1).min() > 0.8
