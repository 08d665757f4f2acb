from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.clean.reviewed import DECIDED
from cartograph.ingest.label_forms import ONE_FORM
from cartograph.page.audit import Audit
from cartograph.page.beyond_number import outcomes
from cartograph.page.blocks import Table
from cartograph.page.read_verdict import BEYOND
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.verdict import verdict
from cartograph.schema import Feature, examples_schema
from tests.page_audits import check_of, said_of, set_entry, with_cleaning, with_several_labels, with_suspects, with_versions


def test_the_sentence_counts_doubted_labels_checks_and_unusable_rows(audit: Audit) -> None:
    found = verdict(audit)
    assert found.sentence == (
        "Over its training the model preferred another label for 2 of 8 rows (25\u00a0%); the one check of the data passed, "
        "and every row could be used."
    )
    assert found.lines == (
        "Start with the 2 hard-to-learn rows: the model gave their labels a probability of 0.08 on average, "
        "and it preferred another for 2 of them.",
    )
    assert [(figure.label, figure.value) for figure in found.figures] == [
        ("Rows", "8"),
        ("Quarantined", "0"),
        ("Hard to learn", "2"),
        ("Validation", "1 of 1"),
    ]


def test_a_failed_critical_check_is_at_the_top(audit: Audit) -> None:
    failed = [
        check_of("labels are known", passed=False, found="3 rows with other labels"),
        check_of("texts differ", passed=False, severity="warning"),
        check_of("x"),
    ]
    found = verdict(replace(audit, validation={"passed": False, "sets": [set_entry("train", "train", failed)], "quarantine": {}}))
    assert "2 of 3 checks of the data failed (1 critical)" in found.sentence
    assert found.lines[0] == "Critical, in train: labels are known: 3 rows with other labels."
    assert (found.figures[3].value, found.figures[3].state) == ("1 of 3", "bad")


def test_without_logits_the_sentence_speaks_of_confidence(audit: Audit) -> None:
    place = audit.measures.schema.get_field_index("predicted")
    unknown = audit.measures.set_column(place, audit.measures.schema.field("predicted"), pa.nulls(8, pa.int32()))
    found = verdict(replace(audit, measures=unknown, probabilities=None))
    assert found.sentence.startswith("The 2 hardest of 8 rows have a confidence of 0.10 or less;")
    assert found.figures[2].note == "confidence at most 0.10"


def test_an_assumption_is_stated_wherever_suspects_are_counted(audit: Audit) -> None:
    assumed = with_suspects(
        audit,
        assumption="by assumption, not learnt: that so and so",
        detectors={"committee": {"f1": 1.0, "average_precision": 1.0}, "confidence": {"f1": 1.0, "average_precision": 1.0}},
    )
    section = suspects_section(assumed)
    assert "They were found by assumption, not learnt: that so and so: the map was imported, so no model could be trained" in said_of(
        section
    )
    assert not [item for item in section.blocks if isinstance(item, Table)], "assumptions are not compared"
    found = verdict(assumed)
    assert found.sentence.startswith("2 of 8 labels look wrong (25\u00a0%), by an assumption stated below; ")
    assert found.figures[2].note == "25\u00a0% of the labels; by assumption, not learnt"


def test_the_verdict_counts_suspects(audit: Audit) -> None:
    found = verdict(with_suspects(audit))
    assert found.sentence == "2 of 8 labels look wrong (25\u00a0%); the one check of the data passed, and every row could be used."
    assert found.lines == ("Start with the 2 suspects: each has a suggested label and a reason.",)
    assert (found.figures[2].label, found.figures[2].value) == ("Suspects", "2")
    assert found.figures[2].note == "25\u00a0% of the labels; by models that never saw the row"
    one = verdict(with_suspects(audit, flagged=(3,)))
    assert one.sentence.startswith("1 of 8 labels looks wrong (12\u00a0%);")
    assert one.lines == ("Start with the suspect: it has a suggested label and a reason.",)


