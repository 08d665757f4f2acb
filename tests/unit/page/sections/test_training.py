from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.blocks import Facts, Table
from cartograph.page.sections.training import training_section
from cartograph.schema import (
    HISTORY,
    examples_schema,
)
from tests.page_audits import block_of, set_entry


def test_accuracy_has_an_interval_on_sets_of_known_size(audit: Audit) -> None:
    sets = [set_entry("train", "train", []), set_entry("dev", "id", [])]
    table = block_of(training_section(replace(audit, validation={"sets": sets, "quarantine": {}})), Table)
    assert table.cells == [("train", "train", 8, 0.75, None), ("dev", "in distribution", 8, 0.625, "0.31 to 0.86")]
    assert [column.title for column in table.columns][-1] == "95 % interval", "no macro F1 is known"


def test_scores_are_named_after_the_epoch_whose_model_is_kept(audit: Audit) -> None:
    assert block_of(training_section(audit), Table).caption == "After the last epoch"
    stopped = replace(audit, training={**audit.training, "best_epoch": 4})
    assert block_of(training_section(stopped), Table).caption == "After epoch 4, the best"


def test_a_train_set_alone_has_no_columns_that_are_of_other_sets(audit: Audit) -> None:
    section = training_section(replace(audit, validation={"sets": [set_entry("train", "train", [])], "quarantine": {}}))
    assert [column.title for column in block_of(section, Table).columns] == ["Set", "Domain", "Rows", "Accuracy"]


def test_an_imported_map_says_why_there_is_no_curve(audit: Audit) -> None:
    section = training_section(replace(audit, training={"source": "imported"}, history=HISTORY.empty_table()))
    assert not section.blocks
    assert section.why.startswith("The map was imported from a training run elsewhere")


def test_the_epochs_that_were_tried_are_listed(audit: Audit) -> None:
    attempts = [{"epochs": epochs, "accuracy": share, "surest_third": share} for epochs, share in ((8, 0.25), (16, 0.7))]
    training = {**audit.training, "learning": {"attempts": attempts, "simple_accuracy": 0.65, "sentence": ""}}
    facts = dict(block_of(training_section(replace(audit, training=training)), Facts).facts)
    assert facts["Epochs tried"].startswith("8 (accuracy 0.25), 16 (accuracy 0.70): restarted each time")
    assert facts["Simple models, on rows they were not trained on"] == "accuracy 0.65"
    assert "Epochs tried" not in dict(block_of(training_section(audit), Facts).facts)


def test_of_boosted_trees_it_is_said_when_probabilities_are_read(audit: Audit) -> None:
    facts = block_of(training_section(replace(audit, training=audit.training | {"record": "stages"})), Facts)
    assert dict(facts.facts)["Probabilities read"] == "after the trees that each epoch adds"


def test_it_is_said_where_characters_are_read_too(audit: Audit) -> None:
    training = audit.training | {"model": "bow"}
    schema = examples_schema(replace(audit.info, characters=True))
    read = replace(audit, examples=audit.examples.replace_schema_metadata(schema.metadata))
    assert dict(block_of(training_section(replace(read, training=training)), Facts).facts)["Reads"].startswith("words, and runs of 2 to 4")
    assert "Reads" not in dict(block_of(training_section(replace(audit, training=training)), Facts).facts)
    assert "Reads" not in dict(block_of(training_section(replace(read, training=training | {"model": "lstm"})), Facts).facts)
