from __future__ import annotations

import zipfile
from pathlib import Path

from tasks.commands.given_files import by_position, entries_of, names_in


def test_a_comma_that_belongs_to_a_name_has_a_backslash_before_it() -> None:
    assert by_position(r"id,,weight\, kg, text") == ["id", "", "weight, kg", "text"]
    assert by_position(" ") == []
    assert names_in(r"weight\, kg") == "weight, kg"
    assert names_in(r"a,,weight\, kg") == ["a", "weight, kg"]


def test_a_part_of_an_archive_or_a_folder_is_named_after_a_colon(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "films.zip", "w") as archive:
        archive.writestr("films/train/good/1.txt", "A fine film.")
    (tmp_path / "films").mkdir()
    for name in ("films.zip", "films"):
        assert entries_of([f"{tmp_path / name}:train"], "", "") == [{"path": str(tmp_path / name), "split": "train"}]