def test_where_suspects_are_few_and_no_number_is_known_the_rows_doubted_next_are_worth_a_look(audit: Audit) -> None:
    start = "Start with the 2 suspects: each has a suggested label and a reason."
    unknown = with_suspects(audit, unknown="little explained", calibrated=False)
    further = "Go on with the 3 rows doubted most below, the first of the “Rows to read”"
    assert verdict(unknown).lines[-1] == f"{start} {further}: that suspects are few does not say that errors are."
    for other in (with_suspects(audit, unknown="leaked", leaked_by=["size"], calibrated=False), with_suspects(audit)):
        assert verdict(other).lines[-1] == start


def test_an_audit_without_suspects_says_so_and_still_shows_the_experiment(audit: Audit) -> None:
    none = with_suspects(audit, flagged=())
    assert verdict(none).sentence.startswith("None of 8 labels looks wrong; ")
    assert verdict(none).lines[0] == (
        "Start with the 3 rows doubted most, the first of the “Rows to read”: none is a suspect, but where labels are wrong, these are the "
        "likeliest."
    )
    section = suspects_section(none)
    assert section.lead.startswith("No label of 8 reaches 0.50, from which on rows are listed.")
    assert [item.kind for item in section.blocks] == ["facts", "charts", "facts", "table"]


def test_the_effect_of_cleaning_is_among_the_first_lines(audit: Audit) -> None:
    assert verdict(with_suspects(with_versions(audit))).lines[0].startswith("Cleaning raised accuracy by ")


def test_a_model_that_has_not_learnt_is_the_first_thing_said(audit: Audit) -> None:
    learning = {"state": "not learnt", "sentence": "The model has not learnt these data: so and so. Raise train.epochs."}
    found = verdict(replace(audit, training={**audit.training, "learning": learning}))
    assert found.sentence.startswith("The model has not learnt these data: so and so. Raise train.epochs. Over its training the model")
    learnt = {**audit.training, "learning": {"state": "learnt", "sentence": ""}}
    assert verdict(replace(audit, training=learnt)).sentence == verdict(audit).sentence
    # Suspects by models that did not see the row hold all the same.
    by_heart = {**audit.training, "learning": {"state": "by heart", "sentence": "The model knows its rows by heart."}}
    assert verdict(replace(audit, training=by_heart)).sentence.startswith("The model knows its rows by heart. Over its training")
    nothing = with_suspects(replace(audit, training=by_heart), flagged=(), calibrated=False, wrong=None, unknown="little explained")
    random = "Start with rows drawn at random (`python -m tasks review --blind`): nothing says which labels are wrong."
    assert random in verdict(nothing).lines and not any("hard-to-learn rows" in line for line in verdict(nothing).lines)
    found = verdict(with_suspects(replace(audit, training=by_heart))).sentence
    assert found.startswith("2 of 8 labels look wrong") and found.endswith(". The model knows its rows by heart.")


def test_a_problem_with_the_training_is_not_said_twice(audit: Audit) -> None:
    gate = {"gate": "training_problems", "outcome": "warned", "sentence": "1 problem"}
    assert verdict(replace(audit, gates=[gate])).lines == verdict(audit).lines


def test_what_could_not_be_done_and_classes_of_several_names_are_the_first_lines(audit: Audit) -> None:
    forms = check_of(ONE_FORM, passed=False, severity="warning", found="`True` 5 rows, `true` 9")
    sets = [set_entry("train", "train", [forms])]
    found = verdict(replace(audit, impossible=("Too few rows.",), validation={"passed": True, "sets": sets, "quarantine": {}}))
    assert found.lines[:2] == ("Too few rows.", "Some classes may be the same under different names: `True` 5 rows, `true` 9.")


def test_of_a_model_that_learnt_nothing_the_hardest_rows_are_no_place_to_start(audit: Audit) -> None:
    failed = {**audit.training, "learning": {"state": "failed", "sentence": "The model has not learnt these data."}}
    assert verdict(replace(audit, training=failed)).lines == ()
    assert verdict(with_suspects(replace(audit, training=failed))).lines == (
        "Start with the 2 suspects: each has a suggested label and a reason.",
    )


