from __future__ import annotations

from pathlib import Path

import pytest

from cartograph.adversarial_filter import checks


def test_pages_of_files_do_not_count_as_memory_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 100\nfile 800\nshmem 50\ninactive_file 500\nactive_file 250\n")
    assert checks.available_bytes() == 850
    (tmp_path / "memory.max").write_text("max\n")
    assert checks.available_bytes() > 10**6
