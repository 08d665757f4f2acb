from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tasks.collection.pairs import Pairs, read_pairs
from tasks.commands.init_pairs import PRESETS

LINKS = {"source": "files", "train": ["links.csv"], "left_table": {"path": "a.csv"}, "right_table": {"path": "b.csv"}}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"train": ["mine.csv"]}, "files are given, but source `planted-paraphrases` does not read them; set `source: files`"),
        ({"symmetric": False}, "source `planted-paraphrases` is one set of questions; leave `symmetric` true, or set `source: files`"),
        ({"source": "files"}, "source `files` needs `train`: at least one file of stated pairs"),
        ({"source": "files", "train": ["a.csv"], "dev": ["b.csv"]}, "`dev` and `test` go together"),
        ({**LINKS, "symmetric": True}, "`right_table` makes the two sides two sets; set `symmetric: false`"),
        ({"source": "files", "train": ["a.csv"], "left_id": "id"}, "`left_id` and `right_id` go together where both sides are one set"),
    ],
)
def test_parameters_of_pairs_that_do_not_go_together_are_refused(given: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ValueError, match=re.escape(wanted)):
        Pairs.model_validate(given)


def test_records_of_an_entity_table_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    files = {"links": "left,right,label\n1,1,1\n2,2,1\n", "a": "id,name\n1,tv\n2,pen\n3,cup,too,many\n", "b": "id,name\n1,telly\n2,biro\n"}
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    paths = {name: str(tmp_path / f"{name}.csv") for name in files}
    given = {"source": "files", "symmetric": False, "train": [paths["links"]]}
    params = Pairs.model_validate({**given, "left_table": {"path": paths["a"]}, "right_table": {"path": paths["b"]}})
    built, read = read_pairs(params, {f"file:{path}": Path(path) for path in paths.values()})
    assert (len(built.quarantine), read, len(built.task.left)) == (1, 7, 2)


@pytest.mark.realdata
def test_wikiqa_has_the_sizes_of_the_paper(real_data: Path) -> None:
    files = {split: [str(real_data / f"wikiqa/WikiQA-{split}.tsv")] for split in ("train", "dev", "test")}
    params = Pairs.model_validate({"source": "files", **files, **PRESETS["wikiqa"]})
    inputs = {f"file:{path}": Path(path) for paths in files.values() for path in paths}
    built, read = read_pairs(params, inputs)
    # The paper's Table 1 has 1,040 positives of 56 M train pairs, 140 of 7.8 M, and 293 of 17 M; 13 records of the train file are broken.
    assert [len(built.task.positives(split)) for split in ("train", "dev", "test")] == [1039, 140, 293]
    assert [round(built.task.space(split).size / 1e6) for split in ("train", "dev", "test")] == [58, 8, 17]
    assert len(built.quarantine) == 13
    assert read == 20_360 + 2_733 + 6_165