def test_a_class_that_is_suspect_row_for_row_is_named_and_its_rows_are_not_sure_enough(audit: Audit) -> None:
    rare = [row for row in range(8) if audit.gold[row] == 1]
    name = audit.info.labels[1]
    lines = verdict(with_suspects(audit, flagged=tuple(rare))).lines
    assert lines[0] == (
        f"The suspects include {len(rare)} of the {len(rare)} rows of `{name}`: the models do not know this class from the others, "
        "whether the labels are right or not; cleaning leaves these rows to people."
    )
    assert not any("do not know" in line for line in verdict(with_suspects(audit, flagged=(rare[0],))).lines)
    # Of another name of a class it is said that it may be one, not that the models do not know it.
    other = examples_schema(replace(audit.info, labels=(audit.info.labels[0], f"{audit.info.labels[0]} "))).metadata
    twice = replace(audit, examples=audit.examples.replace_schema_metadata(other))
    assert not any("do not know" in line for line in verdict(with_suspects(twice, flagged=tuple(rare))).lines)
    wrong = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 6.0}
    sentence = verdict(with_suspects(audit, flagged=tuple(rare), calibrated=True, wrong=wrong)).sentence
    assert "none of them sure enough to drop" in sentence
    place = audit.examples.schema.get_field_index("label")
    single = replace(
        audit, examples=audit.examples.set_column(place, audit.examples.schema.field("label"), pa.array([1, *([0] * 7)], pa.int32()))
    )
    assert "The suspects include the only row of `" in verdict(with_suspects(single, flagged=(0,))).lines[0]


def test_where_no_row_is_a_suspect_nothing_is_said_to_be_sure_enough(audit: Audit) -> None:
    wrong = {"expected": 1.0, "low": 0.0, "high": 5.0, "most": 6.0}
    sentence = verdict(with_suspects(audit, flagged=(), calibrated=True, wrong=wrong)).sentence
    assert "; no row is a suspect; " in sentence and "sure enough" not in sentence


def test_where_people_decided_about_all_suspects_the_page_goes_on_below_them(audit: Audit) -> None:
    found = with_suspects(audit, flagged=(3, 1), threshold=0.6)
    decided = pa.table([pa.array(["u1", "u3", "u5"]), pa.array([True, False, False])], schema=DECIDED)
    cleaning = with_cleaning(audit).cleaning
    assert cleaning is not None
    read = replace(found, cleaning=replace(cleaning, decided=decided))
    below = verdict(read)
    assert "All suspects are decided. Go on with the " in " ".join(below.lines) and below.figures[2].note.startswith("all 2 are decided; ")
    number = {"expected": 2.0, "low": 1.0, "high": 5.0, "most": 6.0}
    numbered = with_suspects(audit, flagged=(3, 1), threshold=0.6, calibrated=True, wrong=number)
    assert "; no further row is a suspect; " in verdict(replace(numbered, cleaning=replace(cleaning, decided=decided))).sentence
    # Of six others one was decided, and those of 0.6 or more have a class of two names.
    assert read.doubted_most.tolist() == [4, 6, 7]
    assert verdict(with_suspects(audit, flagged=(), threshold=0.003)).figures[2].note.startswith("none at 0.003 or more")


def test_where_nothing_can_be_told_no_figure_says_that_no_label_looks_wrong(audit: Audit) -> None:
    assert verdict(with_suspects(audit, flagged=())).figures[2].note == "none at 0.5 or more; by models that never saw the row"
    assert verdict(with_suspects(audit, flagged=(), unknown="few rows")).figures[2].note.startswith("none stands out from hard rows")


