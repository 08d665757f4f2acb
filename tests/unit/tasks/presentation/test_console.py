"""What reaches the terminal: text that it shows, and never text that it obeys."""

from __future__ import annotations

from threading import Event

import pytest

from cartograph.errors import InputError
from tasks.presentation import console

EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x00\u202eevil\u2066"


def test_control_characters_of_labels_never_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    console.say(EVIL)
    console.step_line("ingest", EVIL, None)
    console.complain(EVIL)
    console.conclude(InputError(EVIL))
    shown = capsys.readouterr()
    for line in (shown.out, shown.err):
        assert not {letter for letter in line if not letter.isprintable() and letter != "\n"}
        assert r"\x1b]0;title\x07\x1b[2J\x9b31m\r\x00\u202eevil\u2066" in line


def test_what_belongs_to_writing_stays() -> None:
    text = "5\u00a0% [bold] Übung 日本語 می‌خواهم 👩\u200d🔬\nnext"
    assert console.visible(text) == text


def test_off_a_terminal_a_long_step_says_from_time_to_time_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    spoken = Event()

    def say(line: str) -> None:
        lines.append(line)
        spoken.set()

    monkeypatch.setattr(console, "say", say)
    with console.signs_of_life("retrain@original-1", every=0.01), console.progress("retrain") as update:
        update(300, 1200)
        lines.clear()
        spoken.clear()
        assert spoken.wait(60)
    assert lines[0].startswith("retrain@original-1 running for 0 s: 300 of 1,200 examples")


def test_on_a_terminal_the_bar_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(console, "console", console.Console(force_terminal=True))
    monkeypatch.setattr(console, "Thread", lambda **options: started.append(options["name"]))
    with console.signs_of_life("train", every=0.01):
        pass
    assert started == []
