"""Whether characters are read, kept with the train set."""

from __future__ import annotations

from dataclasses import replace

from cartograph.ingest.characters import with_characters
from cartograph.schema import dataset_info
from tests.training_sets import names_set, small_images, small_set, small_table


def test_a_train_set_of_names_says_that_its_characters_are_read() -> None:
    names = names_set(characters=False)
    found = with_characters(names)
    assert dataset_info(found.schema) == replace(dataset_info(names.schema), characters=True)
    assert found.equals(names) and with_characters(found).schema.equals(found.schema, check_metadata=True)
    # What is made of it says so too, however few rows it has.
    assert dataset_info(found.slice(0, 3).schema).characters


def test_a_set_whose_rows_share_words_is_as_it_was() -> None:
    for table in (small_set(), small_set("pair"), small_set("choice"), small_table(), small_images()):
        assert with_characters(table) is table