def test_what_is_not_counted_is_said_of_an_interval_without_a_number_too(audit: Audit) -> None:
    alone = {"calibrated": False, "wrong": None, "unknown": "few rows"}
    lines = verdict(with_suspects(audit, **alone, between={"low": 0.0, "high": 10.0, "most": 57.0})).lines
    rule = (
        f"{BEYOND} that follow a rule, as in labels that a program, a word list or another model gave, which models learn like right ones."
    )
    assert rule in lines
    apart = {"low": 0.0, "high": 40.0, "scattered": 10.0, "most": 57.0}
    roughly, known = {**alone, "between": apart}, {"calibrated": True, "wrong": {"expected": 20.0, **apart, "low": 5.0}}
    for record, interval in ((roughly, "0 to 40 of all are wrong (95\u00a0% CI; to 10"), (known, "wrong (95\u00a0% CI 5 to 40; to 10")):
        found = verdict(with_suspects(audit, **record))
        assert rule in found.lines
        assert f"{interval} unless errors gather on hard rows)" in found.sentence
    for none in (None, {"low": 0.0, "high": 10.0, "most": 11.0}):
        assert not any(line.startswith(BEYOND) for line in verdict(with_suspects(audit, **alone, between=none)).lines)


def test_of_a_table_it_is_said_that_outcomes_are_no_judgements(audit: Audit) -> None:
    wrong = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 5.0}
    found = with_suspects(audit, calibrated=True, wrong=wrong)
    line = (
        "If these labels are outcomes, such as a decision or a result, or follow from something that no column records, exceptions look "
        "like wrong labels."
    )
    assert line not in verdict(found).lines
    of_texts = "If these labels are facts that the texts do not decide, such as where a thing was filed or what was done, exceptions look "
    assert f"{of_texts}like wrong labels." in verdict(found).lines
    for unsure in (with_suspects(audit, calibrated=True, wrong=wrong | {"low": 0.2}), with_suspects(audit, calibrated=False, wrong=None)):
        assert not any(said.startswith(of_texts) for said in verdict(unsure).lines)
    info = replace(found.info, task="table", features=(Feature("size", "number"),))
    metadata = examples_schema(info).metadata
    assert line in verdict(replace(found, examples=found.examples.replace_schema_metadata(metadata))).lines
    untold = with_suspects(audit, calibrated=False, wrong=None, unknown="little explained")
    assert line in verdict(replace(untold, examples=untold.examples.replace_schema_metadata(metadata))).lines
    texts_too = replace(info, features=(*info.features, Feature("note", "text")))
    what = "facts that neither columns nor texts decide, such as where a thing was filed"
    (said,) = outcomes(replace(found, examples=found.examples.replace_schema_metadata(examples_schema(texts_too).metadata)))
    assert said == line.replace("follow from something that no column records", what)
    # Where no number is known, too, of texts if the interval says that labels are wrong.
    between = {"low": 2.0, "high": 5.0, "most": 6.0}
    alone = with_suspects(audit, calibrated=False, wrong=None, unknown="roughly known", between=between)
    assert f"{of_texts}like wrong labels." in verdict(alone).lines
    table = replace(alone, examples=found.examples.replace_schema_metadata(examples_schema(info).metadata))
    assert line in verdict(table).lines


def test_that_nearly_all_suspects_are_of_one_class_is_said_with_its_share(audit: Audit) -> None:
    rows = 100
    labels = np.repeat([0, 1], [70, 30]).astype(np.int32)
    uids = [f"{row:03}" for row in range(rows)]
    examples = pa.table([uids, ["a text"] * rows, labels, ["f.csv"] * rows, np.arange(1, rows + 1)], schema=examples_schema(audit.info))
    measures = pa.table(
        {name: uids if name == "uid" else [audit.measures[name][0].as_py()] * rows for name in audit.measures.column_names},
        schema=audit.measures.schema,
    )
    large = replace(audit, examples=examples, measures=measures)
    name = audit.info.labels[1]
    said = f"All 12 suspects have the label `{name}`, 40 % of its rows: either many labels of this class are wrong, or the models do not"
    lines = verdict(with_suspects(large, flagged=tuple(range(70, 82)))).lines
    assert any(line.replace("\u00a0", " ").startswith(said) for line in lines)
    for fewer in (range(70, 79), (*range(8), *range(70, 82)), range(12)):
        assert not any("have the label" in line for line in verdict(with_suspects(large, flagged=tuple(fewer))).lines)


