from __future__ import annotations

import gzip
from pathlib import Path

from tasks.commands.presets import converted


def test_a_file_to_convert_is_known_when_compressed_or_marked(tmp_path: Path) -> None:
    schema = b'{"text": "Ann won.", "target": {"span1_text": "Ann"}, "label": true}\n'
    for name, content in (("a.jsonl.gz", gzip.compress(schema)), ("b.jsonl", b"\xef\xbb\xbf" + schema)):
        (tmp_path / name).write_bytes(content)
        assert converted("winogrande", name, tmp_path / name) == {"path": name, "format": "wsc"}
    squad = b'{"data": [{"title": "t", "paragraphs": []}]}'
    for name, content in (("c.json.gz", gzip.compress(squad)), ("d.json", b"\xef\xbb\xbf" + squad)):
        (tmp_path / name).write_bytes(content)
        assert converted("qnli", name, tmp_path / name) == {"path": name, "format": "squad"}
    (tmp_path / "cut.gz").write_bytes(gzip.compress(squad)[:-12])
    assert converted("qnli", "cut.gz", tmp_path / "cut.gz") == "cut.gz"
