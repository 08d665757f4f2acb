from __future__ import annotations

import re
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.commands.init_pairs import init_pairs


def test_a_workspace_is_made_of_files_that_can_be_collected_from(project: Path, tmp_path: Path) -> None:
    folder = project / "workspaces" / "pairs"
    one, latin = tmp_path / "one.csv", tmp_path / "latin.csv"
    one.write_text("left,right,label\na,b,1\n", encoding="utf-8")
    latin.write_text("left,right,label\n" + "".join(f"é{n},ö{n},1\né{n},ü{n},0\n" for n in range(20)), encoding="latin-1")
    for train, wanted in (
        (str(one), "the train split has no positive pair among its 0; too many stated pairs are connected for splits to be drawn"),
        ("https://name:secret@host/p.csv?key=1", "https://host/p.csv is a URL; a collection reads files on disk: fetch it first"),
        (str(latin), "latin.csv is not utf-8 text: line 2 has 0xe9"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(wanted)}"):
            init_pairs("workspaces/pairs", train=[train])
        assert not folder.exists()
    init_pairs("workspaces/pairs", train=[str(latin)], encoding="latin-1")
    assert "  encoding: latin-1 " in (folder / "params.yaml").read_text(encoding="utf-8")
