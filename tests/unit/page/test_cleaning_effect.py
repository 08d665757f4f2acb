from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.compare.versions import DIFFERENCES, SUMMARY, Comparison
from cartograph.page.audit import Audit
from cartograph.page.cleaning_effect import cleaning_effect, cleaning_lines, cleaning_phrase, sure_enough
from cartograph.page.step_results import Cleaning
from cartograph.page.verdict import verdict
from cartograph.schema import CHANGES, EVALUATION
from tests.page_audits import with_cleaning, with_suspects


def difference(**values: object) -> dict[str, object]:
    row = {"subset": "cleaned", "against": "original", "set": "challenge", "domain": "ood", "rows": 900, "metric": "accuracy", "seeds": 3}
    return row | values


@pytest.mark.parametrize(
    ("low", "middle", "high", "sentence"),
    [
        (0.0061, 0.0139, 0.0223, "Cleaning raised accuracy by 1.4 points (95 % CI 0.6 to 2.2) on challenge."),
        (-0.0223, -0.0139, -0.0061, "Cleaning lowered accuracy by 1.4 points (95 % CI 0.6 to 2.2) on challenge."),
        (0.0003, 0.0139, 0.03, "Cleaning raised accuracy by 1.39 points (95 % CI 0.03 to 3.00) on challenge."),
        (
            -0.0041,
            0.0049,
            0.0132,
            "Cleaning made no measurable difference to accuracy: +0.5 points (95 % CI −0.4 to +1.3) on challenge.",
        ),
        (0.02, 0.09, 0.16, "Cleaning raised accuracy by 9 points (95 % CI 2 to 16) on challenge."),
    ],
)
def test_a_sentence_says_whether_cleaning_raised_or_lowered_accuracy(low: float, middle: float, high: float, sentence: str) -> None:
    table = pa.Table.from_pylist([difference(low=low, difference=middle, high=high)], schema=DIFFERENCES)
    assert cleaning_effect(table) == sentence
    assert cleaning_effect(table, metric="macro_f1") == cleaning_effect(table, against="random") == ""


def test_sets_of_one_outcome_share_a_sentence_and_those_out_of_distribution_come_first() -> None:
    gain, none = {"low": 0.01, "difference": 0.02, "high": 0.03}, {"low": -0.01, "difference": 0.0, "high": 0.01}
    rows = [difference(set="dev", domain="id", **none), difference(**gain), difference(set="hard", **none)]
    assert cleaning_effect(pa.Table.from_pylist(rows, schema=DIFFERENCES), "Dropping the suspects") == (
        "Dropping the suspects raised accuracy by 2.0 points (95 % CI 1.0 to 3.0) on challenge. "
        "It made no measurable difference to accuracy: +0.0 points (95 % CI −1.0 to +1.0) on hard, +0.0 (−1.0 to +1.0) on dev."
    )


def compared(audit: Audit, *rows: dict[str, object]) -> Audit:
    return replace(
        audit, comparison=Comparison(EVALUATION.empty_table(), SUMMARY.empty_table(), pa.Table.from_pylist([*rows], DIFFERENCES))
    )