def test_a_class_that_cleaning_left_to_people_is_named(audit: Audit) -> None:
    found = with_cleaning(audit)
    assert found.cleaning is not None
    left = replace(found, cleaning=replace(found.cleaning, version={**found.cleaning.version, "too_many": ["snow", "hail"]}))
    begins = "Too many rows of `snow` and `hail` look surely wrong to change them without a person: "
    line = f"{begins}people decide about them on the review sheet."
    assert line in verdict(left).lines and line not in verdict(found).lines


MADE = {
    "words": ("make audit", {"train": {"model": "bow"}, "embed": {"pretrained": None}}, "(`embed.pretrained` in params.yaml)."),
    "library": ("cartograph audit rows.csv", {"train": {"model": "bow"}}, "(in Python `vectors=` of `cartograph.audit`)."),
    "encoder": ("make audit", {"train": {"model": "bow"}, "embed": {"pretrained": "folder"}}, None),
    "fine-tuned": ("make audit", {"train": {"model": "transformer", "pretrained": "folder"}, "embed": {"pretrained": None}}, None),
    "own vectors": ("cartograph.audit(frame, text='text', vectors=vectors)", {}, None),
}


@pytest.mark.parametrize(("command", "parameters", "end"), MADE.values(), ids=MADE)
def test_where_words_say_little_an_encoder_is_named_that_had_no_say(
    audit: Audit, command: str, parameters: dict[str, dict[str, str | None]], end: str | None
) -> None:
    made = replace(audit, how_made=replace(audit.how_made, command=command, parameters=parameters))
    for unknown in ("little explained", "roughly known"):
        little = with_suspects(made, calibrated=False, wrong=None, unknown=unknown)
        lines = [line for line in verdict(little).lines if line.startswith("No encoder read the texts")]
        assert [line.endswith(str(end)) for line in lines] == [True] * (end is not None)
    known = with_suspects(made, calibrated=True, wrong={"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0})
    assert not any(line.startswith("Words alone") for line in verdict(known).lines)


def test_decisions_that_are_passed_over_and_errors_by_a_rule_are_said_once_people_have_looked(audit: Audit) -> None:
    counted = with_suspects(audit, calibrated=True, wrong={"expected": 3.0, "low": 1.0, "high": 5.0, "scattered": 4.0, "most": 9.0})
    cleaning = with_cleaning(audit).cleaning
    assert cleaning is not None
    sentence = "1 of 2 decisions is passed over, since the rows are no longer in the train set."
    version = {**cleaning.version, "passed_over": [sentence]}
    seen = replace(counted, cleaning=replace(cleaning, version=version, decided=pa.table([["u0"], [False]], schema=DECIDED)))
    assert seen.reviewed is not None and sentence in verdict(seen).lines
    assert any(line.startswith(f"{BEYOND} that follow a rule") for line in verdict(seen).lines)


def test_errors_that_near_copies_share_are_said_not_to_be_counted(audit: Audit) -> None:
    wrong = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0, "pairs": []}
    [entry, *others] = audit.validation["sets"]
    copied = {**audit.validation, "sets": [{**entry, "near_copies": {"texts": 620, "of": 808}}, *others]}
    for known, said in ((replace(audit, validation=copied), True), (audit, False)):
        [line] = [line for line in verdict(with_suspects(known, calibrated=True, wrong=wrong)).lines if line.startswith(BEYOND)]
        assert line.endswith(
            "; nor errors that copies share, since each vouches for the others' (620 of 808 different texts are near copies of another)."
            if said
            else "which models learn like right ones."
        )


def test_of_a_file_the_last_figure_counts_classes_or_labels(audit: Audit) -> None:
    unchecked = replace(audit, validation={})
    of_classes, of_labels = (verdict(one).figures[-1] for one in (unchecked, with_several_labels(unchecked)))
    assert (of_classes.label, of_classes.value, of_classes.note) == ("Classes", "2", "the largest has 50\u00a0% of the rows")
    assert (of_labels.label, of_labels.value, of_labels.note) == ("Labels", "3", "the most frequent is on 75\u00a0% of the rows")
