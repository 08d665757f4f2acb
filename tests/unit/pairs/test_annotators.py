from __future__ import annotations

from cartograph.pairs.annotators import agreed, agreement_lines


def test_a_pair_has_the_answer_that_nobody_contradicts() -> None:
    found = agreed({"Bob": {1: 1, 2: 0, 4: -1, 5: -1}, "Ann": {1: 1, 2: 1, 3: 0, 4: 1, 5: -1}, "Cem": {2: -1}})
    assert found.answers == {1: 1, 3: 0, 4: 1, 5: -1}
    assert found.disputed == {2: "Ann: yes; Bob: no; Cem: skip"}
    assert agreed({}).answers == {}


def test_agreement_is_over_the_pairs_that_both_decided() -> None:
    ann, bob = {1: 1, 2: 1, 3: 0, 4: 0, 5: -1, 6: 1}, {1: 1, 2: 0, 3: 0, 4: 0, 5: 1, 7: 0}
    # Four pairs: yes-yes, yes-no, no-no, no-no; by chance alone they would agree on .5 * .25 + .5 * .75 of them.
    assert agreement_lines({"Bob": bob, "Ann": ann, "Cem": {9: 1}}) == [
        "Ann and Bob both answered 4 pairs and agree on 75 % of them (Cohen's kappa 0.50)."
    ]