def test_the_top_of_the_page_has_another_metric_where_it_disagrees_and_the_version_to_use(audit: Audit) -> None:
    none, loss = {"low": -0.019, "difference": -0.003, "high": 0.012}, {"low": -0.03, "difference": -0.02, "high": -0.01}
    rows = [difference(set="test", domain="id", **none), difference(set="test", domain="id", metric="macro_f1", **loss)]
    assert cleaning_lines(compared(audit, *rows)) == [
        "Cleaning made no measurable difference to accuracy: −0.3 points (95 % CI −1.9 to +1.2) on test. "
        "Cleaning lowered macro F1 by 2.0 points (95 % CI 1.0 to 3.0) on test. "
        "Recommended: the original rows, since models trained on the cleaned ones are measurably worse (macro F1 on test).",
    ]
    agreeing = [rows[0], {**rows[1], **none}]
    assert cleaning_lines(compared(audit, *agreeing)) == [
        "Cleaning made no measurable difference to accuracy: −0.3 points (95 % CI −1.9 to +1.2) on test. "
        "Recommended: the original rows; models trained on the cleaned ones are neither better nor worse measurably on test, and how many "
        "labels are wrong is not known closely.",
    ]
    known = with_suspects(compared(audit, *agreeing), calibrated=True, wrong={"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0})
    assert cleaning_lines(known)[0].endswith("and it is certain that labels are wrong (at least 1, about 3).")
    assert cleaning_lines(compared(audit)) == cleaning_lines(audit) == []


def test_where_every_training_failed_what_cleaning_is_worth_is_not_known(audit: Audit) -> None:
    def trained(**failed: tuple[int, int]) -> Audit:
        rows = [
            {"set": "test", "domain": "id", "rows": 9, "subset": subset, "metric": "accuracy", "seeds": seeds, "failed": number}
            for subset, (seeds, number) in failed.items()
        ]
        none = [{**row, **dict.fromkeys(set(SUMMARY.names) - set(row))} for row in rows]
        table = pa.Table.from_pylist(none, pa.schema([field.with_nullable(True) for field in SUMMARY]))
        return replace(audit, comparison=Comparison(EVALUATION.empty_table(), table, DIFFERENCES.empty_table()))

    (line,) = cleaning_lines(trained(original=(0, 3), cleaned=(0, 3)))
    assert line.startswith("What cleaning is worth is not known: all 6 trainings that would show it ended no better than chance")
    assert line.endswith("recommended: the original rows.")
    assert cleaning_lines(trained(original=(1, 2), cleaned=(0, 3))) == []


def test_a_comparison_with_random_rows_says_so() -> None:
    table = pa.Table.from_pylist([difference(against="random", low=0.01, difference=0.02, high=0.03)], schema=DIFFERENCES)
    assert cleaning_effect(table, "Dropping the suspects", against="random") == (
        "Compared with a random sample of the same size, dropping the suspects raised accuracy by 2.0 points (95 % CI 1.0 to 3.0) "
        "on challenge."
    )
    assert cleaning_effect(table, "Weighting rows", against="random", weighted=True).startswith(
        "Compared with the same weights in random order, weighting rows raised accuracy by 2.0 points"
    )


def test_cleaning_is_named_by_what_it_did_where_it_changed_the_suspects_and_no_other_row(audit: Audit) -> None:
    def drops(*uids: str) -> Cleaning:
        rows = [{"uid": uid, "what": "drop", "from": "no", "to": None, "why": "", "by": "recipe drop-flagged"} for uid in uids]
        return Cleaning(pa.Table.from_pylist(rows, schema=CHANGES), {})

    suspects = with_suspects(audit, flagged=(1, 0))
    assert cleaning_phrase(replace(suspects, cleaning=drops("u0", "u1"))) == "Dropping the suspects"
    assert cleaning_phrase(replace(suspects, cleaning=drops("u0"))) == "Cleaning"
    assert cleaning_phrase(replace(suspects, cleaning=drops("u0", "u1", "u2"))) == "Cleaning"
    assert cleaning_phrase(with_cleaning(audit)) == "Cleaning", "it dropped and relabelled"
    assert cleaning_phrase(audit) == "Cleaning"


def undecided(sure: int, by_people: int = 0) -> Cleaning:
    """A cleaning that changed nothing but what people decided, since by cross-validation no way of cleaning is better than none."""
    arms = {"original": {"changed": by_people, "difference": 0.0}, "drop": {"changed": sure + by_people, "difference": 0.0012}}
    version = {"weighted": False, "changes": 0}
    return Cleaning(CHANGES.empty_table(), version, {"arms": arms, "recommended": "original", "used": "decisions-only", "reason": ""})


def test_where_nothing_was_changed_it_is_said_what_could_be_and_how(audit: Audit) -> None:
    same = compared(audit, difference(domain="id", low=0.0, difference=0.0, high=0.0))
    assert cleaning_lines(replace(same, cleaning=undecided(82))) == [
        "Recommended: the original rows. Dropping the 82 surest, relabelling them, or down-weighting doubtful rows does not make "
        "models measurably better (dropping: +0.1 points by cross-validation on the train set), so nothing was changed; "
        "clean.recipe: drop-flagged drops them anyway."
    ]
    assert cleaning_lines(replace(same, cleaning=undecided(0))) == cleaning_lines(same)
    assert cleaning_lines(same) == ["Recommended: the original rows; cleaning changed nothing that a model sees."]


def test_where_only_weights_were_compared_and_are_no_better_nothing_is_sure_enough_to_drop(audit: Audit) -> None:
    arms = {"original": {"changed": 0, "difference": 0.0}, "down-weight": {"changed": 3, "difference": -0.01}}
    compared_weights = replace(undecided(0), arms={"arms": arms, "recommended": "original", "used": "decisions-only", "reason": ""})
    assert sure_enough(compared_weights) == 0
    same = compared(audit, difference(domain="id", low=0.0, difference=0.0, high=0.0))
    assert cleaning_lines(replace(same, cleaning=compared_weights)) == cleaning_lines(same)


def test_rows_that_were_weighted_without_effect_are_not_said_to_be_unchanged(audit: Audit) -> None:
    same = compared(audit, difference(domain="id", low=0.0, difference=0.0, high=0.0))
    arms = {"original": {"changed": 0, "difference": 0.0}, "drop": {"changed": 3, "difference": 0.01}}
    weighted = Cleaning(CHANGES.empty_table(), {"weighted": True, "changes": 0}, {"arms": arms, "recommended": "down-weight"})
    (line,) = cleaning_lines(replace(same, cleaning=weighted))
    assert line.startswith("Recommended: the original rows; models trained on the cleaned ones are right on the same rows of ")


def test_the_head_says_where_weighted_rows_are_not_recommended(audit: Audit) -> None:
    arms = {"original": {"changed": 0, "difference": 0.0}, "drop": {"changed": 1, "difference": 0.01}}
    cleaning = Cleaning(CHANGES.empty_table(), {"weighted": True, "changes": 0}, {"arms": arms, "recommended": "down-weight"})
    suspects = with_suspects(audit, calibrated=True, wrong={"expected": 3.0, "low": 0.0, "high": 5.0, "most": 9.0})
    weighted = "each row is weighted by how likely its label is right"
    for low, high, version, said in (
        (-0.02, 0.02, "weighted", f"{weighted};"),
        (-0.03, -0.01, "original", f"{weighted}, but retrained models are worse for it, so that the original rows are recommended;"),
        (-0.009, 0.001, "original", f"{weighted}, but retrained models are no better for it, so that the original rows are recommended;"),
    ):
        rows = difference(domain="id", low=low, difference=(low + high) / 2, high=high)
        found = replace(compared(audit, rows), suspects=suspects.suspects, cleaning=cleaning)
        assert said in verdict(found).sentence
        assert f"Recommended: the {version} rows" in cleaning_lines(found)[0]


def test_the_head_counts_the_surest_and_says_why_they_were_kept_where_nothing_was_changed(audit: Audit) -> None:
    suspects = with_suspects(audit, calibrated=True, wrong={"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0})
    kept = "2 rows are suspects, {} sure enough to drop (at 0.8 or more) but kept, {};"
    for sure, which, them in ((1, "1 of them", "it"), (2, "all of them", "them")):
        sentence = verdict(replace(suspects, cleaning=undecided(sure))).sentence
        assert kept.format(which, f"since models trained without {them} are not measurably better") in sentence
    asked = undecided(1)
    asked = replace(asked, arms={**(asked.arms or {}), "asked": "decisions-only", "recommended": "drop"})
    assert kept.format("1 of them", "since clean.recipe is decisions-only") in verdict(replace(suspects, cleaning=asked)).sentence
    assert any(line.startswith("Not in that number are errors that follow a rule") for line in verdict(suspects).lines)
    few = with_suspects(audit, calibrated=True, wrong={"expected": 3.0, "low": 1.0, "high": 5.0, "most": 6.9})
    assert not any("follow a rule" in line for line in verdict(few).lines)
    sentence = verdict(replace(suspects, cleaning=undecided(0, 5))).sentence
    assert "2 rows are suspects, none of them sure enough to change automatically (at 0.8 or more);" in sentence
